//! Files of regions of interest: up to the first byte 0 a file, behind it events, one per byte. What is read must match them so that each
//! event begins or ends at most one region of a definition, and lies in a region around it.

#![no_main]

use std::borrow::Cow;

use libfuzzer_sys::fuzz_target;
use tracesift_analysis::Span;
use tracesift_analysis::regions::{Definitions, Event, EventKind, Fields, Matcher, Nesting};
use tracesift_trace::{ProcessId, ThreadId};

/// Every field has this value.
#[derive(Debug)]
struct Same(String);

impl Fields for Same {
    fn text(&self, _: &str) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(&self.0))
    }

    fn json(&self) -> String {
        String::new()
    }
}

/// Events: a definition is compared with each of them.
const EVENTS: usize = 1_000;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let (file, events) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let Ok(definitions) = Definitions::read("fuzz", file) else { return };
    assert!(definitions.all.iter().enumerate().all(|(place, known)| {
        known.parent.is_none_or(|parent| parent.definition < place) && known.path.ends_with(&known.name)
    }));
    let mut matcher = Matcher::new(&definitions, true);
    let events = &events[..events.len().min(EVENTS)];
    for (time, event) in (0..).zip(events) {
        let id = i32::from(event & 7);
        let guid = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4";
        let roles = definitions.roles(&EventKind { guid, provider: "P", event: "E", id, version: None });
        let fields = Same((event >> 6).to_string());
        let number = i32::from(event >> 3 & 3);
        let (process, thread) = (Some(ProcessId(number)), Some(ThreadId(number)));
        matcher.event(&Event { time, process, thread, activity: None, fields: &fields }, &roles);
    }
    let found = matcher.finish();
    assert!(found.regions.len() + found.loose.len() <= 2 * events.len() * definitions.all.len());
    assert!(found.regions.iter().all(|region| region.end.is_none_or(|end| region.start <= end)));
    let nesting = Nesting::of(&found.regions, &definitions);
    let exclusive = nesting.exclusive(&found.regions, Span::ALL);
    for (place, region) in found.regions.iter().enumerate() {
        let length = region.end.map_or(0, |end| Span::new(region.start, end).length());
        assert!((0..=length).contains(&exclusive[place]));
        assert!(nesting.parents[place].is_none_or(|parent| found.regions[parent].start <= region.start));
    }
});
