//! speedscope's own format: for each thread its stacks in the order in which they came.
//!
//! The viewer puts samples side by side by their weights, so its time line leaves out the time between them; neighbours with equal stacks
//! are one entry, which loses nothing. Addresses are left out: the viewer would take each for a function of its own.

use std::io::{self, Write};

use serde_json::json;

use crate::escape::plain;
use crate::functions::Functions;
use crate::json::{comma, text};
use crate::profile::{ByThread, Profile, StackId, StringId, ThreadId};

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
    write!(
        out,
        "{{\"$schema\":{},\"exporter\":\"tracesift\",\"name\":{},\"activeProfileIndex\":0,\"shared\":{{\"frames\":[",
        json!(SCHEMA),
        text(&profile.about.title())
    )?;
    for (at, frame) in functions.frames.iter().enumerate() {
        let mut row = json!({ "name": plain(&catalog.label(frame)) });
        if frame.file != StringId::EMPTY {
            row["file"] = json!(plain(catalog.text(frame.file)));
        }
        write!(out, "{}{row}", comma(at))?;
    }
    write!(out, "]}},\"profiles\":[")?;
    let rows = profile.samples.by_thread(catalog.threads().len());
    for (at, (thread, total)) in heaviest_first(profile, &rows).into_iter().enumerate() {
        write!(out, "{}", comma(at))?;
        write_thread(profile, &functions, rows.rows(thread), thread, total, out)?;
    }
    write!(out, "]}}")
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
    profile: &Profile,
    functions: &Functions,
    rows: impl ExactSizeIterator<Item = usize> + Clone,
    thread: ThreadId,
    total: u64,
    out: &mut impl Write,
) -> io::Result<()> {
    let catalog = &profile.catalog;
    let name =
        format!("{} {}", catalog.process_label(catalog.threads()[thread.row()].process), catalog.thread_label(thread));
    write!(
        out,
        "\n{{\"type\":\"sampled\",\"name\":{},\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":{total},\"samples\":[",
        text(&name)
    )?;
    let runs = || Runs { profile, rows: rows.clone(), next: None };
    let mut path: Vec<u32> = Vec::new();
    for (at, (stack, _)) in runs().enumerate() {
        path.clear();
        path.extend(catalog.frames_of(stack).map(|frame| functions.of_frame(frame)));
        write!(out, "{}[", comma(at))?;
        for (at, frame) in path.iter().rev().enumerate() {
            write!(out, "{}{frame}", comma(at))?;
        }
        write!(out, "]")?;
    }
    write!(out, "],\"weights\":[")?;
    for (at, (_, weight)) in runs().enumerate() {
        write!(out, "{}{weight}", comma(at))?;
    }
    write!(out, "]}}")
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
