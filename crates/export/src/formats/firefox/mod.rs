//! The Firefox Profiler's processed format: times, threads, categories, inlined calls, waits as markers.
//!
//! Written by hand in version 60, which has one table of stacks for all threads, as the catalog does: `fxprof-processed-profile` keeps
//! frames and stacks per thread and all samples once more in memory, has 32 bits for a weight, and knows no source files.

mod meta;
mod shared;

use std::fmt;
use std::io::{self, Write};

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use tracesift_json::Writer;

use self::meta::{write_categories, write_library, write_marker_schemas};
use self::shared::{Modules, write_shared};
use crate::escape::plain;
use crate::json::{Milliseconds, OrNull, column, text};
use crate::profile::{ByThread, Catalog, Marker, MarkerKind, Origin, Profile, ThreadId, Unit};

/// The version of the processed format. The viewer reads it and all before its own.
const VERSION: u32 = 60;
/// How many threads are in sight at first, the heaviest ones. Others can be added in the viewer.
const VISIBLE_THREADS: usize = 20;
/// The number of the category of what has no origin, which stands behind those of [`Origin::ALL`].
const OTHER: usize = Origin::ALL.len();
/// The kinds of markers, whose names stand behind the catalog's texts.
const KINDS: [MarkerKind; 3] = [MarkerKind::Wait, MarkerKind::Ready, MarkerKind::Mark];
/// The phases of the format's markers.
const INSTANT: u8 = 0;
const INTERVAL: u8 = 1;

/// Writes the profile as JSON. Weights are milliseconds, exact to the nanosecond; bytes and numbers are as they are.
///
/// # Errors
///
/// What `out` says.
pub fn write(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let rows = profile.samples.by_thread(profile.catalog.threads().len());
    let file = File { profile, origin: profile.origin(), tracks: tracks(profile, &rows), rows };
    let mut json = Writer::to_bytes(out);
    json.begin_object();
    json.key("meta");
    file.write_meta(&mut json);
    json.new_line();
    json.key("libs");
    let modules = Modules::of(&profile.catalog);
    json.begin_array();
    for &name in &modules.names {
        write_library(&mut json, &plain(profile.catalog.text(name)));
    }
    json.end_array();
    json.new_line();
    json.key("shared");
    write_shared(&mut json, &profile.catalog, &modules);
    json.check()?;
    json.new_line();
    for table in ["pages", "profilerOverhead", "counters"] {
        json.key(table);
        json.texts([]);
    }
    json.new_line();
    json.key("threads");
    json.begin_array();
    let pids = pids(&profile.catalog);
    for track in &file.tracks {
        json.new_line();
        file.write_track(&mut json, track, &pids);
        json.check()?;
    }
    json.end_array();
    json.end_object();
    json.end_line();
    json.check()
}

/// A thread in the file. What concerns the whole recording has a track of its own.
struct Track {
    thread: Option<ThreadId>,
    weight: u64,
    markers: Vec<usize>,
}

/// The tracks that have anything on them, in the order of threads.
fn tracks(profile: &Profile, rows: &ByThread) -> Vec<Track> {
    let threads = (0..profile.catalog.threads().len() as u32).map(|row| Some(ThreadId(row)));
    let mut tracks: Vec<Track> =
        threads.chain([None]).map(|thread| Track { thread, weight: 0, markers: Vec::new() }).collect();
    let last = tracks.len() - 1;
    for (at, marker) in profile.markers.rows().iter().enumerate() {
        tracks[marker.thread.map_or(last, ThreadId::row)].markers.push(at);
    }
    for sample in profile.samples.iter() {
        let weight = &mut tracks[sample.thread.row()].weight;
        *weight = weight.saturating_add(sample.weight);
    }
    tracks.retain(|track| !track.markers.is_empty() || track.thread.is_some_and(|thread| rows.rows(thread).len() > 0));
    tracks
}

/// The format's name of each process: its id, made different where the system used one again.
fn pids(catalog: &Catalog) -> Vec<String> {
    let mut seen: HashMap<u32, u32, RandomState> = HashMap::default();
    let of_process = catalog.processes().iter().map(|process| {
        let times = seen.entry(process.pid).or_insert(0);
        *times += 1;
        if *times == 1 { process.pid.to_string() } else { format!("{}.{}", process.pid, *times - 1) }
    });
    of_process.collect()
}

/// Opens a table of the format: an object of columns, with the number of their rows first.
fn begin_table(json: &mut Writer<impl fmt::Write>, key: &str, length: usize) {
    json.key(key);
    json.begin_object();
    json.key("length");
    json.value(length);
}

/// What the parts of a file have in common.
struct File<'a> {
    profile: &'a Profile,
    origin: i64,
    tracks: Vec<Track>,
    rows: ByThread,
}

