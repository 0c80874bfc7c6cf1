//! The Firefox Profiler's processed format: times, threads, categories, inlined calls, waits as markers.
//!
//! Written by hand in version 60, which has one table of stacks for all threads, as the catalog does: `fxprof-processed-profile` keeps
//! frames and stacks per thread and all samples once more in memory, has 32 bits for a weight, and knows no source files.

use std::io::{self, Write};

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use serde_json::{Value, json};

use crate::escape::plain;
use crate::functions::Functions;
use crate::json::{Milliseconds, OrNull, comma, list, text};
use crate::profile::{ByThread, Catalog, FrameId, Marker, MarkerKind, Origin, Profile, StringId, ThreadId};

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

/// Writes the profile as JSON. Weights are milliseconds, exact to the nanosecond.
///
/// # Errors
///
/// What `out` says.
pub fn write(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let rows = profile.samples.by_thread(profile.catalog.threads().len());
    let writer = Writer { profile, origin: profile.origin(), tracks: tracks(profile, &rows), rows };
    write!(out, "{{\"meta\":{},\n\"libs\":", writer.meta())?;
    let modules = Modules::of(&profile.catalog);
    list(out, modules.names.iter().map(|&name| library(profile.catalog.text(name))))?;
    write!(out, ",\n\"shared\":")?;
    write_shared(&profile.catalog, &modules, out)?;
    write!(out, ",\n\"pages\":[],\"profilerOverhead\":[],\"counters\":[],\n\"threads\":[")?;
    let pids = pids(&profile.catalog);
    for (at, track) in writer.tracks.iter().enumerate() {
        writeln!(out, "{}", comma(at))?;
        writer.write_track(track, &pids, out)?;
    }
    writeln!(out, "]}}")
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

fn library(name: &str) -> Value {
    let name = plain(name);
    json!({ "arch": "", "name": name, "path": name, "debugName": name, "debugPath": name, "breakpadId": "", "codeId": null })
}

fn categories() -> Vec<Value> {
    let colour = |origin| match origin {
        Origin::User => "yellow",
        Origin::Kernel => "blue",
        Origin::Managed => "green",
        Origin::Jit => "purple",
        Origin::Unresolved => "darkgrey",
    };
    let category = |name: &str, colour: &str| json!({ "name": name, "color": colour, "subcategories": ["Other"] });
    let mut all: Vec<_> = Origin::ALL.iter().map(|&origin| category(origin.label(), colour(origin))).collect();
    // The viewer wants a grey one.
    all.push(category("Other", "grey"));
    all
}

fn marker_schemas() -> Vec<Value> {
    let schema = |kind: MarkerKind| {
        json!({
            "name": kind.label(),
            "display": ["marker-chart", "marker-table", "timeline-overview"],
            "tableLabel": "{marker.data.detail}",
            "chartLabel": "{marker.data.detail}",
            "tooltipLabel": format!("{}: {{marker.data.detail}}", kind.label()),
            "fields": [{ "key": "detail", "label": "Detail", "format": "unique-string" }],
        })
    };
    KINDS.into_iter().map(schema).collect()
}

/// The modules of a catalog, which the format calls libraries and resources.
struct Modules {
    names: Vec<StringId>,
    rows: HashMap<StringId, usize, RandomState>,
}

impl Modules {
    fn of(catalog: &Catalog) -> Self {
        let mut modules = Self { names: Vec::new(), rows: HashMap::default() };
        for frame in catalog.frames().iter().filter(|frame| frame.module != StringId::EMPTY) {
            modules.rows.entry(frame.module).or_insert_with(|| {
                modules.names.push(frame.module);
                modules.names.len() - 1
            });
        }
        modules
    }

    fn row(&self, module: StringId) -> Option<usize> {
        self.rows.get(&module).copied()
    }
}

/// A row of the format's frame table. How deep a frame was inlined, and into what, is the stack's business in the catalog.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Placed {
    frame: FrameId,
    depth: u8,
    /// The frame that has the code.
    outer: FrameId,
}

