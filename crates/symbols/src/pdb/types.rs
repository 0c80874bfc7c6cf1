//! Types as C++ writes them: for argument lists, and for the names of functions that were inlined.

use crate::fields::{Fields, u32_at};

/// Types below are built in: their number says which.
const FIRST: u32 = 0x1000;
/// Of a type's parts in each other.
const MAX_DEPTH: usize = 32;
/// Of an argument list, in bytes: what is longer ends in dots.
const MAX_LENGTH: usize = 4096;

const LF_MODIFIER: u16 = 0x1001;
const LF_POINTER: u16 = 0x1002;
const LF_PROCEDURE: u16 = 0x1008;
const LF_MFUNCTION: u16 = 0x1009;
const LF_ARGLIST: u16 = 0x1201;
const LF_BITFIELD: u16 = 0x1205;
const LF_ARRAY: u16 = 0x1503;
const LF_CLASS: u16 = 0x1504;
const LF_STRUCTURE: u16 = 0x1505;
const LF_UNION: u16 = 0x1506;
const LF_ENUM: u16 = 0x1507;
const LF_INTERFACE: u16 = 0x1519;
const LF_FUNC_ID: u16 = 0x1601;
const LF_MFUNC_ID: u16 = 0x1602;
const LF_STRING_ID: u16 = 0x1605;

/// The streams of types and of ids.
#[derive(Debug)]
pub(super) struct Types {
    types: Stream,
    ids: Stream,
}

/// Records by their numbers, which count up from the first one's.
#[derive(Debug)]
struct Stream {
    bytes: Vec<u8>,
    first: u32,
    starts: Vec<u32>,
}

impl Stream {
    fn new(bytes: Vec<u8>) -> Self {
        let header = usize::try_from(u32_at(&bytes, 4).unwrap_or(0)).unwrap_or(usize::MAX);
        let first = u32_at(&bytes, 8).unwrap_or(FIRST);
        let mut starts = Vec::new();
        let mut fields = Fields::new(bytes.get(header..).unwrap_or_default());
        let mut next = || {
            let start = bytes.len() - fields.rest().len();
            let length = fields.u16()?;
            fields.skip(length.into())?;
            u32::try_from(start).ok()
        };
        while let Some(start) = next() {
            starts.push(start);
        }
        Self { bytes, first, starts }
    }

    /// Kind and content of a record.
    fn get(&self, number: u32) -> Option<(u16, Fields<'_>)> {
        let start = *self.starts.get(usize::try_from(number.checked_sub(self.first)?).ok()?)?;
        let mut fields = Fields::new(self.bytes.get(usize::try_from(start).ok()?..)?);
        let length = usize::from(fields.u16()?);
        let mut fields = Fields::new(fields.bytes(length)?);
        Some((fields.u16()?, fields))
    }
}

impl Types {
    pub(super) fn new(types: Vec<u8>, ids: Vec<u8>) -> Self {
        Self { types: Stream::new(types), ids: Stream::new(ids) }
    }

    /// The argument list of a function by its type or, where `by_id`, by its id.
    pub(super) fn arguments(&self, function: u32, by_id: bool) -> Option<String> {
        let function = if by_id { self.function(function)?.1 } else { function };
        let mut writer = Writer { types: self, text: String::new(), depth: 0 };
        writer.arguments_of(function)?;
        Some(writer.text)
    }

    /// Name and type of a function by its id.
    pub(super) fn function(&self, id: u32) -> Option<(String, u32)> {
        let (leaf, mut fields) = self.ids.get(id)?;
        let (scope, kind) = (fields.u32()?, fields.u32()?);
        let name = String::from_utf8_lossy(fields.text()?);
        let scope = match leaf {
            LF_FUNC_ID if scope == 0 => String::new(),
            LF_FUNC_ID => self.text(scope)?,
            LF_MFUNC_ID => {
                let mut writer = Writer { types: self, text: String::new(), depth: 0 };
                writer.before(scope);
                writer.text
            }
            _ => return None,
        };
        if scope.is_empty() {
            return Some((name.into_owned(), kind));
        }
        // Microsoft's compiler gives namespaces without a name one here, unlike in names of functions.
        let scope: Vec<&str> = scope
            .split("::")
            .map(|part| if part.starts_with("?A0x") { "`anonymous namespace'" } else { part })
            .collect();
        Some((format!("{}::{name}", scope.join("::")), kind))
    }

    /// A text by its id: a namespace.
    fn text(&self, id: u32) -> Option<String> {
        let (leaf, mut fields) = self.ids.get(id)?;
        fields.skip(4)?;
        (leaf == LF_STRING_ID).then(|| fields.text().map(|text| String::from_utf8_lossy(text).into_owned())).flatten()
    }

