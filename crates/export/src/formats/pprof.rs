//! The format of `go tool pprof`: one compressed message of sums per stack. Process and thread are labels of each sample, by which pprof
//! filters and groups (`-tagfocus`, `-tagroot=process`).
//!
//! Field numbers are those of `profile.proto`. A location of pprof is one address with all functions that were inlined there.

use std::io::{self, Write};

use flate2::{Compression, write::GzEncoder};
use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::escape::plain;
use crate::functions::Functions;
use crate::profile::{Catalog, Folded, FrameId, StackId, StringId, Strings, Unit};
use crate::protobuf::Message;

/// Writes the profile, compressed with gzip as pprof expects it. Values are counts and weights in the measure's unit.
///
/// # Errors
///
/// What `out` says.
pub fn write(profile: &Folded, out: &mut impl Write) -> io::Result<()> {
    let mut out = GzEncoder::new(out, Compression::default());
    let mut texts = Texts::of(&profile.catalog);
    write_types(profile, &mut texts, &mut out)?;
    let locations = Locations::of(&profile.catalog);
    write_samples(profile, &locations, &mut texts, &mut out)?;
    let mappings = write_mappings(&profile.catalog, &mut out)?;
    write_locations(&profile.catalog, &locations, &mappings, &mut out)?;
    write_functions(&profile.catalog, &mut texts, &mut out)?;
    texts.write(&profile.catalog, &mut out)?;
    out.finish()?;
    Ok(())
}

/// The table of texts: those of the catalog by their ids, then what the format needs besides.
struct Texts {
    first: u64,
    more: Strings,
}

impl Texts {
    fn of(catalog: &Catalog) -> Self {
        Self { first: catalog.texts().count() as u64, more: Strings::new() }
    }

    fn id(&mut self, text: &str) -> u64 {
        self.first + self.more.intern(text).row() as u64
    }

    /// A `ValueType`: what is measured, and in which unit.
    fn value_type(&mut self, kind: &str, unit: &str) -> Message {
        let mut message = Message::default();
        message.number(1, self.id(kind)).number(2, self.id(unit));
        message
    }

    fn write(&self, catalog: &Catalog, out: &mut impl Write) -> io::Result<()> {
        let mut message = Message::default();
        for text in catalog.texts().chain(self.more.iter()) {
            message.clear();
            message.text(6, &plain(text));
            out.write_all(message.bytes())?;
        }
        Ok(())
    }
}

fn write_types(profile: &Folded, texts: &mut Texts, out: &mut impl Write) -> io::Result<()> {
    let about = &profile.about;
    let mut message = Message::default();
    let counts = texts.value_type("samples", "count");
    let unit = match about.measure.unit {
        Unit::Nanoseconds => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::Count => "count",
    };
    let weights = texts.value_type(about.measure.key, unit);
    message.message(1, &counts).message(1, &weights);
    if let Some(start) = about.start {
        message.signed(9, start);
    }
    if let Some(duration) = about.duration {
        message.number(10, duration);
    }
    if let Some(interval) = about.interval.filter(|_| about.measure.unit == Unit::Nanoseconds) {
        message.message(11, &weights).number(12, interval);
    }
    message.number(13, texts.id(&about.title()));
    // What the tools show unless another is asked for.
    message.number(14, texts.id(about.measure.key));
    out.write_all(message.bytes())
}

fn write_samples(profile: &Folded, locations: &Locations, texts: &mut Texts, out: &mut impl Write) -> io::Result<()> {
    let catalog = &profile.catalog;
    let [process, pid, thread, tid] = ["process", "pid", "thread", "tid"].map(|key| texts.id(key));
    let (mut message, mut sample, mut label) = (Message::default(), Message::default(), Message::default());
    for row in profile.weights.iter() {
        let of_thread = &catalog.threads()[row.thread.row()];
        let of_process = &catalog.processes()[of_thread.process.row()];
        sample.clear();
        sample.packed(1, locations.of_stack(catalog, row.stack));
        sample.packed(2, [row.count, row.weight].into_iter());
        for (key, text) in [(process, of_process.name), (thread, of_thread.name)] {
            label.clear();
            label.number(1, key).number(2, text.row() as u64);
            sample.message(3, &label);
        }
        for (key, number) in [(pid, of_process.pid), (tid, of_thread.tid)] {
            label.clear();
            label.number(1, key).number(3, u64::from(number));
            sample.message(3, &label);
        }
        message.clear();
        message.message(2, &sample);
        out.write_all(message.bytes())?;
    }
    Ok(())
}