/// The frame table's rows and, by stack, which of them its innermost frame is.
fn place_frames(catalog: &Catalog) -> (Vec<Placed>, Vec<u32>) {
    let mut known: HashMap<Placed, u32, RandomState> = HashMap::default();
    let mut rows: Vec<Placed> = Vec::new();
    let mut of_stack: Vec<u32> = Vec::with_capacity(catalog.stack_count());
    for stack in catalog.stacks() {
        let frame = catalog.leaf(stack);
        let placed = match catalog.caller(stack) {
            Some(caller) if catalog.frames()[frame.row()].inlined => {
                let caller = rows[of_stack[caller.row()] as usize];
                Placed { frame, depth: caller.depth.saturating_add(1), outer: caller.outer }
            }
            _ => Placed { frame, depth: 0, outer: frame },
        };
        of_stack.push(*known.entry(placed).or_insert_with(|| {
            rows.push(placed);
            rows.len() as u32 - 1
        }));
    }
    (rows, of_stack)
}

fn write_shared(catalog: &Catalog, modules: &Modules, out: &mut impl Write) -> io::Result<()> {
    let functions = Functions::of(catalog);
    let (rows, of_stack) = place_frames(catalog);

    write!(out, "{{\"stackTable\":{{\"length\":{},\"prefix\":", catalog.stack_count())?;
    list(out, catalog.stacks().map(|stack| OrNull(catalog.caller(stack).map(|caller| caller.0))))?;
    write!(out, ",\"frame\":")?;
    list(out, &of_stack)?;

    let frame = |placed: &Placed| catalog.frames()[placed.frame.row()];
    write!(out, "}},\n\"frameTable\":{{\"length\":{},\"address\":", rows.len())?;
    let address = |placed: &Placed| {
        // An address without its library would say nothing, and one that is no exact number in the viewer something wrong.
        let frame = frame(placed);
        frame.address.filter(|&address| frame.module != StringId::EMPTY && address < 1 << 53)
    };
    list(out, rows.iter().map(|row| address(row).map_or(-1, |address| address as i64)))?;
    write!(out, ",\"inlineDepth\":")?;
    list(out, rows.iter().map(|row| row.depth))?;
    write!(out, ",\"category\":")?;
    list(out, rows.iter().map(|row| frame(row).origin as usize))?;
    write!(out, ",\"subcategory\":")?;
    list(out, rows.iter().map(|_| 0))?;
    write!(out, ",\"func\":")?;
    list(out, rows.iter().map(|row| functions.of_frame(row.frame)))?;
    write!(out, ",\"nativeSymbol\":")?;
    let symbols = Symbols::of(catalog, modules, &functions, &rows);
    list(out, rows.iter().map(|row| OrNull(symbols.row(&functions, row))))?;
    write!(out, ",\"innerWindowID\":")?;
    list(out, rows.iter().map(|_| "null"))?;
    write!(out, ",\"line\":")?;
    list(out, rows.iter().map(|row| OrNull(frame(row).line)))?;
    write!(out, ",\"column\":")?;
    list(out, rows.iter().map(|_| "null"))?;

    let sources = Sources::of(&functions);
    write!(out, "}},\n\"funcTable\":{{\"length\":{},\"name\":", functions.frames.len())?;
    list(out, functions.frames.iter().map(|function| function.function.0))?;
    for column in ["isJS", "relevantForJS"] {
        write!(out, ",\"{column}\":")?;
        list(out, functions.frames.iter().map(|_| "false"))?;
    }
    write!(out, ",\"resource\":")?;
    list(out, functions.frames.iter().map(|function| modules.row(function.module).map_or(-1, |row| row as i64)))?;
    write!(out, ",\"source\":")?;
    list(out, functions.frames.iter().map(|function| OrNull(sources.rows.get(&function.file))))?;
    for column in ["lineNumber", "columnNumber"] {
        write!(out, ",\"{column}\":")?;
        list(out, functions.frames.iter().map(|_| "null"))?;
    }

    write!(out, "}},\n\"resourceTable\":{{\"length\":{},\"lib\":", modules.names.len())?;
    list(out, 0..modules.names.len())?;
    write!(out, ",\"name\":")?;
    list(out, modules.names.iter().map(|name| name.0))?;
    write!(out, ",\"host\":")?;
    list(out, modules.names.iter().map(|_| "null"))?;
    write!(out, ",\"type\":")?;
    list(out, modules.names.iter().map(|_| 1))?;

    symbols.write(&functions, modules, out)?;

    write!(out, ",\n\"sources\":{{\"length\":{},\"uuid\":", sources.files.len())?;
    list(out, sources.files.iter().map(|_| "null"))?;
    write!(out, ",\"filename\":")?;
    list(out, sources.files.iter().map(|file| file.0))?;

    write!(out, "}},\n\"stringArray\":")?;
    let kinds = KINDS.iter().map(|kind| kind.label());
    list(out, catalog.texts().chain(kinds).map(text))?;
    write!(out, "}}")
}

