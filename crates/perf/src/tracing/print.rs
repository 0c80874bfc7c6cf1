//! Reads a tracepoint's `print fmt`: numbers that are addresses or bits, and numbers that have
//! names.
//!
//! The kernel's own text is C: a format, then an expression per conversion. Only expressions that show a field as it is are used
//! (`REC->vec`, with casts); whatever is more than that says nothing here, and the field stays a plain number.

use super::constant::{behind_cast, evaluate};

/// Longest text that is read; those of the kernel have some ten thousand bytes.
const MAX_LENGTH: usize = 1 << 18;
/// Expressions and lists of names of one format, and names of one list, at most.
const MAX_ARGUMENTS: usize = 256;
const MAX_NAMES: usize = 1024;

/// What is told of the fields of one format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintFormat {
    fields: Vec<(String, FieldPrint)>,
}

/// What is told of one field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldPrint {
    /// How it is written.
    pub style: Style,
    /// Names of its values.
    pub names: Option<Names>,
}

/// How a field is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As its type has it.
    #[default]
    Plain,
    /// In hexadecimal: `%x`, and pointers and symbols (`%p`, `%pS`).
    Hex,
    /// As a text: `%s`.
    Text,
    /// As an address of IPv4: `%pI4`.
    Ipv4,
    /// As an address of IPv6: `%pI6`.
    Ipv6,
}

/// Names of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// Of whole values (`__print_symbolic`).
    Symbols(Vec<(u64, String)>),
    /// Of bits and groups of bits (`__print_flags`).
    Flags {
        /// The bits of the field that the names are about.
        mask: u64,
        /// The names; those of groups stand before those of their bits.
        names: Vec<(u64, String)>,
    },
}

impl Names {
    /// Writes the names of a value; whether it has any. Bits without a name are written in hexadecimal behind those with one.
    pub fn write(&self, value: u64, out: &mut String) -> bool {
        use std::fmt::Write as _;
        match self {
            Self::Symbols(_) => self.symbol(value).is_some_and(|name| {
                out.push_str(name);
                true
            }),
            Self::Flags { mask, names } => {
                let mut left = value & mask;
                let mut any = false;
                for (bits, name) in names.iter().filter(|(bits, _)| *bits != 0) {
                    if left & bits == *bits {
                        left &= !bits;
                        out.push_str(if any { "|" } else { "" });
                        out.push_str(name);
                        any = true;
                    }
                }
                if any && left != 0 {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "|{left:#x}");
                }
                any
            }
        }
    }

    /// The name of a whole value.
    #[must_use]
    pub fn symbol(&self, value: u64) -> Option<&str> {
        match self {
            Self::Symbols(names) => names.iter().find(|(known, _)| *known == value).map(|(_, name)| name.as_str()),
            Self::Flags { .. } => None,
        }
    }
}

impl PrintFormat {
    /// Reads a `print fmt`; what it does not understand, it leaves out.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut format = Self::default();
        if text.len() > MAX_LENGTH {
            return format;
        }
        let Some((conversions, arguments)) = string(text.trim_start()) else { return format };
        let arguments = list(arguments.trim_start().strip_prefix(',').unwrap_or_default());
        for (style, argument) in styles(conversions).zip(&arguments) {
            if let Some(field) = style.filter(|style| *style != Style::Plain).and_then(|_| field(argument)) {
                format.of_mut(field).style = style.unwrap_or_default();
            }
        }
        for argument in &arguments {
            for (field, names) in name_lists(argument) {
                format.of_mut(field).names.get_or_insert(names);
            }
        }
        format
    }

    /// What is told of a field.
    #[must_use]
    pub fn of(&self, field: &str) -> Option<&FieldPrint> {
        self.fields.iter().find(|(name, _)| name == field).map(|(_, print)| print)
    }

    fn of_mut(&mut self, field: &str) -> &mut FieldPrint {
        let known = self.fields.iter().position(|(name, _)| name == field);
        let index = known.unwrap_or_else(|| {
            self.fields.push((field.to_owned(), FieldPrint::default()));
            self.fields.len() - 1
        });
        &mut self.fields[index].1
    }
}

/// The inside of a string literal, and what stands behind it.
fn string(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut escaped = false;
    let end = inside.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })?;
    Some((inside.get(..end)?, inside.get(end + 1..)?))
}

/// The parts between the commas that stand in no parentheses and no string, up to the parenthesis that ends the list.
fn list(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut quoted, mut escaped) = (0_usize, 0, false, false);
    let mut parts = Vec::new();
    let mut end = text.len();
    for (at, byte) in text.bytes().enumerate() {
        if quoted {
            quoted = byte != b'"' || escaped;
            escaped = byte == b'\\' && !escaped;
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => match depth.checked_sub(1) {
                Some(outer) => depth = outer,
                None => {
                    end = at;
                    break;
                }
            },
            b',' if depth == 0 => {
                parts.push(text.get(start..at).unwrap_or_default().trim());
                start = at + 1;
                if parts.len() >= MAX_NAMES + 2 {
                    return parts;
                }
            }
            _ => {}
        }
    }
    parts.push(text.get(start..end).unwrap_or_default().trim());
    parts
}

