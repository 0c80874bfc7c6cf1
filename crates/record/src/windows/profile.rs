//! The recording profile (`.wprp`) that wpr is given: the profiles that are started, each for a file and for memory.
//!
//! Elements stand in the order that WPR asks for: collectors, system providers, hardware counters, event providers, profiles.

use crate::options::{Options, Scope};
use crate::profiles::{self, PROFILES, Profile, Provider, Windows};
use crate::stacks::StackClass;
use crate::windows::command::started;
use crate::windows::xml::Document;

const SYSTEM_COLLECTOR: &str = "SystemCollector";
const EVENT_COLLECTOR: &str = "EventCollector";
/// Rundowns of .NET have buffers of their own: there may be more of them than of all other events.
const RUNDOWN_COLLECTOR: &str = "RundownCollector";

/// KiB of a buffer.
const BUFFER_KIB: u64 = 1024;
/// Buffers of a session that writes into a file.
const FILE_BUFFERS: u64 = 256;
const RUNDOWN_BUFFERS: u64 = 100;

/// What wpr needs for reading the recording on another machine: images with their identities, drives, layouts of events.
const MERGED: &[&str] =
    &["ImageId", "BuildInfo", "VolumeMapping", "EventMetadata", "PerfTrackMetadata", "WinSAT", "NetworkInterface"];

/// The recording profile as XML. `process` is the name of the program that providers are bound to, where only one is recorded.
#[must_use]
pub fn recording_profile(options: &Options, process: Option<&str>) -> String {
    let mut document = Document::new();
    document.element("WindowsPerformanceRecorder", &[("Version", "1.0"), ("Author", "tracesift")], |document| {
        document.element("Profiles", &[], |document| {
            let all: Vec<Chosen<'_>> =
                started(&options.profiles).into_iter().map(|profile| Chosen::new(profile, options)).collect();
            let used: Vec<&Provider> =
                all.iter().flat_map(|chosen| &chosen.parts).flat_map(|part| part.providers).collect();
            collectors(document, &used, options);
            all.iter().for_each(|chosen| chosen.system_provider(document));
            all.iter().for_each(|chosen| chosen.hardware_counter(document));
            for (id, provider) in event_providers().into_iter().filter(|(_, provider)| used.contains(provider)) {
                event_provider(document, &id, provider, options, process);
            }
            for chosen in &all {
                chosen.profile(document, LoggingMode::File);
                chosen.profile(document, LoggingMode::Memory);
            }
        });
    });
    document.finish()
}

/// The collectors that something is collected by.
fn collectors(document: &mut Document, used: &[&Provider], options: &Options) {
    // Less than two buffers per CPU is less than ETW takes; it raises the number by itself.
    let buffers = options.buffer.map_or(FILE_BUFFERS, |bytes| bytes.div_ceil(BUFFER_KIB << 10).max(4));
    document.element("SystemCollector", &[("Id", SYSTEM_COLLECTOR), ("Name", "NT Kernel Logger")], |document| {
        sizes(document, buffers);
    });
    for (id, name, buffers, rundown) in [
        (EVENT_COLLECTOR, "tracesift events", buffers, false),
        (RUNDOWN_COLLECTOR, "tracesift rundown", RUNDOWN_BUFFERS, true),
    ] {
        if used.iter().any(|provider| provider.rundown_only == rundown) {
            document.element("EventCollector", &[("Id", id), ("Name", name)], |document| sizes(document, buffers));
        }
    }
}

fn sizes(document: &mut Document, buffers: u64) {
    document.value("BufferSize", &BUFFER_KIB.to_string());
    document.value("Buffers", &buffers.to_string());
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LoggingMode {
    File,
    Memory,
}

/// A profile with all that comes with it.
struct Chosen<'a> {
    profile: &'static Profile,
    parts: Vec<&'static Windows>,
    options: &'a Options,
}

impl<'a> Chosen<'a> {
    fn new(profile: &'static Profile, options: &'a Options) -> Self {
        let parts = profiles::complete(&[profile]).into_iter().map(|profile| &profile.windows).collect();
        Self { profile, parts, options }
    }

    fn id(&self, what: &str) -> String {
        format!("{what}_{}", self.profile.name)
    }

    fn has_stacks(&self, class: StackClass) -> bool {
        self.options.stacks.contains(class)
    }

