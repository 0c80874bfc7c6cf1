//! As much of XML as a recording profile needs.

use xml::writer::{EmitterConfig, EventWriter, XmlEvent};

/// A document that grows from its beginning to its end, one element per line.
pub(super) struct Document {
    writer: EventWriter<Vec<u8>>,
}

impl Document {
    pub(super) fn new() -> Self {
        let config = EmitterConfig::new().perform_indent(true).pad_self_closing(false);
        Self { writer: config.create_writer(Vec::new()) }
    }

    /// Writes an element with what `inside` writes into it; without anything inside it is an empty one.
    pub(super) fn element(&mut self, name: &'static str, attributes: &[(&str, &str)], inside: impl FnOnce(&mut Self)) {
        // An XML document may not have most control characters, not even escaped.
        let values: Vec<String> =
            attributes.iter().map(|(_, value)| value.chars().filter(|c| !c.is_control()).collect()).collect();
        let start = XmlEvent::start_element(name);
        let start = attributes.iter().zip(&values).fold(start, |start, ((key, _), value)| start.attr(*key, value));
        self.write(start);
        inside(self);
        self.write(XmlEvent::end_element());
    }

    /// An element of which only a value is of interest.
    pub(super) fn value(&mut self, name: &'static str, value: &str) {
        self.element(name, &[("Value", value)], |_| {});
    }

    pub(super) fn finish(self) -> String {
        let mut text = String::from_utf8_lossy(&self.writer.into_inner()).into_owned();
        text.push('\n');
        text
    }

    fn write<'a>(&mut self, event: impl Into<XmlEvent<'a>>) {
        // A vector takes all bytes, and `element` closes only an element that it opened. So no error is possible.
        let _ = self.writer.write(event);
    }
}
