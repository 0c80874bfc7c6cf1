//! One value as text for people.

use std::borrow::Cow;

use tracesift_ask::answer::{Kind, Value};
use tracesift_ask::time_format::{TimeStyle, Zero, decimal};
pub(crate) use tracesift_report::numbers::grouped;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Sizes below this one are shown in bytes.
const LARGE: u64 = 100 << 10;

/// How the values of a column are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    kind: Kind,
    /// Sizes are in KiB, not in bytes.
    in_kibibytes: bool,
}

impl From<Kind> for Form {
    /// Sizes in bytes.
    fn from(kind: Kind) -> Self {
        Self { kind, in_kibibytes: false }
    }
}

impl Form {
    /// Of values that stand in one column: sizes have one unit, which the largest of them chooses.
    pub(crate) fn of<'v>(kind: Kind, values: impl Iterator<Item = &'v Value>) -> Self {
        if kind != Kind::Bytes {
            return kind.into();
        }
        let sizes = values.map(|value| if let Value::Int(size) = value { size.unsigned_abs() } else { 0 });
        Self { kind, in_kibibytes: sizes.max().is_some_and(|largest| largest >= LARGE) }
    }

    /// The unit in a table's header.
    pub(crate) fn unit(self) -> &'static str {
        match self.kind {
            Kind::Seconds => "s",
            Kind::Milliseconds => "ms",
            Kind::Microseconds => "µs",
            Kind::Bytes if self.in_kibibytes => "KiB",
            Kind::Bytes => "B",
            _ => "",
        }
    }
}

/// The text of a value in a table.
pub(crate) fn text(value: &Value, form: impl Into<Form>, time: TimeStyle, zero: Option<Zero>) -> String {
    let form = form.into();
    let kind = form.kind;
    match value {
        Value::None => String::new(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.to_owned(),
        Value::Int(value) => number(*value, form, time, zero),
        Value::Float(value) if !value.is_finite() => String::new(),
        Value::Float(value) => {
            let digits = if let Kind::Number(digits) = kind { digits } else { 3 };
            grouped(&format!("{value:.*}", usize::from(digits)))
        }
        Value::Text(value) => clean(value).into_owned(),
        Value::Integers(values) => {
            values.iter().map(|value| number(*value, form, time, zero)).collect::<Vec<_>>().join(", ")
        }
        Value::List(values) => clean(&values.join("; ")).into_owned(),
        Value::Map(values) => {
            let parts: Vec<String> = values
                .iter()
                .map(|(key, value)| format!("{} {}", clean(key), text(value, Kind::Count, time, zero)))
                .collect();
            parts.join(", ")
        }
        Value::Table(table) => format!("{} rows", table.rows.len()),
    }
}

fn number(value: i64, form: Form, time: TimeStyle, zero: Option<Zero>) -> String {
    match form.kind {
        Kind::Id => value.to_string(),
        Kind::Time => time.show(value, zero),
        Kind::Seconds => grouped(&decimal(value, 9, time.digits)),
        Kind::Milliseconds => grouped(&decimal(value, 6, 1)),
        Kind::Microseconds => grouped(&decimal(value, 3, 1)),
        Kind::Bytes if form.in_kibibytes => grouped(&format!("{:.1}", value as f64 / 1024.0)),
        _ => grouped(&value.to_string()),
    }
}

/// Whether a column of this kind is right aligned.
pub(crate) fn is_right_aligned(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::Text
            | Kind::LongText
            | Kind::Tree
            | Kind::Bool
            | Kind::List
            | Kind::Integers
            | Kind::Map
            | Kind::Table
            | Kind::Below
    )
}

/// A name from a recording, safe for a terminal: without control characters, escape sequences and marks that turn the
/// direction of writing. Line breaks and tabs become blanks.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    // Nearly all names are plain, and there may be a million of them.
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if is_plain || !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let kept = text.chars().filter_map(|c| match c {
        '\n' | '\r' | '\t' => Some(' '),
        c if is_unsafe(c) => None,
        c => Some(c),
    });
    Cow::Owned(kept.collect())
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Columns that a text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// The text cut to a width, with `…` at the cut.
pub(crate) fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width || width == 0 {
        return Cow::Borrowed(if width == 0 { "" } else { text });
    }
    if width == 0 {
        return Cow::Borrowed("");
    }
    let mut used = 0;
    let kept: String = text
        .chars()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used < width
        })
        .collect();
    Cow::Owned(format!("{kept}…"))
}