    fn system_provider(&self, document: &mut Document) {
        document.element("SystemProvider", &[("Id", &self.id("SystemProvider"))], |document| {
            document.element("Keywords", &[], |document| {
                let keywords = once(self.parts.iter().flat_map(|part| part.keywords).copied());
                keywords.iter().for_each(|keyword| document.value("Keyword", keyword));
            });
            let stacks = self.parts.iter().flat_map(|part| part.stacks);
            let stacks = once(stacks.filter(|(_, class)| self.has_stacks(*class)).map(|(name, _)| *name));
            if !stacks.is_empty() {
                document.element("Stacks", &[], |document| {
                    stacks.iter().for_each(|stack| document.value("Stack", stack));
                });
            }
        });
    }

    fn counted(&self) -> Vec<&str> {
        let usual: Vec<&str> = self.profile.windows.counted.to_vec();
        let chosen = self.options.counters.iter().map(String::as_str);
        if usual.is_empty() || self.options.counters.is_empty() { usual } else { chosen.collect() }
    }

    fn sampled(&self) -> Vec<(&str, u32)> {
        const USUAL_INTERVAL: u32 = 65_536;
        let usual = self.profile.windows.sampled.to_vec();
        let chosen = self.options.counters.iter().map(|name| (name.as_str(), USUAL_INTERVAL));
        if usual.is_empty() || self.options.counters.is_empty() { usual } else { chosen.collect() }
    }

    fn has_counters(&self) -> bool {
        let windows = &self.profile.windows;
        !windows.counted.is_empty() || !windows.sampled.is_empty() || windows.branches
    }

    /// Not strict: a machine without these counters records the rest.
    fn hardware_counter(&self, document: &mut Document) {
        if !self.has_counters() {
            return;
        }
        let attributes = [("Id", self.id("HardwareCounter")), ("Strict", "false".to_owned())];
        document.element("HardwareCounter", &borrowed(&attributes), |document| {
            let counted = self.counted();
            if !counted.is_empty() {
                document.element("Counters", &[], |document| {
                    counted.iter().for_each(|counter| document.value("Counter", counter));
                });
                document.element("Events", &[], |document| document.value("Event", "CSwitch"));
            }
            let sampled = self.sampled();
            if !sampled.is_empty() {
                document.element("SampledCounters", &[], |document| {
                    for (name, interval) in sampled {
                        let interval = interval.to_string();
                        document.element("SampledCounter", &[("Value", name), ("Interval", &interval)], |_| {});
                    }
                });
            }
            if self.profile.windows.branches {
                document.element("LastBranch", &[], |document| {
                    document.element("Events", &[], |document| {
                        document.value("Event", "SampledProfile");
                        document.value("Event", "CSwitch");
                    });
                });
            }
        });
    }

    fn profile(&self, document: &mut Document, mode: LoggingMode) {
        let mode_name = if mode == LoggingMode::File { "File" } else { "Memory" };
        let id = format!("{}.Verbose.{mode_name}", self.profile.name);
        let attributes = [
            ("Id", id.as_str()),
            ("Name", self.profile.name),
            ("Description", self.profile.about),
            ("LoggingMode", mode_name),
            ("DetailLevel", "Verbose"),
        ];
        document.element("Profile", &attributes, |document| {
            document.element("Collectors", &[("Operation", "Add")], |document| self.collectors(document, mode));
            document.element("TraceMergeProperties", &[], |document| {
                let name = "TraceMerge";
                document.element("TraceMergeProperty", &[("Id", name), ("Name", name)], |document| {
                    document.value("DeletePreMergedTraceFiles", "true");
                    document.element("CustomEvents", &[], |document| {
                        MERGED.iter().for_each(|event| document.value("CustomEvent", event));
                    });
                });
            });
        });
    }

