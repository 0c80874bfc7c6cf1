//! A file of stack tags, read.
//!
//! Such files are written by hand, for another tool, and for years: what is not understood is passed over with a warning, as
//! the rest is still worth having. What would turn a rule into another one (a priority that is no number) is an error,
//! because the figures would look right and be wrong.

mod elements;
pub(crate) mod text;

use std::fmt;

use roxmltree::{Document, Error as Problem, Node, ParsingOptions};

use elements::Element;

/// Bytes of a file: many times what the largest ones have.
pub const MAX_BYTES: usize = 4 << 20;

/// Elements and texts of a file.
const MAX_NODES: u32 = 200_000;

/// Elements within each other.
const MAX_DEPTH: usize = 64;

/// Attributes of one element, about: the XML parser compares each with all others.
const MAX_ATTRIBUTES: usize = 100;

/// Bytes of a name with those of its parents, and of a pattern.
const MAX_TEXT: usize = 2_000;

/// Bytes of all names, each with those of its parents: a short file could make them long.
const MAX_NAME_BYTES: usize = 16 << 20;

/// Warnings that are kept; a file of another kind would have one per line.
const MAX_WARNINGS: usize = 100;

/// Whether tags within tags match only below them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nesting {
    /// As Windows Performance Analyzer reads files: being within another tag is a matter of names, except for tags that say `IsChild="true"`.
    #[default]
    Names,
    /// A tag within one that has entry points is its child, except for those that say `IsChild="false"`.
    Children,
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}; {}", FORMS)]
pub struct TagFileError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong there.
    pub problem: String,
}

/// What a file may have, in one line.
const FORMS: &str = "a file of stack tags is made of <Tag Name=\"…\" Priority=\"0\" IsChild=\"false\"> and <HintTag Name=\"…\" \
                     HintOperator=\"Callee\" OnlyShowModule=\"true\">, each with more tags and with <Entrypoint Module=\"…\" Method=\"…\"/> in it";

/// What was passed over in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagWarning {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What was passed over, and why.
    pub text: String,
}

impl fmt::Display for TagWarning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}: {}", self.file, self.line, self.column, self.text)
    }
}

/// What one file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// All tags that have a name, in the order of the file, whether they have entry points or not.
    pub(crate) tags: Vec<FileTag>,
    /// Tags with entry points, in the order of the file.
    pub(crate) rules: Vec<Rule>,
    pub(crate) warnings: Vec<TagWarning>,
}

/// A tag with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileTag {
    /// Full name: those of its parents and its own, with `\` in between.
    pub(crate) name: String,
    /// The tag whose name is in front: its place among the tags of the file.
    pub(crate) parent: Option<usize>,
}

/// A tag with entry points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Its place among the tags of the file.
    pub(crate) tag: usize,
    /// Its own priority, or for a child that says none its parent's.
    pub(crate) priority: i32,
    /// Whether it is a child that says no priority, and so takes over that of the tag whose frame it takes.
    pub(crate) takes_over: bool,
    /// Of a child, the rule below whose match it matches: its place among the rules of the file.
    pub(crate) parent: Option<usize>,
    /// Whether it names the neighbour of the frame that matches, too.
    pub(crate) hint: Option<Hint>,
    pub(crate) entry_points: Vec<EntryPoint>,
}

/// A hint tag: names are found in the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    pub(crate) operator: HintOperator,
    pub(crate) only_module: bool,
}

/// Which neighbour of the frame that matches gives a hint tag the rest of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HintOperator {
    /// The one that it called: the next one nearer to the leaf.
    Callee,
    /// The one that called it.
    Caller,
}

/// What a frame must be called, with wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryPoint {
    pub(crate) module: String,
    pub(crate) method: String,
}

/// Reads a file; `name` is what it is called in errors and warnings.
pub(crate) fn read(name: &str, content: &[u8], nesting: Nesting) -> Result<Content, TagFileError> {
    let error = |line, column, problem: String| TagFileError { file: name.to_owned(), line, column, problem };
    if content.len() > MAX_BYTES {
        return Err(error(1, 1, format!("the file has more than {} MiB", MAX_BYTES >> 20)));
    }
    let xml = text::decode(content).ok_or_else(|| error(1, 1, "the file is neither UTF-8 nor UTF-16".to_owned()))?;
    // No value can hold the mark that begins an element, so what stands between two of them bounds the attributes of one.
    if xml.split('<').any(|element| element.bytes().filter(|byte| *byte == b'=').count() > MAX_ATTRIBUTES) {
        return Err(error(1, 1, "an element has more attributes than any tag needs".to_owned()));
    }
    let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(&xml, options).map_err(|problem| {
        let (at, text) = (problem.pos(), problem.to_string());
        // The place is told in front.
        let text = format!("this is no well-formed XML: {}", text.strip_suffix(&format!(" at {at}")).unwrap_or(&text));
        let (line, column) = match problem {
            Problem::UnclosedRootNode | Problem::UnexpectedEndOfStream => text::end(&xml),
            _ => (at.row, at.col),
        };
        error(line, column, text)
    })?;
    let mut reader = Reader { file: name, document: &document, nesting, name_bytes: 0, content: Content::default() };
    reader.root(document.root_element())?;
    Ok(reader.content)
}

/// Where an element stands.
#[derive(Clone, Copy, Default)]
struct Above {
    /// The nearest tag around it that has a name, as its place among the tags.
    tag: Option<usize>,
    /// The nearest tag around it that has entry points, as its place among the rules.
    rule: Option<usize>,
    depth: usize,
}

struct Reader<'a> {
    file: &'a str,
    document: &'a Document<'a>,
    nesting: Nesting,
    name_bytes: usize,
    content: Content,
}

