//! The records of a Breakpad symbol file: one a line, a keyword (none for lines of source), then fields between spaces; the last one may
//! have spaces itself. Addresses and sizes are hexadecimal, all other numbers decimal. Documented in Breakpad's
//! `docs/symbol_files.md`.

use std::str::FromStr as _;

use crate::identity::{Guid, PdbId};

/// What Microsoft's compilers write for code without a line.
const NO_LINES: [u32; 2] = [0xf0_0f00, 0xfe_efee];

/// Code from an address on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Record<'a> {
    File {
        number: u32,
        path: &'a str,
    },
    InlineOrigin {
        number: u32,
        name: &'a str,
    },
    /// Lines and inlined calls that follow belong to it.
    Function {
        code: Code,
        name: &'a str,
    },
    Inline(Inline<'a>),
    Line(Line),
    Public {
        address: u64,
        name: &'a str,
    },
    /// Nothing that names code, or a line that is not understood.
    Other,
    /// A function that is not understood: what belongs to it must not go to the one before it.
    Lost,
}

/// A function that was inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inline<'a> {
    /// 0: into the function itself; 1: into what was inlined there; and so on.
    pub(super) level: usize,
    /// Source line of the call.
    pub(super) call_line: u32,
    /// File of the call.
    pub(super) call_file: u32,
    /// The function, as an `INLINE_ORIGIN`.
    pub(super) origin: u32,
    /// Its code: pairs of address and size.
    ranges: &'a str,
}

/// Code of one source line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) code: Code,
    pub(super) line: u32,
    pub(super) file: u32,
}

/// Takes field after field off a record.
struct Fields<'a>(&'a str);

impl<'a> Fields<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let rest = self.0.trim_start_matches(' ');
        let (field, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        self.0 = rest;
        (!field.is_empty()).then_some(field)
    }

    /// What is left, as one field.
    fn rest(&self) -> Option<&'a str> {
        let rest = self.0.trim_matches(' ');
        (!rest.is_empty()).then_some(rest)
    }

    fn hex(&mut self) -> Option<u64> {
        u64::from_str_radix(self.next()?, 16).ok()
    }

    /// A line of source, 0 for none: that is how code is marked which debuggers step over.
    fn line(&mut self) -> Option<u32> {
        let number = self.next()?.parse::<i64>().ok()?;
        Some(u32::try_from(number).ok().filter(|line| !NO_LINES.contains(line)).unwrap_or(0))
    }

    fn code(&mut self) -> Option<Code> {
        let (start, size) = (self.hex()?, self.hex()?);
        Some(Code { start, end: start.checked_add(size)? })
    }

    /// `m`: the code is shared by several functions.
    fn skip_multiple(&mut self) {
        self.0 = self.0.strip_prefix("m ").unwrap_or(self.0);
    }
}

/// The identity in the first line: `MODULE` system, processor, GUID and age, name.
pub(super) fn module(line: &str) -> Option<PdbId> {
    let mut fields = Fields(line.strip_prefix("MODULE ")?);
    let (_system, _processor, digits) = (fields.next()?, fields.next()?, fields.next()?);
    let (guid, age) = digits.split_at_checked(32)?;
    Some(PdbId {
        guid: Guid::from_str(guid).ok()?,
        age: u32::from_str_radix(age, 16).ok()?,
        name: fields.rest()?.to_owned(),
    })
}

/// Understands a line.
pub(super) fn record(line: &str) -> Record<'_> {
    let (keyword, rest) = line.split_once(' ').unwrap_or((line, ""));
    let mut fields = Fields(rest);
    let known = match keyword {
        "FILE" => file(&mut fields),
        "INLINE_ORIGIN" => inline_origin(&mut fields),
        "FUNC" => Some(function(&mut fields).unwrap_or(Record::Lost)),
        "INLINE" => inline(&mut fields).map(Record::Inline),
        "PUBLIC" => public(&mut fields),
        "MODULE" | "INFO" | "STACK" => None,
        _ => source_line(&mut Fields(line)).map(Record::Line),
    };
    known.unwrap_or(Record::Other)
}

fn file<'a>(fields: &mut Fields<'a>) -> Option<Record<'a>> {
    Some(Record::File { number: fields.next()?.parse().ok()?, path: fields.rest()? })
}