    fn collectors(&self, document: &mut Document, mode: LoggingMode) {
        // Three quarters of the memory for the kernel, one quarter for everybody else.
        let ring = self.options.ring.filter(|_| mode == LoggingMode::Memory);
        let share = |quarters: u64| ring.map(|bytes| (bytes / 4 * quarters / (BUFFER_KIB << 10)).max(1));
        let buffers = |document: &mut Document, quarters: u64, percent: &str| match (mode, share(quarters)) {
            (LoggingMode::File, _) => {}
            (LoggingMode::Memory, Some(buffers)) => sizes(document, buffers),
            (LoggingMode::Memory, None) => {
                document.value("BufferSize", &BUFFER_KIB.to_string());
                let attributes =
                    [("Value", percent), ("PercentageOfTotalMemory", "true"), ("MaximumBufferSpace", "4000")];
                document.element("Buffers", &attributes, |_| {});
            }
        };
        document.element("SystemCollectorId", &[("Value", SYSTEM_COLLECTOR)], |document| {
            buffers(document, 3, "15");
            document.value("SystemProviderId", &self.id("SystemProvider"));
            if self.has_counters() {
                document.value("HardwareCounterId", &self.id("HardwareCounter"));
            }
        });
        for (collector, rundown) in [(EVENT_COLLECTOR, false), (RUNDOWN_COLLECTOR, true)] {
            let providers = self.parts.iter().flat_map(|part| part.providers);
            let mut chosen = providers.filter(|provider| provider.rundown_only == rundown).peekable();
            if chosen.peek().is_none() {
                continue;
            }
            document.element("EventCollectorId", &[("Value", collector)], |document| {
                if !rundown {
                    buffers(document, 1, "7");
                }
                document.element("EventProviders", &[], |document| {
                    for provider in chosen {
                        document.value("EventProviderId", &provider_id(provider));
                    }
                });
            });
        }
    }
}

/// The providers of all profiles, each once, under ids of their own: one may be there with several sets of keywords.
fn event_providers() -> Vec<(String, &'static Provider)> {
    let mut providers: Vec<(String, &Provider)> = Vec::new();
    for provider in PROFILES.iter().flat_map(|profile| profile.windows.providers) {
        if providers.iter().all(|(_, known)| *known != provider) {
            let number = 1 + providers.iter().filter(|(_, known)| known.name == provider.name).count();
            providers.push((format!("EventProvider_{}_{number}", provider.name), provider));
        }
    }
    providers
}

fn provider_id(provider: &Provider) -> String {
    let known = event_providers().into_iter().find(|(_, known)| *known == provider);
    known.map(|(id, _)| id).unwrap_or_default()
}

fn event_provider(document: &mut Document, id: &str, provider: &Provider, options: &Options, process: Option<&str>) {
    let has_stacks = provider.stacks.is_some_and(|class| options.stacks.contains(class));
    let mut attributes = vec![
        ("Id", id.to_owned()),
        ("Name", provider.guid.unwrap_or(provider.name).to_owned()),
        ("NonPagedMemory", "true".to_owned()),
        ("Level", provider.level.to_string()),
        ("Stack", has_stacks.to_string()),
    ];
    if provider.rundown_only {
        attributes.push(("CaptureStateOnly", "true".to_owned()));
    }
    if let Some(process) = process.filter(|_| !provider.rundown_only) {
        attributes.push(("ProcessExeFilter", process.to_owned()));
    }
    document.element("EventProvider", &borrowed(&attributes), |document| {
        if provider.keywords != 0 {
            keywords(document, "Keywords", provider.keywords);
        }
        if provider.rundown != 0 {
            keywords(document, "CaptureStateOnSave", provider.rundown);
        }
        filter(document, "EventFilters", false, provider.without_events);
        if has_stacks {
            filter(document, "StackFilters", true, provider.stack_events);
        }
    });
}

fn keywords(document: &mut Document, element: &'static str, mask: u64) {
    document.element(element, &[], |document| document.value("Keyword", &format!("{mask:#x}")));
}

fn filter(document: &mut Document, element: &'static str, takes_in: bool, events: &[u16]) {
    if !events.is_empty() {
        document.element(element, &[("FilterIn", &takes_in.to_string())], |document| {
            events.iter().for_each(|event| document.value("EventId", &event.to_string()));
        });
    }
}

fn borrowed<'b>(attributes: &'b [(&'b str, String)]) -> Vec<(&'b str, &'b str)> {
    attributes.iter().map(|(key, value)| (*key, value.as_str())).collect()
}

/// Each once, in the order in which they come.
fn once<'b>(names: impl Iterator<Item = &'b str>) -> Vec<&'b str> {
    let mut once = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    once
}

/// The program whose events alone are recorded, of providers that are not the kernel. A command without extension is an `.exe`.
#[must_use]
pub fn process_filter(options: &Options, command: Option<&str>) -> Option<String> {
    let command = command.filter(|_| options.scope == Scope::Command)?;
    Some(if command.contains('.') { command.to_owned() } else { format!("{command}.exe") })
}
