//! Chooses the events that perf records for the profiles, as far as the machine has them and the
//! rights allow them.

use std::fmt::Write as _;

use super::Planner;
use crate::error::Shortfall;
use crate::linux::capabilities::Tracefs;
use crate::linux::energy::Access;
use crate::profiles::{ALL_CALLS, LinuxEvent, PAGE_FAULTS, Profile, SWITCH};
use crate::stacks::{CallGraph, StackClass};

/// Tracepoints that a choice of profiles may record.
pub fn tracepoints<'a>(profiles: &'a [&'static Profile]) -> impl Iterator<Item = String> + 'a {
    let events = profiles.iter().flat_map(|profile| profile.linux.events).map(|event| event.name.to_owned());
    let calls = profiles.iter().flat_map(|profile| profile.linux.calls);
    let calls = calls.flat_map(|call| [format!("syscalls:sys_enter_{call}"), format!("syscalls:sys_exit_{call}")]);
    events.chain(calls).filter(|name| name.contains(':'))
}

/// An event as perf is told of it.
pub(super) struct Event {
    pub(super) text: String,
    without_perf: bool,
    filter: &'static str,
    /// Whether samples hold the address that was accessed.
    pub(super) has_address: bool,
}

impl Event {
    pub(super) fn into_arguments(self) -> Vec<String> {
        let mut arguments = vec!["-e".to_owned(), self.text];
        // Both are about the event in front of them, and those with a filter can be tracepoints only.
        if !self.filter.is_empty() {
            arguments.extend(["--filter".to_owned(), self.filter.to_owned()]);
        }
        arguments.extend(self.without_perf.then(|| "--exclude-perf".to_owned()));
        arguments
    }
}

impl Planner<'_> {
    /// All events, the one that is CPU time first.
    pub(super) fn events(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        events.extend(self.cpu_event());
        events.extend(self.sampled_counters());
        let tracepoints = self.tracepoints();
        let group = self.switch_group(&tracepoints);
        events.extend(tracepoints.iter().filter(|event| group.is_none() || event.name != SWITCH.name).map(|event| {
            let address = PAGE_FAULTS.contains(&event.name);
            let text = match address {
                true => self.with_terms(event.name, &["period=1".to_owned()], event.stacks),
                false => self.with_terms(event.name, &[], event.stacks),
            };
            Event { text, without_perf: event.without_perf, filter: event.filter, has_address: address }
        }));
        events.extend(group);
        events.extend(self.calls());
        self.say_what_has_no_counterpart(events.is_empty());
        events
    }

    /// The event with terms behind it, that of its call graph included. A global `-g` would give every event a stack, a global
    /// `-F` would record only some of the tracepoints.
    fn with_terms(&self, name: &str, terms: &[String], class: Option<StackClass>) -> String {
        let mut terms = terms.to_vec();
        if class.is_some_and(|class| self.options.stacks.contains(class)) {
            let is_hardware = class == Some(StackClass::Cpu) && self.machine.hardware_counters;
            terms.extend(match self.options.call_graph {
                CallGraph::FramePointers => vec!["call-graph=fp".to_owned()],
                CallGraph::Dwarf(bytes) => vec!["call-graph=dwarf".to_owned(), format!("stack-size={bytes}")],
                // The CPU records calls for its own events only.
                CallGraph::BranchRecords if is_hardware => vec!["call-graph=lbr".to_owned()],
                CallGraph::BranchRecords => vec!["call-graph=fp".to_owned()],
            });
        }
        if terms.is_empty() { name.to_owned() } else { format!("{name}/{}/", terms.join(",")) }
    }

    fn cpu_event(&mut self) -> Option<Event> {
        if !self.profiles.iter().any(|profile| profile.linux.samples) {
            return None;
        }
        let wanted = self.options.rate.per_second();
        let rate = self.machine.max_rate.map_or(wanted, |most| wanted.min(most));
        if rate < wanted {
            self.shortfalls.push(Shortfall::with_remedy(
                format!("the CPU is sampled {rate} times per second and not {wanted} times"),
                format!("sudo sysctl kernel.perf_event_max_sample_rate={wanted}"),
            ));
        }
        let name = if self.machine.hardware_counters { "cycles" } else { "cpu-clock" };
        let mut terms = vec![format!("freq={rate}")];
        if self.profiles.iter().any(|profile| profile.linux.branches) {
            match self.machine.branch_records && self.machine.hardware_counters {
                true => terms.push("branch_type=any".to_owned()),
                false => self.shortfalls.push(Shortfall::new(
                    "samples have no branches: the CPU records none, or shows them to no virtual machine",
                )),
            }
        }
        if self.options.call_graph == CallGraph::BranchRecords
            && !(self.machine.branch_records && self.machine.hardware_counters)
        {
            self.shortfalls.push(Shortfall::new(
                "stacks are found by frame pointers: the CPU records no calls, or shows them to no virtual machine",
            ));
        }
        Some(Event {
            text: self.with_terms(name, &terms, Some(StackClass::Cpu)),
            without_perf: false,
            filter: "",
            has_address: false,
        })
    }

    fn sampled_counters(&mut self) -> Vec<Event> {
        let sampled: Vec<(&str, u32)> =
            self.profiles.iter().flat_map(|profile| profile.linux.sampled).copied().collect();
        if sampled.is_empty() {
            return Vec::new();
        }
        if !self.machine.hardware_counters {
            self.no_counters();
            return Vec::new();
        }
        const USUAL_PERIOD: u32 = 100_003;
        let chosen = self.options.counters.iter().map(|name| (name.as_str(), USUAL_PERIOD));
        let sampled = if self.options.counters.is_empty() { sampled } else { chosen.collect() };
        let event = |(name, period): (&str, u32)| Event {
            text: self.with_terms(name, &[format!("period={period}")], Some(StackClass::Counter)),
            without_perf: false,
            filter: "",
            has_address: false,
        };
        sampled.into_iter().map(event).collect()
    }

    fn no_counters(&mut self) {
        let what = Shortfall::new(
            "hardware counters are not recorded: the CPU has none that perf knows, or shows them to no virtual machine",
        );
        if !self.shortfalls.contains(&what) {
            self.shortfalls.push(what);
        }
    }

    /// The tracepoints and software events of the profiles that are here, each once.
    fn tracepoints(&mut self) -> Vec<LinuxEvent> {
        let mut wanted: Vec<LinuxEvent> = Vec::new();
        for event in self.profiles.iter().flat_map(|profile| profile.linux.events) {
            if !wanted.iter().any(|known| known.name == event.name) {
                wanted.push(*event);
            }
        }
        let has_tracepoints = wanted.iter().any(|event| event.name.contains(':'));
        if has_tracepoints && !self.machine.may_record_tracepoints() {
            self.no_tracepoints(&wanted);
            wanted.retain(|event| !event.name.contains(':'));
        }
        let is_here = |event: &LinuxEvent| !event.name.contains(':') || self.machine.tracepoints.contains(event.name);
        let absent: Vec<&str> = wanted.iter().filter(|event| !is_here(event)).map(|event| event.name).collect();
        if !absent.is_empty() {
            let what = format!("this kernel has no {}", absent.join(", "));
            self.shortfalls.push(Shortfall::new(what));
        }
        wanted.retain(is_here);
        let is_new_enough = |event: &LinuxEvent| self.machine.kernel >= event.since;
        for event in wanted.iter().filter(|event| !is_new_enough(event)) {
            let (major, minor) = event.since;
            let what = format!("{} is not recorded: it lacks fields before Linux {major}.{minor}", event.name);
            self.shortfalls.push(Shortfall::new(what));
        }
        wanted.retain(is_new_enough);
        wanted
    }

    /// Terms behind the events of queries for names, where these can be recorded.
    pub(super) fn names(&mut self) -> Option<String> {
        let wants = self.profiles.iter().any(|profile| profile.linux.names);
        if !wants || !self.machine.may_record_tracepoints() {
            return None;
        }
        if !self.machine.uprobes {
            self.shortfalls.push(Shortfall::with_remedy(
                "queries for names are not recorded: probes cannot be set in programs",
                self.as_root("on a kernel with uprobes, on x86-64, 64-bit Arm or RISC-V"),
            ));
            return None;
        }
        Some(self.with_terms("", &[], Some(StackClass::Network)))
    }

    /// The process whose heap is asked for, with the terms behind its events, where these can be recorded.
    pub(super) fn heap(&mut self) -> Option<(u32, String)> {
        let pid = self.options.heap?;
        if !self.machine.uprobes || !self.machine.may_record_tracepoints() {
            self.shortfalls.push(Shortfall::with_remedy(
                "blocks of the heap are not recorded: probes cannot be set in programs",
                self.as_root("on a kernel with uprobes, on x86-64, 64-bit Arm or RISC-V"),
            ));
            return None;
        }
        Some((pid, self.with_terms("", &[], Some(StackClass::Memory))))
    }

    /// Says where counters of energy cannot be read.
    pub(super) fn energy(&mut self) {
        let wants = self.profiles.iter().any(|profile| profile.linux.energy);
        let shortfall = match self.machine.energy {
            Access::Readable => return,
            Access::Forbidden => Shortfall::with_remedy(
                "energy is not recorded: this user may not read the counters of the processor",
                "run as root, or: sudo chmod a+r /sys/class/powercap/*/energy_uj",
            ),
            Access::Missing => Shortfall::new(
                "energy is not recorded: this machine shows no counters of it (/sys/class/powercap/intel-rapl:*)",
            ),
        };
        self.shortfalls.extend(wants.then_some(shortfall));
    }

    /// Whether paths of files that are opened can be recorded.
    pub(super) fn paths(&mut self) -> bool {
        let wants = self.profiles.iter().any(|profile| profile.linux.paths);
        if !wants || !self.machine.may_record_tracepoints() || self.machine.kprobes {
            return wants && self.machine.may_record_tracepoints();
        }
        let what = if self.machine.uprobes {
            "paths of some files that are opened are not recorded: probes can be set in the C library only"
        } else {
            "paths of files that are opened are not recorded: no probes can be set"
        };
        self.shortfalls.push(Shortfall::with_remedy(what, self.as_root("on a kernel with kprobes")));
        self.machine.uprobes
    }

    /// Where something works that only root may do. Whoever is root already lacks the rest alone.
    fn as_root(&self, place: &str) -> String {
        if self.machine.root { format!("record {place}") } else { format!("run as root, {place}") }
    }

    /// Says which questions stay without an answer.
    fn no_tracepoints(&mut self, wanted: &[LinuxEvent]) {
        let wants = |system: &str| wanted.iter().any(|event| event.name.starts_with(system));
        let mut questions = String::new();
        let calls = self.profiles.iter().any(|profile| !profile.linux.calls.is_empty());
        for (system, question) in [
            // Switch records tell of waits, not of where they were nor of who ended them.
            ("sched:sched_switch", "ready times, stacks of waits"),
            ("block:", "disk"),
            ("raw_syscalls:", "system calls"),
            ("sock:", "network"),
            ("power:", "power"),
        ] {
            if wants(system) {
                let comma = if questions.is_empty() { "" } else { ", " };
                let _ = write!(questions, "{comma}{question}");
            }
        }
        if calls {
            let comma = if questions.is_empty() { "" } else { ", " };
            let _ = write!(questions, "{comma}files and other single system calls");
        }
        let (why, remedy) = match self.machine.tracefs {
            Tracefs::Missing => {
                ("tracefs is not mounted".to_owned(), "sudo mount -t tracefs tracefs /sys/kernel/tracing".to_owned())
            }
            Tracefs::Forbidden => (
                "/sys/kernel/tracing may not be read".to_owned(),
                "run as root, or: sudo mount -o remount,mode=755 /sys/kernel/tracing".to_owned(),
            ),
            Tracefs::Readable => (
                format!("kernel.perf_event_paranoid is {}", self.machine.paranoid),
                "run as root, or: sudo sysctl kernel.perf_event_paranoid=-1".to_owned(),
            ),
        };
        let left = match (self.profiles.iter().any(|profile| profile.linux.samples), wants(SWITCH.name)) {
            (true, true) => ". What is recorded: CPU samples, and switches for run and wait times",
            (true, false) => ". What is recorded: CPU samples",
            (false, _) => "",
        };
        self.shortfalls.push(Shortfall::with_remedy(
            format!("tracepoints are not recorded, nothing will be known of {questions}: {why}{left}"),
            remedy,
        ));
    }

    /// Switches with the counters that are read at each of them.
    fn switch_group(&mut self, tracepoints: &[LinuxEvent]) -> Option<Event> {
        let mut counters: Vec<&str> = Vec::new();
        for counter in self.profiles.iter().flat_map(|profile| profile.linux.counted) {
            if !counters.contains(counter) {
                counters.push(counter);
            }
        }
        if counters.is_empty() || !tracepoints.iter().any(|event| event.name == SWITCH.name) {
            return None;
        }
        if !self.machine.hardware_counters {
            self.no_counters();
            return None;
        }
        if !self.is_whole_machine() {
            self.shortfalls.push(Shortfall::new(
                "counters at switches are not recorded: perf reads them per CPU, and only processes are recorded",
            ));
            return None;
        }
        if !self.options.counters.is_empty() {
            counters = self.options.counters.iter().map(String::as_str).collect();
        }
        let leader = self.with_terms(SWITCH.name, &[], SWITCH.stacks);
        let text = format!("{{{leader},{}}}:S", counters.join(","));
        Some(Event { text, without_perf: false, filter: "", has_address: false })
    }

    /// Entries and exits of single system calls, where not all of them are recorded.
    fn calls(&mut self) -> Vec<Event> {
        let mut calls: Vec<(&str, StackClass)> = Vec::new();
        for profile in &self.profiles {
            let class = match profile.name {
                "Sockets" => StackClass::Network,
                "Handle" => StackClass::Handle,
                "VirtualAlloc" => StackClass::Memory,
                _ => StackClass::File,
            };
            for call in profile.linux.calls {
                match calls.iter_mut().find(|(known, _)| known == call) {
                    // Who asks for a call's stacks gets them.
                    Some((_, known)) if !self.options.stacks.contains(*known) => *known = class,
                    Some(_) => {}
                    None => calls.push((call, class)),
                }
            }
        }
        if calls.is_empty() || !self.machine.may_record_tracepoints() {
            if !calls.is_empty() && !self.shortfalls.iter().any(|one| one.what.starts_with("tracepoints are not")) {
                self.no_tracepoints(&[]);
            }
            return Vec::new();
        }
        let all = |profile: &&Profile| profile.linux.events.iter().any(|event| event.name == ALL_CALLS[0]);
        if self.profiles.iter().any(all) && self.machine.tracepoints.contains(ALL_CALLS[0]) {
            return Vec::new();
        }
        // Which calls there are depends on the architecture, so nothing is missing where one is not.
        let mut events = Vec::new();
        for (call, class) in calls {
            let [enter, exit] = ["enter", "exit"].map(|side| format!("syscalls:sys_{side}_{call}"));
            if self.machine.tracepoints.contains(&enter) && self.machine.tracepoints.contains(&exit) {
                let text = self.with_terms(&enter, &[], Some(class));
                events.push(Event { text, without_perf: true, filter: "", has_address: false });
                events.push(Event { text: exit, without_perf: true, filter: "", has_address: false });
            }
        }
        if events.is_empty() {
            self.shortfalls
                .push(Shortfall::new("single system calls are not recorded: this kernel has no tracepoints for them"));
        }
        events
    }

    fn say_what_has_no_counterpart(&mut self, nothing: bool) {
        let is_empty = |profile: &&&Profile| {
            let linux = &profile.linux;
            !linux.samples
                && linux.events.is_empty()
                && linux.calls.is_empty()
                && linux.sampled.is_empty()
                && !linux.branches
        };
        let names: Vec<&str> = self.profiles.iter().filter(is_empty).map(|profile| profile.name).collect();
        if !names.is_empty() {
            let rest = if nothing { "" } else { " and records no more than Default" };
            self.shortfalls.push(Shortfall::new(format!("{} has no counterpart on Linux{rest}", names.join(", "))));
        }
        if !self.options.profile_files.is_empty() {
            self.shortfalls.push(Shortfall::new("recording profiles (.wprp) are for Windows only"));
        }
    }
}