/// The text cut to a width, with `…` where its middle was: of `module!function` the module and the end of the function stay.
pub(crate) fn cut_middle(text: &str, width: usize) -> Cow<'_, str> {
    if self::width(text) <= width {
        return Cow::Borrowed(text);
    }
    let room = width.saturating_sub(1);
    // A module is worth up to half of the room.
    let module = text.find('!').map(|at| self::width(&text[..=at])).filter(|module| *module <= room / 2);
    let head = module.unwrap_or(room / 3);
    let taken = |chars: &mut dyn Iterator<Item = char>, room: usize| {
        let mut used = 0;
        chars
            .take_while(|c| {
                used += c.width().unwrap_or(0);
                used <= room
            })
            .collect::<Vec<char>>()
    };
    let start: String = taken(&mut text.chars(), head).into_iter().collect();
    let end: String = taken(&mut text.chars().rev(), room.saturating_sub(head)).into_iter().rev().collect();
    if width == 0 { Cow::Borrowed("") } else { Cow::Owned(format!("{start}…{end}")) }
}

/// The line of a tree cut to a width: its branches stay, its name loses its middle.
pub(crate) fn cut_tree(text: &str, width: usize) -> Cow<'_, str> {
    if self::width(text) <= width {
        return Cow::Borrowed(text);
    }
    let is_branch = |c: char| matches!(c, ' ' | '│' | '├' | '└' | '─');
    let name = text.trim_start_matches(is_branch);
    let branches = &text[..text.len() - name.len()];
    let left = width.saturating_sub(self::width(branches));
    // Branches alone would be a line without a name.
    if left < 4 { cut(text, width) } else { Cow::Owned(format!("{branches}{}", cut_middle(name, left))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        let show = |value, kind| text(&value, kind, TimeStyle::default(), None);
        assert_eq!(show(Value::Int(1_234_567_890), Kind::Milliseconds), "1,234.6");
        assert_eq!(show(Value::Int(-1_234_567), Kind::Count), "-1,234,567");
        assert_eq!(show(Value::Int(123), Kind::Count), "123");
        assert_eq!(show(Value::Int(123_456), Kind::Id), "123456");
        assert_eq!(show(Value::Int(61_500_000_000), Kind::Seconds), "61.500");
        assert_eq!(show(Value::Float(8.25), Kind::Number(1)), "8.2");
        assert_eq!(show(Value::Float(f64::NAN), Kind::Number(1)), "");
    }

    #[test]
    fn the_largest_size_chooses_the_unit() {
        let show = |sizes: &[i64]| {
            let sizes: Vec<Value> = sizes.iter().map(|size| Value::Int(*size)).collect();
            let form = Form::of(Kind::Bytes, sizes.iter());
            let texts: Vec<String> = sizes.iter().map(|size| text(size, form, TimeStyle::default(), None)).collect();
            format!("{} {}", texts.join(" "), form.unit())
        };
        assert_eq!(show(&[1, 102_399]), "1 102,399 B");
        assert_eq!(show(&[1, 4096, 102_400]), "0.0 4.0 100.0 KiB");
        assert_eq!(show(&[-285_630_464]), "-278,936.0 KiB");
        assert_eq!(show(&[i64::MIN]), "-9,007,199,254,740,992.0 KiB");
    }

    #[test]
    fn names_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\u{7}\n\u{202e}c\u{9b}d"), "a[31mb cd");
        assert!(matches!(clean("plain ü 中"), Cow::Borrowed(_)));
    }

    #[test]
    fn cuts_in_the_middle() {
        assert_eq!(cut_middle("ntdll.dll!RtlpAllocateHeapInternal", 24), "ntdll.dll!…eHeapInternal");
        assert_eq!(cut_middle("ntdll.dll!RtlpAllocateHeap", 12), "ntd…cateHeap");
        assert_eq!(cut_middle("abcdef", 6), "abcdef");
        assert_eq!(cut_middle("abcdef", 1), "…");
        assert_eq!(cut_middle("abcdef", 0), "");
        for width in 0..12 {
            assert!(super::width(&cut_middle("中文!中文中文中文", width)) <= width);
            assert!(super::width(&cut_tree("│ ├ a.dll!function", width)) <= width);
        }
        assert_eq!(cut_tree("│ ├ a.dll!function_of_mine", 18), "│ ├ a.dll!…of_mine");
    }

    #[test]
    fn cuts_by_columns() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("中中中", 4), "中…");
        assert_eq!(cut("abc", 3), "abc");
    }
}
