//! speedscope's own format: for each thread its stacks in the order in which they came.
//!
//! The viewer puts samples side by side by their weights, so its time line leaves out the time between them; neighbours with equal stacks
//! are one entry, which loses nothing. Addresses are left out: the viewer would take each for a function of its own.

use std::fmt;
use std::io::{self, Write};

use tracesift_json::Writer;

use crate::functions::Functions;
use crate::json::{column, text};
use crate::profile::{ByThread, Profile, StackId, StringId, ThreadId, Unit};

/// The address of the format's schema, by which the viewer knows it.
const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// Writes a profile per thread that has samples, the heaviest first.
///
/// # Errors
///
/// What `out` says.
pub fn write(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let catalog = &profile.catalog;
    let functions = Functions::of(catalog);
    let mut json = Writer::to_bytes(out);
    json.begin_object();
    json.key("$schema");
    json.text(SCHEMA);
    json.key("exporter");
    json.text("tracesift");
    json.key("name");
    text(&mut json, &profile.about.title());
    json.key("activeProfileIndex");
    json.value(0);
    json.key("shared");
    json.begin_object();
    json.key("frames");
    json.begin_array();
    for frame in &functions.frames {
        json.begin_object();
        json.key("name");
        text(&mut json, &catalog.label(frame));
        if frame.file != StringId::EMPTY {
            json.key("file");
            text(&mut json, catalog.text(frame.file));
        }
        json.end_object();
    }
    json.end_array();
    json.end_object();
    json.key("profiles");
    json.begin_array();
    let rows = profile.samples.by_thread(catalog.threads().len());
    for (thread, total) in heaviest_first(profile, &rows) {
        json.new_line();
        write_thread(&mut json, profile, &functions, rows.rows(thread), thread, total);
        json.check()?;
    }
    json.end_array();
    json.end_object();
    json.check()
}

/// The threads with samples and their weights.
fn heaviest_first(profile: &Profile, rows: &ByThread) -> Vec<(ThreadId, u64)> {
    let threads = (0..profile.catalog.threads().len() as u32).map(ThreadId);
    let mut threads: Vec<_> = threads
        .filter(|&thread| rows.rows(thread).len() > 0)
        .map(|thread| {
            let weights = rows.rows(thread).map(|row| profile.samples.get(row).weight);
            (thread, weights.fold(0_u64, u64::saturating_add))
        })
        .collect();
    threads.sort_by_key(|&(thread, total)| (std::cmp::Reverse(total), thread));
    threads
}

fn write_thread(
    json: &mut Writer<impl fmt::Write>,
    profile: &Profile,
    functions: &Functions,
    rows: impl ExactSizeIterator<Item = usize> + Clone,
    thread: ThreadId,
    total: u64,
) {
    let catalog = &profile.catalog;
    let name =
        format!("{} {}", catalog.process_label(catalog.threads()[thread.row()].process), catalog.thread_label(thread));
    json.begin_object();
    json.key("type");
    json.text("sampled");
    json.key("name");
    text(json, &name);
    json.key("unit");
    json.text(match profile.about.measure.unit {
        Unit::Nanoseconds => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::Count => "none",
    });
    json.key("startValue");
    json.value(0);
    json.key("endValue");
    json.value(total);
    let runs = || Runs { profile, rows: rows.clone(), next: None };
    let mut path: Vec<u32> = Vec::new();
    json.key("samples");
    json.begin_array();
    for (stack, _) in runs() {
        path.clear();
        path.extend(catalog.frames_of(stack).map(|frame| functions.of_frame(frame)));
        json.values(path.iter().rev());
    }
    json.end_array();
    column(json, "weights", runs().map(|(_, weight)| weight));
    json.end_object();
}

/// Neighbouring samples of one thread with equal stacks, as one.
struct Runs<'a, R> {
    profile: &'a Profile,
    rows: R,
    next: Option<(StackId, u64)>,
}

impl<R: Iterator<Item = usize>> Iterator for Runs<'_, R> {
    type Item = (StackId, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let mut run = self.next.take();
        for row in self.rows.by_ref() {
            let sample = self.profile.samples.get(row);
            match &mut run {
                None => run = Some((sample.stack, sample.weight)),
                Some((stack, weight)) if *stack == sample.stack => *weight = weight.saturating_add(sample.weight),
                Some(_) => {
                    self.next = Some((sample.stack, sample.weight));
                    break;
                }
            }
        }
        run
    }
}
