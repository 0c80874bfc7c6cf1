//! `jit-PID.dump`: JIT code of a process, with times and lines
//! (tools/perf/Documentation/jitdump-specification.txt of the kernel, version 1).
//!
//! Code can be replaced: what an address means depends on the time. So all code is laid out one behind the other in a
//! table of its own, and [`JitDump::place`] tells where in it the code lies that was at an address at a time.

use std::collections::HashMap;

use crate::demangle::split_if_mangled;
use crate::{Error, FileId, Table, TableBuilder};

/// How names from here are marked.
const SOURCE: &str = "jitdump";
const MAGIC: u32 = 0x4a69_5444;
/// Bytes of the header and of what each record begins with.
const HEADER: usize = 40;
const PREFIX: usize = 16;
/// Bytes of a name or a path; the rest of a longer one is left out.
const MAX_NAME: usize = 4 << 10;
/// Bytes of one piece of code, and of all together: a table has 32 bits for that.
const MAX_CODE: u64 = 1 << 28;
const SPAN: u64 = 1 << 32;
/// Pieces of code that begin below an address and are looked at whether they reach it. Code is rarely in more than two at once.
const MAX_NEAR: usize = 1 << 10;

/// Names of the JIT code of one process.
#[derive(Debug)]
pub struct JitDump {
    /// Whose code it is.
    pub process: u32,
    /// Whether times are those of the processor's counter (`JITDUMP_FLAGS_ARCH_TIMESTAMP`); else they are nanoseconds of the clock that the
    /// recorder was told to use, most often `CLOCK_MONOTONIC`.
    pub is_processor_time: bool,
    /// Names by the addresses that [`JitDump::place`] gives.
    pub table: Table,
    /// By start, then by time.
    code: Vec<Code>,
    /// How far any code up to this one reaches.
    reach: Vec<u64>,
}

/// Code that was at an address from a time on.
#[derive(Clone, Copy, Debug)]
struct Code {
    start: u64,
    end: u64,
    time: u64,
    /// Where it lies in the table.
    place: u64,
}

/// A line of code that is about to be loaded.
struct Line<'a> {
    address: u64,
    line: u32,
    file: &'a [u8],
}

impl JitDump {
    /// Reads a dump. Records that make no sense are skipped; what stands behind one with an impossible length is not read.
    ///
    /// # Errors
    /// [`Error::OtherFormat`] if it does not begin as one, [`Error::Empty`] if it has no code.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        const FORMAT: Error = Error::OtherFormat("a dump of code made at run time");
        let magic = bytes.first_chunk().ok_or(FORMAT)?;
        let mut header = match (u32::from_le_bytes(*magic), u32::from_be_bytes(*magic)) {
            (MAGIC, _) => Fields { rest: bytes, big: false },
            (_, MAGIC) => Fields { rest: bytes, big: true },
            _ => return Err(FORMAT),
        };
        let big = header.big;
        let mut header = || {
            let (_magic, version, size) = (header.u32()?, header.u32()?, header.u32()?);
            let (_machine, _pad, process) = (header.u32()?, header.u32()?, header.u32()?);
            let (_time, flags) = (header.u64()?, header.u64()?);
            Some((version, usize::try_from(size).ok()?, process, flags))
        };
        let (version, size, process, flags) = header().ok_or(FORMAT)?;
        if version != 1 {
            return Err(Error::Malformed(format!("version {version} of a format that is known up to version 1")));
        }
        let mut rest = bytes.get(size.max(HEADER)..).unwrap_or_default();
        let mut reader = Reader {
            builder: TableBuilder::new(),
            code: Vec::new(),
            next: 0,
            lines: HashMap::new(),
            places: HashMap::new(),
        };
        while let Some((id, time, record)) = record(&mut rest, big) {
            // A record that is cut short costs itself.
            let _ = match id {
                0 => reader.load(record, time),
                1 => reader.moved(record, time),
                2 => reader.lines(record),
                3 => break,
                _ => Some(()),
            };
        }
        if reader.code.is_empty() {
            return Err(Error::Empty);
        }
        let mut code = reader.code;
        code.sort_by_key(|code| (code.start, code.time));
        let reach = code.iter().scan(0, |reach: &mut u64, code| {
            *reach = code.end.max(*reach);
            Some(*reach)
        });
        let reach = reach.collect();
        Ok(Self { process, is_processor_time: flags & 1 != 0, table: reader.builder.finish(""), code, reach })
    }

    /// Where in the table the code lies that was at an address at a time; `None` if there was none yet.
    #[must_use]
    pub fn place(&self, address: u64, time: u64) -> Option<u64> {
        let mut below = self.code.partition_point(|code| code.start <= address);
        let mut latest: Option<Code> = None;
        for _ in 0..MAX_NEAR {
            if below == 0 || self.reach[below - 1] <= address {
                break;
            }
            let start = self.code[below - 1].start;
            let first = self.code[..below].partition_point(|code| code.start < start);
            let same = &self.code[first..below];
            // Of the code that began here the last one before the time.
            if let Some(code) = same.partition_point(|code| code.time <= time).checked_sub(1).map(|at| same[at])
                && address < code.end
                && latest.is_none_or(|latest| latest.time <= code.time)
            {
                latest = Some(code);
            }
            below = first;
        }
        latest.map(|code| code.place + (address - code.start))
    }

    /// Where in the table the code lies that was at an address at any time; `None` where there was none, or code of different functions at
    /// different times.
    #[must_use]
    pub fn lasting_place(&self, address: u64) -> Option<u64> {
        let mut below = self.code.partition_point(|code| code.start <= address);
        let function = |place: u64| self.table.frames(place).last().map(|frame| (frame.function, frame.arguments));
        let mut found: Option<u64> = None;
        for _ in 0..MAX_NEAR {
            if below == 0 || self.reach[below - 1] <= address {
                break;
            }
            below -= 1;
            let code = self.code[below];
            if address < code.end {
                let place = code.place + (address - code.start);
                if found.is_some_and(|found| function(found) != function(place)) {
                    return None;
                }
                found = found.or(Some(place));
            }
        }
        found
    }
}