/// The source files of a catalog.
struct Sources {
    files: Vec<StringId>,
    rows: HashMap<StringId, usize, RandomState>,
}

impl Sources {
    fn of(functions: &Functions) -> Self {
        let mut sources = Self { files: Vec::new(), rows: HashMap::default() };
        for function in functions.frames.iter().filter(|function| function.file != StringId::EMPTY) {
            sources.rows.entry(function.file).or_insert_with(|| {
                sources.files.push(function.file);
                sources.files.len() - 1
            });
        }
        sources
    }
}

/// The functions that have code. By them the viewer knows which calls were inlined.
struct Symbols {
    /// Functions and the lowest address seen in each: where they begin is not known.
    functions: Vec<(u32, u64)>,
    rows: HashMap<u32, usize, RandomState>,
}

impl Symbols {
    fn of(catalog: &Catalog, modules: &Modules, functions: &Functions, rows: &[Placed]) -> Self {
        let mut symbols = Self { functions: Vec::new(), rows: HashMap::default() };
        for outer in rows.iter().map(|row| row.outer) {
            let frame = catalog.frames()[outer.row()];
            if modules.row(frame.module).is_none() {
                continue;
            }
            let address = frame.address.filter(|&address| address < 1 << 53).unwrap_or(0);
            let function = functions.of_frame(outer);
            let row = *symbols.rows.entry(function).or_insert_with(|| {
                symbols.functions.push((function, address));
                symbols.functions.len() - 1
            });
            let lowest = &mut symbols.functions[row].1;
            *lowest = address.min(*lowest);
        }
        symbols
    }

    fn row(&self, functions: &Functions, placed: &Placed) -> Option<usize> {
        self.rows.get(&functions.of_frame(placed.outer)).copied()
    }

    fn write(&self, functions: &Functions, modules: &Modules, out: &mut impl Write) -> io::Result<()> {
        let frames = || self.functions.iter().map(|&(function, _)| functions.frames[function as usize]);
        write!(out, "}},\n\"nativeSymbols\":{{\"length\":{},\"libIndex\":", self.functions.len())?;
        list(out, frames().map(|frame| modules.row(frame.module).unwrap_or(0)))?;
        write!(out, ",\"address\":")?;
        list(out, self.functions.iter().map(|symbol| symbol.1))?;
        write!(out, ",\"name\":")?;
        list(out, frames().map(|frame| frame.function.0))?;
        write!(out, ",\"functionSize\":")?;
        list(out, self.functions.iter().map(|_| "null"))?;
        write!(out, "}}")
    }
}

/// What the parts of a file have in common.
struct Writer<'a> {
    profile: &'a Profile,
    origin: i64,
    tracks: Vec<Track>,
    rows: ByThread,
}