impl File<'_> {
    /// A time as the format has it: milliseconds from the origin, never negative.
    fn time(&self, time: i64) -> Milliseconds {
        Milliseconds(i128::from(time) - i128::from(self.origin))
    }

    fn write_meta(&self, json: &mut Writer<impl fmt::Write>) {
        let about = &self.profile.about;
        let milliseconds = |nanoseconds: i128| nanoseconds as f64 / 1e6;
        json.begin_object();
        json.key("version");
        json.value(31);
        json.key("preprocessedProfileVersion");
        json.value(VERSION);
        json.key("product");
        json.text_of(format_args!("{} ({})", plain(&about.title()), about.measure.label));
        json.key("importedFrom");
        json.text("tracesift");
        json.key("interval");
        json.float(milliseconds(i128::from(about.interval.unwrap_or(1_000_000))));
        json.key("startTime");
        json.float(milliseconds(i128::from(about.start.unwrap_or(0)) + i128::from(self.origin)));
        for (key, value) in [("processType", 0), ("stackwalk", 1)] {
            json.key(key);
            json.value(value);
        }
        for (key, value) in [
            ("debug", false),
            ("symbolicated", true),
            ("symbolicationNotSupported", true),
            ("usesOnlyOneStackType", true),
            ("sourceCodeIsNotOnSearchfox", true),
        ] {
            json.key(key);
            json.value(value);
        }
        json.key("categories");
        write_categories(json);
        json.key("markerSchema");
        write_marker_schemas(json);
        let visible = self.heaviest_tracks();
        column(json, "initialVisibleThreads", &visible);
        column(json, "initialSelectedThreads", visible.iter().take(1));
        json.end_object();
    }

    /// The tracks that are in sight at first, the heaviest one first.
    fn heaviest_tracks(&self) -> Vec<usize> {
        let mut heaviest: Vec<usize> = (0..self.tracks.len()).collect();
        heaviest.sort_by_key(|&at| (std::cmp::Reverse(self.tracks[at].weight), at));
        heaviest.truncate(VISIBLE_THREADS);
        heaviest
    }

    fn write_track(&self, json: &mut Writer<impl fmt::Write>, track: &Track, pids: &[String]) {
        json.begin_object();
        match track.thread {
            Some(thread) => self.write_thread_head(json, thread, pids),
            None => write_recording_head(json),
        }
        let samples = || {
            let rows = track.thread.into_iter().flat_map(|thread| self.rows.rows(thread));
            rows.map(|row| self.profile.samples.get(row))
        };
        begin_table(json, "samples", samples().count());
        json.key("weightType");
        json.text(match self.profile.about.measure.unit {
            Unit::Nanoseconds => "tracing-ms",
            Unit::Bytes => "bytes",
            Unit::Count => "samples",
        });
        column(json, "stack", samples().map(|sample| sample.stack.0));
        column(json, "time", samples().map(|sample| self.time(sample.time)));
        let weights = || samples().map(|sample| sample.weight);
        match self.profile.about.measure.unit {
            Unit::Nanoseconds => column(json, "weight", weights().map(|weight| Milliseconds(i128::from(weight)))),
            Unit::Bytes | Unit::Count => column(json, "weight", weights()),
        }
        json.end_object();
        self.write_markers(json, &track.markers);
        json.end_object();
    }

    fn write_thread_head(&self, json: &mut Writer<impl fmt::Write>, id: ThreadId, pids: &[String]) {
        let catalog = &self.profile.catalog;
        let thread = catalog.threads()[id.row()];
        let process = catalog.processes()[thread.process.row()];
        let begin = |time: Option<i64>| self.time(time.unwrap_or(self.origin).max(self.origin));
        let end = |time: Option<i64>| time.map(|time| self.time(time.max(self.origin)));
        json.key("processType");
        json.text("default");
        json.key("processStartupTime");
        json.value(begin(process.start));
        json.key("processShutdownTime");
        json.optional(end(process.end));
        json.key("registerTime");
        json.value(begin(thread.start));
        json.key("unregisterTime");
        json.optional(end(thread.end));
        write_track_options(json);
        json.key("name");
        match catalog.text(thread.name) {
            "" => text(json, &catalog.thread_label(id)),
            name => text(json, name),
        }
        json.key("isMainThread");
        json.value(thread.tid == process.pid);
        json.key("processName");
        text(json, catalog.text(process.name));
        json.key("pid");
        text(json, &pids[thread.process.row()]);
        json.key("tid");
        json.value(thread.tid);
    }

    fn write_markers(&self, json: &mut Writer<impl fmt::Write>, rows: &[usize]) {
        let all = self.profile.markers.rows();
        let markers = || rows.iter().map(|&row| all[row]);
        begin_table(json, "markers", rows.len());
        column(json, "category", markers().map(|_| OTHER));
        let kinds = self.profile.catalog.texts().count();
        column(json, "name", markers().map(|marker| kinds + marker.kind as usize));
        column(json, "startTime", markers().map(|marker| self.time(marker.start)));
        let end = |marker: Marker| OrNull(marker.end.map(|end| self.time(end.max(marker.start))));
        column(json, "endTime", markers().map(end));
        column(json, "phase", markers().map(|marker| if marker.end.is_some() { INTERVAL } else { INSTANT }));
        json.key("data");
        json.begin_array();
        for marker in markers() {
            write_marker_data(json, &marker);
        }
        json.end_array();
        json.end_object();
    }
}

/// The head of the track for what concerns the whole recording.
fn write_recording_head(json: &mut Writer<impl fmt::Write>) {
    json.key("processType");
    json.text("default");
    json.key("processStartupTime");
    json.value(0);
    json.key("processShutdownTime");
    json.null();
    json.key("registerTime");
    json.value(0);
    json.key("unregisterTime");
    json.null();
    write_track_options(json);
    json.key("name");
    json.text("Recording");
    json.key("isMainThread");
    json.value(true);
    json.key("processName");
    json.text("Recording");
    for key in ["pid", "tid"] {
        json.key(key);
        json.text("recording");
    }
}

/// The members that are the same in each track.
fn write_track_options(json: &mut Writer<impl fmt::Write>) {
    json.key("pausedRanges");
    json.texts([]);
    json.key("showMarkersInTimeline");
    json.value(true);
}

fn write_marker_data(json: &mut Writer<impl fmt::Write>, marker: &Marker) {
    json.begin_object();
    json.key("type");
    json.text(marker.kind.label());
    json.key("detail");
    json.value(marker.name.0);
    if let Some(stack) = marker.stack {
        json.key("cause");
        json.begin_object();
        json.key("stack");
        json.value(stack.0);
        json.end_object();
    }
    json.end_object();
}
