//! The fields of a tracepoint, by the format that the recorder saved with them.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rustc_hash::FxHashMap;
use tracesift_etl::payload::PayloadError;
use tracesift_etl::schema::{DecodeError, Reason, Value};
use tracesift_perf::Endianness;
use tracesift_perf::tracing::{EventFormat, Field, Location, Names, PrintFormat, Style, TracingData};

use super::fields::{FieldSink, Rest};

/// The system of events that programs make up.
pub(super) const USER_EVENTS: &str = "user_events";

/// What every tracepoint begins with says nothing of the event: its number, flags of the interrupted context and the thread.
const COMMON: &str = "common_";

/// Samples and the structures in them end at words.
const WORD: usize = 8;

/// Bytes of the names of combinations of bits that are remembered per field; beyond that they are made anew.
const MAX_COMBINATIONS: usize = 1 << 20;

/// Bytes that the fields of an event show beside twice those that it has: fields may lie over each other, but only a forged format
/// shows the same bytes again and again.
const SPARE_BYTES: usize = 1 << 10;

/// How the samples of a tracepoint are read.
pub(super) struct Tracepoint {
    fields: Vec<Member>,
    endian: Endianness,
    /// The program that made the event up describes its beginning only: what stands behind it is content.
    goes_on: bool,
    /// Some fields have names for their bits.
    has_flags: bool,
}

struct Member {
    /// Unlike that of any other field.
    name: String,
    field: Field,
    shape: Shape,
    named: Option<Named>,
}

/// Names of a field's values, shown in a field of their own: the number stays a number.
struct Named {
    /// Name of that field.
    name: String,
    names: Names,
    /// Names of combinations of bits, as far as they were met.
    combinations: FxHashMap<u64, String>,
    /// Bytes that they take.
    remembered: usize,
}

/// What the bytes of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Bool,
    Signed,
    Unsigned,
    Hex,
    /// Up to the first NUL.
    Text,
    Bytes,
    Ipv4,
    Ipv6,
    /// Numbers of so many bytes.
    Numbers {
        width: usize,
        signed: bool,
        hex: bool,
    },
    /// A set of CPUs: one bit each, in words of so many bytes.
    Mask {
        width: usize,
    },
}

impl Tracepoint {
    pub(super) fn new(format: &EventFormat, tracing: &TracingData) -> Self {
        let print = PrintFormat::parse(&format.print_format);
        // Of system calls it shows everything in hexadecimal, numbers of files and sizes too.
        let is_call = format.system == "syscalls";
        let mut taken = FxHashMap::default();
        let mut fields: Vec<Member> = Vec::new();
        for field in format.fields.iter().filter(|field| !field.name.starts_with(COMMON)) {
            let told = print.of(&field.name);
            let style = told.map(|told| told.style).filter(|style| *style != Style::Hex || !is_call);
            let name = free(field.name.clone(), &mut taken);
            let named = told.and_then(|told| told.names.clone());
            let shape = shape(field, style.unwrap_or_default(), usize::from(tracing.long_size));
            let is_number = matches!(shape, Shape::Signed | Shape::Unsigned | Shape::Hex | Shape::Bool);
            let named = named.filter(|_| is_number).map(|names| Named {
                name: free(format!("{name}_name"), &mut taken),
                names,
                combinations: FxHashMap::default(),
                remembered: 0,
            });
            fields.push(Member { name, field: field.clone(), shape, named });
        }
        let flags = |named: &Named| matches!(named.names, Names::Flags { .. });
        let has_flags = fields.iter().any(|member| member.named.as_ref().is_some_and(flags));
        Self { fields, endian: tracing.endian, goes_on: format.system == USER_EVENTS, has_flags }
    }

    /// Whether [`Self::learn`] is needed.
    pub(super) fn has_flags(&self) -> bool {
        self.has_flags
    }

    /// Makes the names that [`Self::read`] will need; nearly always they are there.
    pub(super) fn learn(&mut self, raw: &[u8]) {
        let endian = self.endian;
        for member in &mut self.fields {
            let Some(named) = &mut member.named else { continue };
            let Some(value) = member.field.unsigned(raw, endian) else { continue };
            if !matches!(named.names, Names::Flags { .. }) || named.combinations.contains_key(&value) {
                continue;
            }
            let mut text = String::new();
            named.names.write(value, &mut text);
            named.remembered += size_of::<(u64, String)>() + text.len();
            if named.remembered > MAX_COMBINATIONS {
                named.combinations.clear();
                named.remembered = 0;
            }
            named.combinations.insert(value, text);
        }
    }