    /// Bytes that a type takes.
    fn size(&self, kind: u32, depth: usize) -> Option<u64> {
        if kind < FIRST {
            return built_in_size(kind);
        }
        if depth == MAX_DEPTH {
            return None;
        }
        let (leaf, mut fields) = self.types.get(kind)?;
        match leaf {
            LF_MODIFIER => self.size(fields.u32()?, depth + 1),
            LF_POINTER => {
                fields.skip(4)?;
                Some(u64::from(fields.u32()? >> 13 & 0x3f))
            }
            LF_ENUM => {
                fields.skip(4)?;
                self.size(fields.u32()?, depth + 1)
            }
            LF_ARRAY => {
                fields.skip(8)?;
                numeric(&mut fields)
            }
            LF_CLASS | LF_STRUCTURE | LF_INTERFACE => {
                fields.skip(16)?;
                numeric(&mut fields)
            }
            LF_UNION => {
                fields.skip(8)?;
                numeric(&mut fields)
            }
            _ => None,
        }
    }
}

/// Writes types. A type has a part before a name and one behind it, as in `int (*name)[3]`; here is no name.
struct Writer<'a> {
    types: &'a Types,
    text: String,
    depth: usize,
}

/// What a pointer points to needs parentheses when its own part stands behind.
fn has_part_behind(leaf: u16) -> bool {
    matches!(leaf, LF_PROCEDURE | LF_MFUNCTION | LF_ARRAY)
}

impl<'a> Writer<'a> {
    fn whole(&mut self, kind: u32) {
        self.before(kind);
        self.behind(kind);
    }

    /// Whether there is place for more.
    fn may_go_on(&self) -> bool {
        self.depth < MAX_DEPTH && self.text.len() < MAX_LENGTH
    }

    fn get(&self, kind: u32) -> Option<(u16, Fields<'a>)> {
        self.types.types.get(kind)
    }

    fn before(&mut self, kind: u32) {
        if kind < FIRST {
            return self.built_in(kind);
        }
        if !self.may_go_on() {
            return self.text.push_str("...");
        }
        self.depth += 1;
        if self.before_of(kind).is_none() {
            // Of a kind that is not known, or damaged.
            self.text.push('?');
        }
        self.depth -= 1;
    }

    fn before_of(&mut self, kind: u32) -> Option<()> {
        let (leaf, mut fields) = self.get(kind)?;
        match leaf {
            LF_MODIFIER => {
                let (kind, flags) = (fields.u32()?, fields.u16()?);
                self.before(kind);
                self.qualifiers(flags & 1 != 0, flags & 2 != 0);
            }
            LF_POINTER => {
                let (to, attributes) = (fields.u32()?, fields.u32()?);
                self.before(to);
                if self.get(to).is_some_and(|(leaf, _)| has_part_behind(leaf)) {
                    self.text.push_str(" (");
                } else if !self.text.ends_with(['*', '&']) {
                    self.text.push(' ');
                }
                let mode = attributes >> 5 & 7;
                if matches!(mode, 2 | 3) {
                    self.before(fields.u32()?);
                    self.text.push_str("::");
                }
                self.text.push_str(match mode {
                    1 => "&",
                    4 => "&&",
                    _ => "*",
                });
                if attributes & 0x400 != 0 {
                    self.text.push_str("const");
                }
                if attributes & 0x200 != 0 {
                    self.text.push_str(if attributes & 0x400 != 0 { " volatile" } else { "volatile" });
                }
            }
            LF_PROCEDURE | LF_MFUNCTION | LF_ARRAY | LF_BITFIELD => self.before(fields.u32()?),
            LF_CLASS | LF_STRUCTURE | LF_INTERFACE => {
                fields.skip(16)?;
                numeric(&mut fields)?;
                self.name(&mut fields)?;
            }
            LF_UNION => {
                fields.skip(8)?;
                numeric(&mut fields)?;
                self.name(&mut fields)?;
            }
            LF_ENUM => {
                fields.skip(12)?;
                self.name(&mut fields)?;
            }
            _ => return None,
        }
        Some(())
    }

    fn behind(&mut self, kind: u32) {
        if kind < FIRST || !self.may_go_on() {
            return;
        }
        self.depth += 1;
        // What cannot be written was said before.
        let _ = self.behind_of(kind);
        self.depth -= 1;
    }