/// Writes a mapping per module and gives their ids.
fn write_mappings(catalog: &Catalog, out: &mut impl Write) -> io::Result<HashMap<StringId, u64, RandomState>> {
    let mut ids: HashMap<StringId, u64, RandomState> = HashMap::default();
    let (mut message, mut mapping) = (Message::default(), Message::default());
    for module in catalog.frames().iter().map(|frame| frame.module).filter(|&module| module != StringId::EMPTY) {
        if ids.contains_key(&module) {
            continue;
        }
        let id = ids.len() as u64 + 1;
        ids.insert(module, id);
        mapping.clear();
        mapping.number(1, id).number(5, module.row() as u64);
        // It has functions, file names, line numbers and inlined frames, as far as they are known: nothing is left to look up.
        for field in 7..=10 {
            mapping.number(field, 1);
        }
        message.clear();
        message.message(3, &mapping);
        out.write_all(message.bytes())?;
    }
    Ok(ids)
}

/// Addresses with what was inlined there.
struct Locations {
    /// The innermost frame of each location, and the location of what it was inlined into.
    rows: Vec<(FrameId, Option<u32>)>,
    /// The location of each stack's innermost frame.
    of_stack: Vec<u32>,
}

impl Locations {
    fn of(catalog: &Catalog) -> Self {
        let mut known: HashMap<(FrameId, Option<u32>), u32, RandomState> = HashMap::default();
        let mut locations = Self { rows: Vec::new(), of_stack: Vec::with_capacity(catalog.stack_count()) };
        for stack in catalog.stacks() {
            let frame = catalog.leaf(stack);
            let caller = catalog.caller(stack).filter(|_| catalog.frames()[frame.row()].inlined);
            let key = (frame, caller.map(|caller| locations.of_stack[caller.row()]));
            let location = *known.entry(key).or_insert_with(|| {
                locations.rows.push(key);
                locations.rows.len() as u32 - 1
            });
            locations.of_stack.push(location);
        }
        locations
    }

    /// The ids of a stack's locations, innermost first. A frame that was inlined is a part of its caller's location.
    fn of_stack(&self, catalog: &Catalog, stack: StackId) -> impl Iterator<Item = u64> + Clone {
        std::iter::successors(Some(stack), move |&stack| {
            let mut outer = stack;
            while let (true, Some(caller)) =
                (catalog.frames()[catalog.leaf(outer).row()].inlined, catalog.caller(outer))
            {
                outer = caller;
            }
            catalog.caller(outer)
        })
        .map(|stack| u64::from(self.of_stack[stack.row()]) + 1)
    }
}

fn write_locations(
    catalog: &Catalog,
    locations: &Locations,
    mappings: &HashMap<StringId, u64, RandomState>,
    out: &mut impl Write,
) -> io::Result<()> {
    let functions = Functions::of(catalog);
    let (mut message, mut location, mut line) = (Message::default(), Message::default(), Message::default());
    for (row, &innermost) in locations.rows.iter().enumerate() {
        location.clear();
        location.number(1, row as u64 + 1);
        let mut next = Some(innermost);
        while let Some((frame, outer)) = next {
            let id = frame;
            let frame = catalog.frames()[frame.row()];
            line.clear();
            line.number(1, u64::from(functions.of_frame(id)) + 1);
            if let Some(number) = frame.line {
                line.number(2, u64::from(number));
            }
            location.message(4, &line);
            if outer.is_none() {
                if let Some(&mapping) = mappings.get(&frame.module) {
                    location.number(2, mapping);
                }
                if let Some(address) = frame.address {
                    location.number(3, address);
                }
            }
            next = outer.map(|outer| locations.rows[outer as usize]);
        }
        message.clear();
        message.message(4, &location);
        out.write_all(message.bytes())?;
    }
    Ok(())
}

fn write_functions(catalog: &Catalog, texts: &mut Texts, out: &mut impl Write) -> io::Result<()> {
    let (mut message, mut function) = (Message::default(), Message::default());
    for (row, frame) in Functions::of(catalog).frames.iter().enumerate() {
        // pprof adds up what has one name, so the module is a part of it.
        let name = match frame.module {
            StringId::EMPTY => frame.function.row() as u64,
            _ => texts.id(&catalog.label(frame)),
        };
        function.clear();
        function.number(1, row as u64 + 1).number(2, name);
        function.number(3, frame.function.row() as u64).number(4, frame.file.row() as u64);
        message.clear();
        message.message(5, &function);
        out.write_all(message.bytes())?;
    }
    Ok(())
}
