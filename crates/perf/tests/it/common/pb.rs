//! Reads protobuf text as far as the reference decodes use it.

#![allow(dead_code, reason = "each test uses another part")]

/// A message: its fields in order.
#[derive(Debug, Default)]
pub(crate) struct Message(pub(crate) Vec<(String, Value)>);

#[derive(Debug)]
pub(crate) enum Value {
    /// A number, `true`, `false` or the bytes of a text, in one writing for all.
    Plain(String),
    Nested(Message),
}

impl Message {
    pub(crate) fn parse(text: &str) -> Self {
        let mut open = vec![(String::new(), Message::default())];
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(name) = line.strip_suffix(" {") {
                open.push((name.to_owned(), Message::default()));
            } else if line == "}" {
                let (name, message) = open.pop().expect("a message");
                open.last_mut().expect("the outer one").1.0.push((name, Value::Nested(message)));
            } else {
                let (name, value) = line.split_once(": ").expect("a field");
                let value = value.strip_prefix('"').map_or_else(|| value.to_owned(), |text| plain(&unescape(text)));
                open.last_mut().expect("the outer one").1.0.push((name.to_owned(), Value::Plain(value)));
            }
        }
        open.pop().expect("the whole").1
    }

    /// The messages of that name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Message> {
        self.0.iter().filter_map(move |(known, value)| match value {
            Value::Nested(message) if known == name => Some(message),
            _ => None,
        })
    }

    /// The plain values of that name.
    pub(crate) fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter_map(move |(known, value)| match value {
            Value::Plain(value) if known == name => Some(value.as_str()),
            _ => None,
        })
    }

    /// The first plain value of that name.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|(known, value)| match value {
            Value::Plain(value) if known == name => Some(value.as_str()),
            _ => None,
        })
    }

    /// All plain values with their paths, in order.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.collect("", &mut lines);
        lines
    }

    fn collect(&self, path: &str, lines: &mut Vec<String>) {
        for (name, value) in &self.0 {
            match value {
                Value::Plain(value) => lines.push(format!("{path}{name}: {value}")),
                Value::Nested(message) => message.collect(&format!("{path}{name}."), lines),
            }
        }
    }
}

/// Bytes in the writing that texts are compared in.
pub(crate) fn plain(bytes: &[u8]) -> String {
    format!("\"{}\"", bytes.escape_ascii())
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = text.strip_suffix('"').expect("a closing quote").bytes().peekable();
    let mut plain = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        match bytes.next().expect("an escape") {
            b'n' => plain.push(b'\n'),
            b'r' => plain.push(b'\r'),
            b't' => plain.push(b'\t'),
            digit @ b'0'..=b'7' => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit) = bytes.next_if(|byte| (b'0'..=b'7').contains(byte)) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                plain.push(value as u8);
            }
            other => plain.push(other),
        }
    }
    plain
}