    fn behind_of(&mut self, kind: u32) -> Option<()> {
        let (leaf, mut fields) = self.get(kind)?;
        let inner = fields.u32()?;
        match leaf {
            LF_POINTER => {
                if self.get(inner).is_some_and(|(leaf, _)| has_part_behind(leaf)) {
                    self.text.push(')');
                }
                self.behind(inner);
            }
            LF_MODIFIER => self.behind(inner),
            LF_PROCEDURE | LF_MFUNCTION => {
                self.arguments_of(kind)?;
                self.behind(inner);
            }
            LF_ARRAY => {
                fields.skip(4)?;
                let (whole, element) = (numeric(&mut fields)?, self.types.size(inner, 0).unwrap_or(0));
                self.text.push_str(&match whole.checked_div(element) {
                    Some(count) => format!("[{count}]"),
                    None => "[]".to_owned(),
                });
                self.behind(inner);
            }
            _ => {}
        }
        Some(())
    }

    /// The list of arguments of a function's type.
    fn arguments_of(&mut self, function: u32) -> Option<()> {
        let (leaf, mut fields) = self.get(function)?;
        fields.skip(match leaf {
            LF_PROCEDURE => 8,
            LF_MFUNCTION => 16,
            _ => return None,
        })?;
        let (leaf, mut list) = self.get(fields.u32()?)?;
        if leaf != LF_ARGLIST {
            return None;
        }
        let count = list.u32()?;
        self.text.push('(');
        for number in 0..count {
            let Some(argument) = list.u32() else { break };
            if number > 0 {
                self.text.push_str(", ");
            }
            if !self.may_go_on() {
                self.text.push_str("...");
                break;
            }
            if argument == 0 {
                // Further arguments of any type.
                self.text.push_str("...");
            } else {
                self.whole(argument);
            }
        }
        self.text.push(')');
        Some(())
    }

    fn name(&mut self, fields: &mut Fields<'_>) -> Option<()> {
        self.text.push_str(&String::from_utf8_lossy(fields.text()?));
        Some(())
    }

    fn qualifiers(&mut self, is_const: bool, is_volatile: bool) {
        for (word, there) in [("const", is_const), ("volatile", is_volatile)] {
            if there {
                if !self.text.ends_with(['*', '&']) {
                    self.text.push(' ');
                }
                self.text.push_str(word);
            }
        }
    }

    fn built_in(&mut self, kind: u32) {
        // A near pointer of 16 bits to nothing stands for the type of `nullptr`.
        if kind == 0x103 {
            return self.text.push_str("std::nullptr_t");
        }
        self.text.push_str(match kind & 0xff {
            0x03 => "void",
            0x08 => "HRESULT",
            0x10 | 0x68 => "signed char",
            0x20 | 0x69 => "unsigned char",
            0x70 => "char",
            0x71 => "wchar_t",
            0x7a => "char16_t",
            0x7b => "char32_t",
            0x7c => "char8_t",
            0x11 | 0x72 => "short",
            0x21 | 0x73 => "unsigned short",
            0x12 => "long",
            0x22 => "unsigned long",
            0x74 => "int",
            0x75 => "unsigned int",
            0x13 | 0x76 => "__int64",
            0x23 | 0x77 => "unsigned __int64",
            0x14 | 0x78 => "__int128",
            0x24 | 0x79 => "unsigned __int128",
            0x30..=0x34 => "bool",
            0x40 | 0x45 => "float",
            0x41 => "double",
            0x42 => "long double",
            0x46 => "_Float16",
            _ => "?",
        });
        if kind & 0xf00 != 0 {
            self.text.push_str(" *");
        }
    }
}

fn built_in_size(kind: u32) -> Option<u64> {
    match (kind >> 8 & 0xf, kind & 0xff) {
        (0, 0x10 | 0x20 | 0x30 | 0x68 | 0x69 | 0x70 | 0x7c) => Some(1),
        (0, 0x11 | 0x21 | 0x31 | 0x46 | 0x71..=0x73 | 0x7a) => Some(2),
        (0, 0x08 | 0x12 | 0x22 | 0x32 | 0x40 | 0x45 | 0x74 | 0x75 | 0x7b) => Some(4),
        (0, 0x13 | 0x23 | 0x33 | 0x41 | 0x76 | 0x77) => Some(8),
        (0, 0x42) => Some(10),
        (0, 0x14 | 0x24 | 0x34 | 0x78 | 0x79) => Some(16),
        (4, _) => Some(4),
        (6, _) => Some(8),
        _ => None,
    }
}

/// A number of the width that its first two bytes say.
fn numeric(fields: &mut Fields<'_>) -> Option<u64> {
    Some(match fields.u16()? {
        small @ 0..0x8000 => small.into(),
        0x8000 => fields.array::<1>()?[0].into(),
        0x8001 | 0x8002 => fields.u16()?.into(),
        0x8003 | 0x8004 => fields.u32()?.into(),
        0x8009 | 0x800a => u64::from_le_bytes(fields.array()?),
        _ => return None,
    })
}
