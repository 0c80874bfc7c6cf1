//! As much of XML as a recording profile needs.

use std::fmt::Write as _;

/// A document that grows from its beginning to its end, one element per line.
#[derive(Debug)]
pub(super) struct Document {
    text: String,
    open: Vec<&'static str>,
}

impl Document {
    pub(super) fn new() -> Self {
        Self { text: "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n".to_owned(), open: Vec::new() }
    }

    /// Writes an element with what `inside` writes into it; without anything inside it is an empty one.
    pub(super) fn element(&mut self, name: &'static str, attributes: &[(&str, &str)], inside: impl FnOnce(&mut Self)) {
        let indent = "  ".repeat(self.open.len());
        let _ = write!(self.text, "{indent}<{name}");
        for (key, value) in attributes {
            let _ = write!(self.text, " {key}=\"{}\"", escaped(value));
        }
        self.text.push_str(">\n");
        let begun = self.text.len();
        self.open.push(name);
        inside(self);
        self.open.pop();
        if self.text.len() == begun {
            self.text.truncate(begun - ">\n".len());
            self.text.push_str("/>\n");
        } else {
            let _ = writeln!(self.text, "{indent}</{name}>");
        }
    }

    /// An element of which only a value is of interest.
    pub(super) fn value(&mut self, name: &'static str, value: &str) {
        self.element(name, &[("Value", value)], |_| {});
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}