    /// Hands out the fields of a sample.
    pub(super) fn read<'a>(&'a self, raw: &'a [u8], sink: &mut impl FieldSink<'a>) -> Rest<'a> {
        let mut end = 0;
        let mut budget = 2 * raw.len() + SPARE_BYTES;
        for member in &self.fields {
            let field = &member.field;
            let range = field.range(raw, self.endian);
            let bytes = range.clone().and_then(|range| raw.get(range));
            let value = bytes.and_then(|bytes| member.shape.value(field, bytes, raw, self.endian));
            let (Some(bytes), Some(range)) = (bytes, range) else { return misfit(member, raw, None) };
            match budget.checked_sub(bytes.len()) {
                Some(left) => budget = left,
                None => return misfit(member, raw, Some(Reason::TooMany)),
            }
            match (value, member.shape) {
                (Some(value), _) => sink.value(&member.name, value),
                (None, Shape::Numbers { width, signed, hex }) => {
                    sink.list(&member.name, numbers(bytes, width, signed, hex, self.endian));
                }
                (None, Shape::Mask { width }) if bytes.len() > width => {
                    sink.list(&member.name, numbers(bytes, width, false, true, self.endian));
                }
                (None, Shape::Mask { .. }) => {
                    let mask = numbers(bytes, bytes.len().max(1), false, true, self.endian).next();
                    sink.value(&member.name, mask.unwrap_or(Value::Hex(0)));
                }
                (None, _) => return misfit(member, raw, None),
            }
            if let Some(named) = &member.named
                && let Some(name) = named.of(field, raw, self.endian)
            {
                sink.value(&named.name, Value::Text(Cow::Borrowed(name)));
            }
            end = end.max(range.end).max(field.offset.saturating_add(field.size));
        }
        let rest = raw.get(end.max(self.common_end())..).unwrap_or_default();
        // What the kernel puts behind an event up to the next words it does not even clear.
        let is_padding =
            if self.goes_on { rest.len() < WORD && rest.iter().all(|byte| *byte == 0) } else { rest.len() < 2 * WORD };
        Rest { bytes: if is_padding { &[] } else { rest }, stopped: None }
    }

    /// A format without any field of its own still has the common ones, of eight bytes.
    fn common_end(&self) -> usize {
        if self.fields.is_empty() { WORD } else { 0 }
    }
}

/// A field that is not in the sample, or cannot be shown for another reason.
fn misfit<'a>(member: &'a Member, raw: &'a [u8], reason: Option<Reason>) -> Rest<'a> {
    let Field { offset, size, .. } = member.field;
    let bytes = raw.get(offset..).unwrap_or_default();
    let missing = PayloadError::Truncated { what: "field", offset, needed: size, available: bytes.len() };
    let reason = reason.unwrap_or(Reason::Payload(missing));
    Rest { bytes, stopped: Some(DecodeError { field: &member.name, reason }) }
}

impl Named {
    fn of(&self, field: &Field, raw: &[u8], endian: Endianness) -> Option<&str> {
        match self.names {
            Names::Symbols(_) => self.names.symbol(field.signed(raw, endian)?.cast_unsigned()),
            Names::Flags { .. } => {
                let names = self.combinations.get(&field.unsigned(raw, endian)?)?;
                Some(names.as_str()).filter(|names| !names.is_empty())
            }
        }
    }
}

impl Shape {
    /// The value, of a field that has one only.
    fn value<'a>(self, field: &Field, bytes: &'a [u8], raw: &[u8], endian: Endianness) -> Option<Value<'a>> {
        Some(match self {
            Self::Signed => Value::Signed(field.signed(raw, endian)?),
            Self::Unsigned => Value::Unsigned(field.unsigned(raw, endian)?),
            Self::Hex => Value::Hex(field.unsigned(raw, endian)?),
            Self::Bool => match field.unsigned(raw, endian)? {
                0 => Value::Bool(false),
                1 => Value::Bool(true),
                other => Value::Unsigned(other),
            },
            Self::Text => Value::Text(text(bytes)),
            Self::Bytes => Value::Bytes(bytes),
            Self::Ipv4 => Value::Ip(IpAddr::V4(Ipv4Addr::from(*bytes.first_chunk::<4>()?))),
            Self::Ipv6 => Value::Ip(IpAddr::V6(Ipv6Addr::from(*bytes.first_chunk::<16>()?))),
            Self::Numbers { .. } | Self::Mask { .. } => return None,
        })
    }
}

