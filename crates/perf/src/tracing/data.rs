//! The tracing data of a recording: format files of events and what goes with them (read_event_files and its neighbours in
//! tools/perf/util/trace-event-read.c).

use linux_perf_event_reader::Endianness;
use rustc_hash::FxHashMap;

use super::field::Field;
use super::format::{EventFormat, fields_of};
use crate::cursor::{Cursor, text};
use crate::error::Malformed;

/// What every tracing data begins with.
const MAGIC: &[u8] = b"\x17\x08\x44tracing";
/// Formats that are kept; kernels have a few thousand.
const MAX_FORMATS: usize = 1 << 16;
/// Fields that are kept, of all formats; kernels have some ten thousand.
const MAX_FIELDS: usize = 1 << 20;

/// Formats of tracepoints, and texts of the kernel that their fields may point to.
#[derive(Clone, Debug)]
pub struct TracingData {
    /// Version of the layout, such as 0.6.
    pub version: String,
    /// Byte order of the fields.
    pub endian: Endianness,
    /// Bytes of a kernel `long`.
    pub long_size: u8,
    /// Bytes of a page.
    pub page_size: u32,
    /// Fields of the ring buffer's page header.
    pub header_page: Vec<Field>,
    formats: Vec<EventFormat>,
    by_id: FxHashMap<u64, u32>,
    fields: usize,
    kallsyms: Box<[u8]>,
    printk: Box<[u8]>,
    saved_cmdlines: Box<[u8]>,
    incomplete: Option<String>,
}

impl TracingData {
    /// Reads it from the start of `bytes`; what stands behind it is ignored.
    ///
    /// # Errors
    /// When not even its header is there. What breaks off later leaves the formats before, see [`Self::incomplete`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let magic = Malformed { missing: "magic number" };
        let rest = bytes.strip_prefix(MAGIC).ok_or(magic)?;
        let mut at = Cursor::new(rest, Endianness::LittleEndian);
        let version = text(at.c_str());
        let endian = if at.u8("byte order")? == 0 { Endianness::LittleEndian } else { Endianness::BigEndian };
        let mut at = Cursor::new(at.rest(), endian);
        let long_size = at.u8("size of a long")?;
        let page_size = at.u32("page size")?;
        let mut data = Self {
            version,
            endian,
            long_size,
            page_size,
            header_page: Vec::new(),
            formats: Vec::new(),
            by_id: FxHashMap::default(),
            fields: 0,
            kallsyms: Box::default(),
            printk: Box::default(),
            saved_cmdlines: Box::default(),
            incomplete: None,
        };
        data.incomplete = data.read(&mut at).err().map(|error| error.to_string());
        Ok(data)
    }

    fn read(&mut self, at: &mut Cursor<'_>) -> Result<(), Malformed> {
        self.header_page = fields_of(header_file(at, b"header_page")?);
        header_file(at, b"header_event")?;
        let ftrace = at.u32("number of ftrace formats")?;
        for _ in 0..ftrace {
            let file = sized_u64(at, "ftrace format")?;
            self.add(b"ftrace", file);
        }
        let systems = at.u32("number of systems")?;
        for _ in 0..systems {
            let system = at.c_str();
            let count = at.u32("number of formats")?;
            for _ in 0..count {
                let file = sized_u64(at, "format")?;
                self.add(system, file);
            }
        }
        self.kallsyms = sized_u32(at, "kallsyms")?.into();
        self.printk = sized_u32(at, "printk formats")?.into();
        // "0.6" added the thread names; perf itself reads them from that version on.
        if version_number(&self.version) >= (0, 6) {
            self.saved_cmdlines = sized_u64(at, "saved command lines")?.into();
        }
        Ok(())
    }

    fn add(&mut self, system: &[u8], file: &[u8]) {
        if self.formats.len() >= MAX_FORMATS || self.fields >= MAX_FIELDS {
            return;
        }
        if let Some(format) = EventFormat::parse(system, file) {
            self.fields += format.fields.len();
            self.by_id.insert(format.id, self.formats.len() as u32);
            self.formats.push(format);
        }
    }

    /// All formats, in the order of the recording.
    #[must_use]
    pub fn formats(&self) -> &[EventFormat] {
        &self.formats
    }

    /// The format of a tracepoint event by the `config` of its attribute, or by the `common_type` of a raw record.
    #[must_use]
    pub fn by_id(&self, id: u64) -> Option<&EventFormat> {
        self.formats.get(*self.by_id.get(&id)? as usize)
    }

    /// The format of `system:name`.
    #[must_use]
    pub fn by_name(&self, system: &str, name: &str) -> Option<&EventFormat> {
        self.formats.iter().find(|format| format.system == system && format.name == name)
    }

    /// What is missing when the data breaks off.
    #[must_use]
    pub fn incomplete(&self) -> Option<&str> {
        self.incomplete.as_deref()
    }

    /// /proc/kallsyms of the recorded machine, as text; often empty.
    #[must_use]
    pub fn kallsyms(&self) -> &[u8] {
        &self.kallsyms
    }

    /// Texts that trace_printk refers to: address, text.
    pub fn printk_formats(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.printk.split(|&byte| byte == b'\n').filter_map(|line| {
            let colon = line.iter().position(|&byte| byte == b':')?;
            let (address, text) = line.split_at_checked(colon)?;
            let text = text.get(1..)?.trim_ascii();
            let text = text.strip_prefix(b"\"").unwrap_or(text);
            Some((hex(address)?, text.strip_suffix(b"\"").unwrap_or(text)))
        })
    }

    /// Names that threads had when the recording ended: thread id, name.
    pub fn saved_cmdlines(&self) -> impl Iterator<Item = (i32, &[u8])> {
        self.saved_cmdlines.split(|&byte| byte == b'\n').filter_map(|line| {
            let line = line.trim_ascii_start();
            let space = line.iter().position(|&byte| byte == b' ')?;
            let (tid, name) = line.split_at_checked(space)?;
            Some((str::from_utf8(tid).ok()?.parse().ok()?, name.get(1..)?))
        })
    }
}

fn hex(bytes: &[u8]) -> Option<u64> {
    let text = str::from_utf8(bytes).ok()?.trim();
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

/// Major and minor number; unreadable ones count as old.
fn version_number(text: &str) -> (u32, u32) {
    let mut parts = text.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// A file of tracefs with its name before it.
fn header_file<'a>(at: &mut Cursor<'a>, name: &'static [u8]) -> Result<&'a [u8], Malformed> {
    let missing = if name == b"header_page" { "header_page" } else { "header_event" };
    if at.c_str() != name {
        return Err(Malformed { missing });
    }
    sized_u64(at, missing)
}

fn sized_u64<'a>(at: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8], Malformed> {
    let size = at.u64(what)?;
    at.take_u64(size, what)
}

fn sized_u32<'a>(at: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8], Malformed> {
    let size = at.u32(what)?;
    at.take_u64(size.into(), what)
}