impl Reader<'_> {
    fn root(&mut self, node: Node<'_, '_>) -> Result<(), TagFileError> {
        match Element::of(node) {
            Element::Tag => self.tag(node, Above::default()),
            _ => Err(self.error(node, format!("the outermost element is <{}> and no <Tag>", node.tag_name().name()))),
        }
    }

    /// Reads a tag with all that is in it.
    fn tag(&mut self, node: Node<'_, '_>, above: Above) -> Result<(), TagFileError> {
        if above.depth >= MAX_DEPTH {
            return Err(self.error(node, format!("tags are in each other more than {MAX_DEPTH} deep")));
        }
        let attributes = elements::TagAttributes::read(node).map_err(|problem| self.error(node, problem))?;
        attributes.unknown.iter().for_each(|name| self.warn(node, format!("the attribute {name} is not known")));
        if attributes.name.is_none() {
            self.warn(node, "the tag has no Name".to_owned());
        }
        let tag = match attributes.name.as_deref() {
            None | Some("") => above.tag,
            Some(name) => Some(self.named(node, name, above.tag)?),
        };
        // Entry points may stand behind tags that are in the same one, and still come first in the order of rules.
        let entry_points = self.entry_points(node)?;
        let mut rule = above.rule;
        if entry_points.is_empty() {
            if attributes.hint.is_some() {
                self.warn(node, "a hint tag without entry points matches nothing".to_owned());
            }
        } else if let Some(tag) = tag {
            rule = Some(self.content.rules.len());
            let parent = self.parent(node, &attributes, above);
            let inherited = parent.and_then(|parent| self.content.rules.get(parent)).map(|parent| parent.priority);
            self.content.rules.push(Rule {
                tag,
                priority: attributes.priority.or(inherited).unwrap_or(0),
                takes_over: parent.is_some() && attributes.priority.is_none(),
                parent,
                hint: attributes.hint,
                entry_points,
            });
        } else {
            self.warn(node, "the entry points of a tag without a name are left out".to_owned());
        }
        for child in node.children().filter(Node::is_element) {
            match Element::of(child) {
                Element::Tag => self.tag(child, Above { tag, rule, depth: above.depth + 1 })?,
                Element::EntryPoint => {}
                Element::Unknown => self.warn(child, format!("<{}> is not known", child.tag_name().name())),
            }
        }
        Ok(())
    }

    /// Adds a tag with a name; returns its place.
    fn named(&mut self, node: Node<'_, '_>, name: &str, above: Option<usize>) -> Result<usize, TagFileError> {
        let above_name = above.and_then(|above| self.content.tags.get(above)).map(|tag| tag.name.as_str());
        let name = above_name.map_or_else(|| name.to_owned(), |above| format!("{above}\\{name}"));
        self.name_bytes += name.len();
        if name.len() > MAX_TEXT || self.name_bytes > MAX_NAME_BYTES {
            let problem = format!(
                "names of tags with those around them have more than {MAX_TEXT} bytes, or {} MiB together",
                MAX_NAME_BYTES >> 20
            );
            return Err(self.error(node, problem));
        }
        self.content.tags.push(FileTag { name, parent: above });
        Ok(self.content.tags.len() - 1)
    }

    /// The rule whose child a tag is.
    fn parent(&mut self, node: Node<'_, '_>, attributes: &elements::TagAttributes, above: Above) -> Option<usize> {
        let is_child = attributes.is_child.unwrap_or(self.nesting == Nesting::Children);
        if is_child && above.rule.is_none() && attributes.is_child.is_some() {
            self.warn(node, "no tag around this one has entry points, so it is nobody's child".to_owned());
        }
        above.rule.filter(|_| is_child)
    }

    fn entry_points(&mut self, node: Node<'_, '_>) -> Result<Vec<EntryPoint>, TagFileError> {
        let mut entry_points = Vec::new();
        for child in node.children().filter(|child| matches!(Element::of(*child), Element::EntryPoint)) {
            for attribute in child.attributes() {
                if !["Module", "Method"].iter().any(|known| known.eq_ignore_ascii_case(attribute.name())) {
                    self.warn(child, format!("the attribute {} is not known", attribute.name()));
                }
            }
            if child.children().any(|inner| inner.is_element()) {
                self.warn(child, "what is within an entry point is left out".to_owned());
            }
            let module = elements::attribute(child, "Module").unwrap_or_default();
            let method = elements::attribute(child, "Method").unwrap_or_default();
            if module.len().max(method.len()) > MAX_TEXT {
                return Err(self.error(child, format!("a pattern has more than {MAX_TEXT} bytes")));
            }
            if module.is_empty() && method.is_empty() {
                self.warn(child, "an entry point without Module and Method is left out".to_owned());
                continue;
            }
            // What is not said may be anything.
            let any = |text: &str| if text.is_empty() { "*".to_owned() } else { text.to_owned() };
            entry_points.push(EntryPoint { module: any(module), method: any(method) });
        }
        Ok(entry_points)
    }

    fn error(&self, node: Node<'_, '_>, problem: String) -> TagFileError {
        let at = self.document.text_pos_at(node.range().start);
        TagFileError { file: self.file.to_owned(), line: at.row, column: at.col, problem }
    }

    fn warn(&mut self, node: Node<'_, '_>, text: String) {
        if self.content.warnings.len() < MAX_WARNINGS {
            let at = self.document.text_pos_at(node.range().start);
            let warning = TagWarning { file: self.file.to_owned(), line: at.row, column: at.col, text };
            self.content.warnings.push(warning);
        }
    }
}

#[cfg(test)]
mod tests;