/// Takes a record: its number, time, and what follows.
fn record<'a>(rest: &mut &'a [u8], big: bool) -> Option<(u32, u64, Fields<'a>)> {
    let mut prefix = Fields { rest, big };
    let (id, size, time) = (prefix.u32()?, prefix.u32()?, prefix.u64()?);
    let (record, behind) = rest.split_at_checked(usize::try_from(size).ok()?)?;
    *rest = behind;
    Some((id, time, Fields { rest: record.get(PREFIX..)?, big }))
}

struct Reader<'a> {
    builder: TableBuilder,
    code: Vec<Code>,
    /// Where the next code is placed.
    next: u64,
    /// Lines that came for code at an address.
    lines: HashMap<u64, Vec<Line<'a>>>,
    /// Where code of a number lies, and its bytes.
    places: HashMap<u64, (u64, u64)>,
}

impl<'a> Reader<'a> {
    fn load(&mut self, mut record: Fields<'a>, time: u64) -> Option<()> {
        let (_process, _thread, _mapped) = (record.u32()?, record.u32()?, record.u64()?);
        let (start, size, number) = (record.u64()?, record.u64()?, record.u64()?);
        let name = record.text()?;
        let end = start.checked_add(size).filter(|end| *end > start)?;
        let place = self.next;
        self.next = place.checked_add(size).filter(|next| size <= MAX_CODE && *next <= SPAN)?;
        self.code.push(Code { start, end, time, place });
        self.places.insert(number, (place, size));

        let name = String::from_utf8_lossy(&name[..name.len().min(MAX_NAME)]);
        let function = split_if_mangled(&name, |name, arguments| self.builder.function(name, arguments, SOURCE));
        let whole = self.builder.location(None, function, None, 0);
        self.builder.add(place, self.next, whole);
        let mut lines = self.lines.remove(&start).unwrap_or_default();
        lines.retain(|line| (start..end).contains(&line.address));
        lines.sort_by_key(|line| line.address);
        let ends: Vec<u64> = lines.iter().skip(1).map(|line| line.address).chain([end]).collect();
        let mut known: Option<(&[u8], FileId)> = None;
        for (line, end) in lines.iter().zip(ends) {
            let file = match known {
                Some((path, file)) if path == line.file => file,
                _ => self.builder.file(&String::from_utf8_lossy(&line.file[..line.file.len().min(MAX_NAME)])),
            };
            known = Some((line.file, file));
            let location = self.builder.location(None, function, Some(file), line.line);
            self.builder.add(place + (line.address - start), place + (end - start), location);
        }
        Some(())
    }

    fn moved(&mut self, mut record: Fields<'a>, time: u64) -> Option<()> {
        let (_process, _thread, _mapped) = (record.u32()?, record.u32()?, record.u64()?);
        let (_old, start, size, number) = (record.u64()?, record.u64()?, record.u64()?, record.u64()?);
        let &(place, known) = self.places.get(&number)?;
        let end = start.checked_add(size.min(known)).filter(|end| *end > start)?;
        self.code.push(Code { start, end, time, place });
        Some(())
    }

    fn lines(&mut self, mut record: Fields<'a>) -> Option<()> {
        /// Instead of a path: the one of the entry before.
        const SAME: &[u8] = &[0xff];
        let (start, count) = (record.u64()?, record.u64()?);
        let mut lines: Vec<Line<'a>> = Vec::new();
        for _ in 0..count {
            let (Some(address), Some(line), Some(_discriminator)) = (record.u64(), record.u32(), record.u32()) else {
                break;
            };
            let Some(file) = record.text() else { break };
            let file = if file == SAME { lines.last().map_or(&[] as &[u8], |line| line.file) } else { file };
            lines.push(Line { address, line, file });
        }
        self.lines.insert(start, lines);
        Some(())
    }
}

/// The fields of a record.
#[derive(Clone, Copy)]
struct Fields<'a> {
    rest: &'a [u8],
    big: bool,
}

impl<'a> Fields<'a> {
    fn u32(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(if self.big { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) })
    }

    fn u64(&mut self) -> Option<u64> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(if self.big { u64::from_be_bytes(*bytes) } else { u64::from_le_bytes(*bytes) })
    }

    /// A text up to its 0.
    fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.rest.iter().position(|byte| *byte == 0)?;
        let (text, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest.get(1..)?;
        Some(text)
    }
}