/// A text of the kernel, up to its NUL. Any byte may stand in it; what is no UTF-8 is replaced.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default())
}

fn shape(field: &Field, style: Style, long_size: usize) -> Shape {
    let declared = field.declaration.split('[').next().unwrap_or_default().trim();
    let base = declared.trim_start_matches("const ").trim();
    let is_pointer = base.contains('*');
    let hex = style == Style::Hex || is_pointer;
    if !field.array && field.location == Location::Inline {
        return match (base, field.size) {
            ("bool" | "_Bool", 1) if !hex => Shape::Bool,
            (_, 1..=8) if hex => Shape::Hex,
            (_, 1..=8) if field.signed => Shape::Signed,
            (_, 1..=8) => Shape::Unsigned,
            _ => Shape::Bytes,
        };
    }
    let word = if matches!(long_size, 4 | 8) { long_size } else { WORD };
    if base.contains("cpumask") || base.contains("nodemask") || base == "bitmap" {
        return Shape::Mask { width: word };
    }
    let whole = |size: usize| field.location != Location::Inline || field.size == size;
    let width = match field.element_size {
        0 if is_pointer || base.ends_with("long") => word,
        known => known,
    };
    match (base, style, width) {
        ("char", ..) | (_, Style::Text, 0 | 1) => Shape::Text,
        (_, Style::Ipv4, 0 | 1) if whole(4) => Shape::Ipv4,
        (_, Style::Ipv6, 0 | 1) if whole(16) => Shape::Ipv6,
        (_, _, 2 | 4 | 8) => Shape::Numbers { width, signed: field.signed || is_signed(base), hex },
        _ => Shape::Bytes,
    }
}

/// Formats do not say of arrays in dynamic memory whether their elements have a sign.
fn is_signed(base: &str) -> bool {
    matches!(
        base,
        "short" | "int" | "long" | "long long" | "s16" | "s32" | "s64" | "__s16" | "__s32" | "__s64" | "pid_t"
    )
}

fn numbers<'a>(
    bytes: &'a [u8],
    width: usize,
    signed: bool,
    hex: bool,
    endian: Endianness,
) -> impl Iterator<Item = Value<'a>> {
    bytes.chunks_exact(width).map(move |element| {
        let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        let value = match endian {
            Endianness::LittleEndian => element.iter().rev().fold(0, fold),
            Endianness::BigEndian => element.iter().fold(0, fold),
        };
        let unused = 64_u32.saturating_sub(8 * width as u32);
        match (hex, signed) {
            (true, _) => Value::Hex(value),
            (false, true) => Value::Signed((value << unused).cast_signed() >> unused),
            (false, false) => Value::Unsigned(value),
        }
    })
}

