//! HTML text, piece by piece: elements with attributes, and text that stays text.

use std::fmt::{Display, Write as _};

use tracesift_export::escape::{push_xml, shorten};

/// Longer texts are cut: names out of recordings have no largest length.
const LONGEST: usize = 300;

/// A text that grows by elements.
#[derive(Debug, Default)]
pub(crate) struct Html {
    text: String,
}

/// An attribute: its name and its value.
pub(crate) type Attribute<'a> = (&'a str, &'a dyn Display);

impl Html {
    /// Opens an element.
    pub(crate) fn open(&mut self, name: &str, attributes: &[Attribute<'_>]) {
        self.tag(name, attributes);
        self.text.push('>');
    }

    /// Closes the element that was opened last.
    pub(crate) fn close(&mut self, name: &str) {
        let _ = write!(self.text, "</{name}>");
    }

    /// An element with text in it.
    pub(crate) fn element(&mut self, name: &str, attributes: &[Attribute<'_>], text: &str) {
        self.open(name, attributes);
        self.text(text);
        self.close(name);
    }

    /// An element of a picture, with nothing in it.
    pub(crate) fn shape(&mut self, name: &str, attributes: &[Attribute<'_>]) {
        self.tag(name, attributes);
        self.text.push_str("/>");
    }

    /// Text: nothing in it is a mark, and it is one line of a bounded length.
    pub(crate) fn text(&mut self, text: &str) {
        push_xml(&mut self.text, &shorten(text, LONGEST));
    }

    /// Text of this crate that is longer than a name.
    pub(crate) fn prose(&mut self, text: &str) {
        push_xml(&mut self.text, text);
    }

    /// What is HTML already.
    pub(crate) fn raw(&mut self, html: &str) {
        self.text.push_str(html);
    }

    /// A cell of a table that has a number: its text, and its value. Without a value the cell is empty.
    pub(crate) fn number(&mut self, value: Option<impl Display>, text: &str) {
        match value {
            Some(value) => self.element("td", &[("data-v", &value)], text),
            None => self.raw("<td></td>"),
        }
    }

    /// Heads of the columns of a table.
    pub(crate) fn heads(&mut self, heads: &[&str]) {
        self.raw("<thead><tr>");
        heads.iter().for_each(|head| self.element("th", &[("scope", &"col")], head));
        self.raw("</tr></thead>");
    }

    /// Its length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// The whole.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn tag(&mut self, name: &str, attributes: &[Attribute<'_>]) {
        let _ = write!(self.text, "<{name}");
        for (name, value) in attributes {
            let _ = write!(self.text, " {name}=\"");
            push_xml(&mut self.text, &shorten(&value.to_string(), LONGEST));
            self.text.push('"');
        }
    }
}

/// A place in a picture, with a tenth of its unit.
pub(crate) fn at(place: f64) -> String {
    let text = format!("{place:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{Html, at};

    #[test]
    fn names_stay_text() {
        let mut html = Html::default();
        html.element("td", &[("data-x", &"\"><script>")], "<script>'&\u{202e}\u{0}");
        assert_eq!(
            html.finish(),
            "<td data-x=\"&quot;&gt;&lt;script&gt;\">&lt;script&gt;&#39;&amp;\u{fffd}\u{fffd}</td>"
        );
    }

    #[test]
    fn places_are_short() {
        assert_eq!([at(1.0), at(1.25), at(-0.04)], ["1", "1.2", "-0"]);
    }
}