impl Writer<'_> {
    /// A time as the format has it: milliseconds from the origin, never negative.
    fn time(&self, time: i64) -> Milliseconds {
        Milliseconds(i128::from(time) - i128::from(self.origin))
    }

    fn meta(&self) -> Value {
        let about = &self.profile.about;
        let milliseconds = |nanoseconds: i128| nanoseconds as f64 / 1e6;
        let mut heaviest: Vec<usize> = (0..self.tracks.len()).collect();
        heaviest.sort_by_key(|&at| (std::cmp::Reverse(self.tracks[at].weight), at));
        heaviest.truncate(VISIBLE_THREADS);
        let selected: Vec<usize> = heaviest.iter().take(1).copied().collect();
        json!({
            "version": 31,
            "preprocessedProfileVersion": VERSION,
            "product": format!("{} ({})", plain(&about.title()), about.measure.label()),
            "importedFrom": "tracesift",
            "interval": milliseconds(i128::from(about.interval.unwrap_or(1_000_000))),
            "startTime": milliseconds(i128::from(about.start.unwrap_or(0)) + i128::from(self.origin)),
            "processType": 0,
            "stackwalk": 1,
            "debug": false,
            "symbolicated": true,
            "symbolicationNotSupported": true,
            "usesOnlyOneStackType": true,
            "sourceCodeIsNotOnSearchfox": true,
            "categories": categories(),
            "markerSchema": marker_schemas(),
            "initialVisibleThreads": heaviest,
            "initialSelectedThreads": selected,
        })
    }

    fn write_track(&self, track: &Track, pids: &[String], out: &mut impl Write) -> io::Result<()> {
        match track.thread {
            Some(thread) => self.write_thread_head(thread, pids, out)?,
            None => write!(
                out,
                "{{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,\
                 \"unregisterTime\":null,\"pausedRanges\":[],\"showMarkersInTimeline\":true,\"name\":\"Recording\",\"isMainThread\":true,\
                 \"processName\":\"Recording\",\"pid\":\"recording\",\"tid\":\"recording\""
            )?,
        }
        let samples = || {
            let rows = track.thread.into_iter().flat_map(|thread| self.rows.rows(thread));
            rows.map(|row| self.profile.samples.get(row))
        };
        write!(out, ",\"samples\":{{\"length\":{},\"weightType\":\"tracing-ms\",\"stack\":", samples().count())?;
        list(out, samples().map(|sample| sample.stack.0))?;
        write!(out, ",\"time\":")?;
        list(out, samples().map(|sample| self.time(sample.time)))?;
        write!(out, ",\"weight\":")?;
        list(out, samples().map(|sample| Milliseconds(i128::from(sample.weight))))?;
        write!(out, "}},\"markers\":")?;
        self.write_markers(&track.markers, out)?;
        write!(out, "}}")
    }

    fn write_thread_head(&self, id: ThreadId, pids: &[String], out: &mut impl Write) -> io::Result<()> {
        let catalog = &self.profile.catalog;
        let thread = catalog.threads()[id.row()];
        let process = catalog.processes()[thread.process.row()];
        let begin = |time: Option<i64>| self.time(time.unwrap_or(self.origin).max(self.origin));
        let end = |time: Option<i64>| OrNull(time.map(|time| self.time(time.max(self.origin))));
        let name = match catalog.text(thread.name) {
            "" => catalog.thread_label(id),
            name => name.to_owned(),
        };
        write!(
            out,
            "{{\"processType\":\"default\",\"processStartupTime\":{},\"processShutdownTime\":{},\"registerTime\":{},\
             \"unregisterTime\":{},\"pausedRanges\":[],\"showMarkersInTimeline\":true,\"name\":{},\"isMainThread\":{},\
             \"processName\":{},\"pid\":{},\"tid\":{}",
            begin(process.start),
            end(process.end),
            begin(thread.start),
            end(thread.end),
            text(&name),
            thread.tid == process.pid,
            text(catalog.text(process.name)),
            text(&pids[thread.process.row()]),
            thread.tid,
        )
    }

    fn write_markers(&self, rows: &[usize], out: &mut impl Write) -> io::Result<()> {
        let all = self.profile.markers.rows();
        let markers = || rows.iter().map(|&row| all[row]);
        write!(out, "{{\"length\":{},\"category\":", rows.len())?;
        list(out, markers().map(|_| OTHER))?;
        write!(out, ",\"name\":")?;
        let kinds = self.profile.catalog.texts().count();
        list(out, markers().map(|marker| kinds + marker.kind as usize))?;
        write!(out, ",\"startTime\":")?;
        list(out, markers().map(|marker| self.time(marker.start)))?;
        write!(out, ",\"endTime\":")?;
        list(out, markers().map(|marker| OrNull(marker.end.map(|end| self.time(end.max(marker.start))))))?;
        write!(out, ",\"phase\":")?;
        list(out, markers().map(|marker| if marker.end.is_some() { INTERVAL } else { INSTANT }))?;
        write!(out, ",\"data\":")?;
        list(out, markers().map(|marker| self.marker_data(&marker)))?;
        write!(out, "}}")
    }

    fn marker_data(&self, marker: &Marker) -> Value {
        let mut data = json!({ "type": marker.kind.label(), "detail": marker.name.0 });
        if let Some(stack) = marker.stack {
            data["cause"] = json!({ "stack": stack.0 });
        }
        data
    }
}