/// A name that no other field has; `_2` and so on are added where one has. `taken` counts how often each was asked for.
pub(super) fn free(name: String, taken: &mut FxHashMap<String, usize>) -> String {
    let mut free = name.clone();
    while taken.contains_key(&free) {
        let number = taken.entry(name.clone()).or_insert(1);
        *number += 1;
        free = format!("{name}_{number}");
    }
    taken.insert(free.clone(), 1);
    free
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use tracesift_etl::schema::{Decoded, Value};
    use tracesift_perf::TracingData;

    use super::super::fields::{JsonFields, ValueFields};
    use super::Tracepoint;

    /// Tracing data with one format.
    fn tracing(system: &str, fields: &str, print: &str) -> TracingData {
        let format = format!(
            "name: it\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
             \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n{fields}\nprint fmt: {print}\n"
        );
        let mut bytes = b"\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0header_page\0".to_vec();
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend(b"header_event\0");
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend([0, 0, 0, 0, 1, 0, 0, 0]);
        bytes.extend(system.as_bytes());
        bytes.extend([0, 1, 0, 0, 0]);
        bytes.extend((format.len() as u64).to_le_bytes());
        bytes.extend(format.as_bytes());
        bytes.extend([0; 16]);
        TracingData::parse(&bytes).expect("formats")
    }

    /// The fields as JSON, and what no field shows; the values say the same.
    fn read(tracing: &TracingData, raw: &[u8]) -> (String, Vec<u8>, bool) {
        let mut tracepoint = Tracepoint::new(&tracing.formats()[0], tracing);
        tracepoint.learn(raw);
        let mut text = String::new();
        let mut json = JsonFields::new(&mut text);
        let rest = tracepoint.read(raw, &mut json);
        json.finish();
        let mut values = ValueFields::default();
        let again = tracepoint.read(raw, &mut values);
        let decoded: Decoded<'_> = values.decoded(again);
        let mut same = String::new();
        decoded.write_json(&mut same);
        assert_eq!(text, same);
        serde_json::from_str::<serde_json::Value>(&text).expect("valid JSON");
        (text, rest.bytes.to_vec(), rest.stopped.is_some())
    }

    fn field(declaration: &str, offset: usize, size: usize, signed: bool) -> String {
        format!("\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{};\n", u8::from(signed))
    }

    #[test]
    fn every_kind_of_field_is_shown() {
        let fields = [
            field("char comm[8]", 8, 8, false),
            field("int error", 16, 4, true),
            field("bool done", 20, 1, false),
            field("u8 addr[4]", 24, 4, false),
            field("const void * p", 32, 8, false),
            field("__data_loc char[] name", 40, 4, false),
            field("__rel_loc u16[] list", 44, 4, false),
            field("__data_loc cpumask_t cpus", 48, 4, false),
            field("unsigned int flags", 52, 4, false),
            field("u8 mac[6]", 56, 6, false),
        ];
        let print = r#""%d %pI4 %s", REC->error, REC->addr, __print_flags(REC->flags, "|", { 1, "A" }, { 2, "B" })"#;
        let tracing = tracing("net", &fields.concat(), print);
        let mut raw = b"\x07\0\0\0\0\0\0\0a:b \xff]\0\x01\xfe\xff\xff\xff\x01\0\0\0\x7f\0\0\x01\0\0\0\0".to_vec();
        raw.extend(0xffff_8880_0000_0000_u64.to_le_bytes());
        raw.extend([62, 0, 3, 0, 17, 0, 4, 0, 69, 0, 8, 0, 3, 0, 0, 0]);
        raw.extend([1, 2, 3, 4, 5, 6]);
        raw.extend(b"x\"\0\x01\0\xff\xff\x05\0\0\0\0\0\0\0");
        let json = r#"{"comm":"a:b \ufffd]","error":-2,"done":true,"addr":"127.0.0.1","p":"0xffff888000000000","name":"x\"","list":[1,65535],"cpus":"0x5","flags":3,"flags_name":"A|B","mac":"010203040506"}"#;
        let (text, rest, stopped) = read(&tracing, &raw);
        assert_eq!(text, json.replace("\\ufffd", "\u{fffd}"));
        assert!(rest.is_empty() && !stopped);
        // Cut anywhere it is valid JSON and nothing is lost.
        for length in 0..raw.len() {
            let (_, _, stopped) = read(&tracing, &raw[..length]);
            assert!(stopped, "{length}");
        }
    }

    #[test]
    fn what_is_written_to_the_trace_marker_goes_on_to_the_end() {
        let fields = [field("unsigned long ip", 8, 8, false), field("char buf[]", 16, 0, false)].concat();
        let tracing = tracing("ftrace", &fields, r#""%ps: %s", (void *)REC->ip, REC->buf"#);
        let (text, rest, _) = read(&tracing, b"\x07\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0hello\n\0\0");
        assert_eq!((text.as_str(), rest.len()), (r#"{"ip":"0x10","buf":"hello\n"}"#, 0));
    }

    #[test]
    fn a_forged_format_costs_its_event_only() {
        // The same bytes again and again, and names that meet.
        let mut fields = String::new();
        for number in 0..4000 {
            let _ = write!(fields, "{}", field(&format!("__data_loc char[] f{}", number % 7), 8, 4, false));
        }
        let tracing = tracing("forged", &fields, "\"\"");
        let mut raw = vec![0_u8; 1 << 12];
        raw[8..12].copy_from_slice(&[12, 0, 0, 15]);
        raw[12..].fill(b'a');
        let (text, _, stopped) = read(&tracing, &raw);
        assert!(stopped && text.len() < 4 * raw.len(), "{}", text.len());
        let value = Value::Text(super::text(b"ab\0c"));
        assert_eq!(value, Value::Text("ab".into()));
    }
}