/// How each argument of a format is written; `None` for the widths among them.
fn styles(format: &str) -> impl Iterator<Item = Option<Style>> {
    let mut rest = format;
    let mut waiting: Option<Style> = None;
    std::iter::from_fn(move || {
        if let Some(style) = waiting.take() {
            return Some(Some(style));
        }
        loop {
            rest = rest.get(rest.find('%')? + 1..)?;
            if let Some(behind) = rest.strip_prefix('%') {
                rest = behind;
                continue;
            }
            let modified = rest.trim_start_matches(|c: char| c.is_ascii_digit() || " -+#.*'hlLqjzt".contains(c));
            let modifiers = rest.get(..rest.len() - modified.len())?;
            let conversion = modified.chars().next()?;
            rest = modified.get(conversion.len_utf8()..)?;
            let style = match conversion {
                'x' | 'X' => Style::Hex,
                's' => Style::Text,
                'p' => {
                    let behind = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
                    let kind = rest.get(..rest.len() - behind.len())?;
                    rest = behind;
                    match kind {
                        "I4" | "i4" => Style::Ipv4,
                        "I6" | "I6c" | "i6" => Style::Ipv6,
                        "" | "x" | "K" | "S" | "s" | "f" | "F" | "B" | "SR" | "Sb" => Style::Hex,
                        _ => Style::Plain,
                    }
                }
                _ => Style::Plain,
            };
            if modifiers.contains('*') {
                waiting = Some(style);
                return Some(None);
            }
            return Some(Some(style));
        }
    })
    .take(MAX_ARGUMENTS)
}

/// The field that an expression shows as it is: `((unsigned long)(REC->fd))`, `REC->args[0]`.
fn field(expression: &str) -> Option<&str> {
    let mut text = expression.trim();
    loop {
        if let Some(behind) = behind_cast(text) {
            text = behind;
            continue;
        }
        match text.strip_prefix('(').and_then(|inside| inside.strip_suffix(')')) {
            Some(inside) => text = inside.trim(),
            None => break,
        }
    }
    let name = text.strip_prefix("REC->")?.trim();
    let name = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        Some((name, index)) if index.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) => return None,
        None => name,
    };
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then_some(name)
}

/// Fields with the names that `__print_symbolic` and `__print_flags` give to their values.
fn name_lists(argument: &str) -> impl Iterator<Item = (&str, Names)> {
    const CALLS: [(&str, bool); 4] = [
        ("__print_symbolic(", false),
        ("__print_symbolic_u64(", false),
        ("__print_flags(", true),
        ("__print_flags_u64(", true),
    ];
    let found = CALLS.into_iter().flat_map(move |(call, is_flags)| {
        argument.match_indices(call).map(move |(at, _)| (at + call.len(), is_flags)).take(4)
    });
    found.filter_map(move |(start, is_flags)| {
        let parts = list(argument.get(start..)?);
        let (first, entries) = parts.split_first()?;
        if !is_flags {
            return Some((field(first)?, Names::Symbols(entries.iter().filter_map(|entry| named(entry)).collect())));
        }
        let (shown, mask) = match field(first) {
            Some(field) => (field, u64::MAX),
            None => {
                let (left, mask) = first.split_once('&')?;
                (field(left)?, evaluate(mask)?)
            }
        };
        let (_separator, entries) = entries.split_first()?;
        Some((shown, Names::Flags { mask, names: entries.iter().filter_map(|entry| named(entry)).collect() }))
    })
}

/// `{ 0x01, "S" }`
fn named(entry: &str) -> Option<(u64, String)> {
    let inside = entry.strip_prefix('{')?.strip_suffix('}')?;
    let [number, name] = list(inside)[..] else { return None };
    Some((evaluate(number)?, string(name)?.0.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{Names, PrintFormat, Style};

    fn names(format: &PrintFormat, field: &str, value: u64) -> String {
        let mut text = String::new();
        format.of(field).expect("the field").names.as_ref().expect("names").write(value, &mut text);
        text
    }

    #[test]
    fn styles_and_names_are_found() {
        let format = PrintFormat::parse(
            r#""vec=%u [action=%s] at 0x%08lx %*ph %pI4 (%s) 100%% %lx", REC->vec, __print_symbolic(REC->vec, { 0, "HI, (or \"so\")" }, { 1, "TIMER" }, { NAMELESS, "?" }), ((unsigned long)(REC->address)), 4, REC->bytes, REC->saddr, __get_str(name), REC->args[0]"#,
        );
        assert_eq!(names(&format, "vec", 0), r#"HI, (or \"so\")"#);
        assert_eq!(names(&format, "vec", 1), "TIMER");
        assert_eq!(names(&format, "vec", 2), "");
        let style = |field: &str| format.of(field).map(|print| print.style);
        assert_eq!(style("address"), Some(Style::Hex));
        assert_eq!(style("saddr"), Some(Style::Ipv4));
        assert_eq!(style("args"), Some(Style::Hex));
        assert_eq!(style("bytes"), None);
    }

    #[test]
    fn bits_have_their_names_and_nothing_is_lost() {
        let format = PrintFormat::parse(
            r#""%s%s", (REC->state & 0xff) ? __print_flags(REC->state & (0x80 * 2 - 1), "|", { 3, "SD" }, { 1, "S" }) : "R", __print_flags(REC->gfp, "", { 0x40, "A" })"#,
        );
        assert_eq!(names(&format, "state", 0x101), "S");
        assert_eq!(names(&format, "state", 3), "SD");
        assert_eq!(names(&format, "state", 0), "");
        assert_eq!(names(&format, "gfp", 0xc0), "A|0x80");
        assert!(matches!(
            format.of("state").and_then(|print| print.names.as_ref()),
            Some(Names::Flags { mask: 255, .. })
        ));
    }

    #[test]
    fn no_text_is_too_strange() {
        let deep = format!("\"%s\", {}", "__print_flags(".repeat(1 << 12));
        for text in ["", "\"", "\"%", "\"%l", "\"%p", "\"%s\"", "\"%s\", )", "\"%s\", __print_symbolic(", &deep] {
            let _ = PrintFormat::parse(text);
        }
        assert_eq!(PrintFormat::parse(&"\"%x\", REC->a".repeat(1 << 18)), PrintFormat::default());
    }
}