fn inline_origin<'a>(fields: &mut Fields<'a>) -> Option<Record<'a>> {
    Some(Record::InlineOrigin { number: fields.next()?.parse().ok()?, name: fields.rest()? })
}

fn function<'a>(fields: &mut Fields<'a>) -> Option<Record<'a>> {
    fields.skip_multiple();
    let code = fields.code()?;
    let _parameter_bytes = fields.next()?;
    Some(Record::Function { code, name: fields.rest()? })
}

fn inline<'a>(fields: &mut Fields<'a>) -> Option<Inline<'a>> {
    Some(Inline {
        level: fields.next()?.parse().ok()?,
        call_line: fields.line()?,
        call_file: fields.next()?.parse().ok()?,
        origin: fields.next()?.parse().ok()?,
        ranges: fields.rest()?,
    })
}

fn source_line(fields: &mut Fields<'_>) -> Option<Line> {
    Some(Line { code: fields.code()?, line: fields.line()?, file: fields.next()?.parse().ok()? })
}

fn public<'a>(fields: &mut Fields<'a>) -> Option<Record<'a>> {
    fields.skip_multiple();
    let address = fields.hex()?;
    let _parameter_bytes = fields.next()?;
    Some(Record::Public { address, name: fields.rest()? })
}

impl Inline<'_> {
    /// Its code, as far as it is understood.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Code> {
        let mut fields = Fields(self.ranges);
        std::iter::from_fn(move || fields.code())
    }
}

#[cfg(test)]
mod tests {
    use super::{Code, Inline, Line, Record, module, record};

    #[test]
    fn records_are_understood() {
        let code = Code { start: 0x10, end: 0x14 };
        assert_eq!(record("FILE 3 c:\\a b.cc"), Record::File { number: 3, path: "c:\\a b.cc" });
        assert_eq!(
            record("INLINE_ORIGIN 7 A::f(int, char)"),
            Record::InlineOrigin { number: 7, name: "A::f(int, char)" }
        );
        assert_eq!(record("FUNC 10 4 8 f(int, int)"), Record::Function { code, name: "f(int, int)" });
        assert_eq!(record("FUNC m 10 4 8 m"), Record::Function { code, name: "m" });
        assert_eq!(record("10 4 77 3"), Record::Line(Line { code, line: 77, file: 3 }));
        assert_eq!(record("10 4 15732480 3"), Record::Line(Line { code, line: 0, file: 3 }));
        assert_eq!(record("PUBLIC m 10 0 g"), Record::Public { address: 0x10, name: "g" });
        let inline = Inline { level: 1, call_line: 55, call_file: 2, origin: 7, ranges: "10 4 20 8" };
        assert_eq!(inline.ranges().collect::<Vec<_>>(), [code, Code { start: 0x20, end: 0x28 }]);
        assert_eq!(record("INLINE 1 55 2 7 10 4 20 8"), Record::Inline(inline));
    }

    #[test]
    fn what_is_not_understood_costs_itself_only() {
        for line in [
            "",
            "STACK WIN 4 1000 114",
            "INFO CODE_ID 5AB3",
            "FILE x y",
            "INLINE 0 1 2 3",
            "10 4 77",
            "zz 4 77 3",
            "PUBLIC 10 0",
        ] {
            assert_eq!(record(line), Record::Other, "{line}");
        }
        for line in ["FUNC", "FUNC 10 4 0", "FUNC ffffffffffffffff 1 0 f", "FUNC x 4 0 f"] {
            assert_eq!(record(line), Record::Lost, "{line}");
        }
    }

    #[test]
    fn the_first_line_says_what_it_belongs_to() {
        let id = module("MODULE windows x86 3249D99D0C4049318610F4E4FB0B69361a a b.pdb").expect("an identity");
        assert_eq!((id.name.as_str(), id.age), ("a b.pdb", 0x1a));
        assert_eq!(id.guid.digits(), "3249D99D0C4049318610F4E4FB0B6936");
        for line in ["MODULE windows x86 3249D99D0C4049318610F4E4FB0B6936 a.pdb", "MODULE a b é c", "<html>", ""] {
            assert_eq!(module(line), None, "{line}");
        }
    }
}
