//! A file of regions of interest, read.
//!
//! Such files are written by hand, for Windows Performance Analyzer. What is not understood is an error with its place: figures of
//! regions that begin or end elsewhere would look right and be wrong.

use roxmltree::{Document, Error as Problem, Node, ParsingOptions};
use tracesift_grammar::Patterns;

use super::definition::{
    Definition, Definitions, DurationEvent, EventPattern, EventSelector, Keys, Parent, ProviderSelector, guid,
};
use crate::tags::file::text;

/// Our own definitions: collections and compilations of .NET, exceptions, requests, queries, tasks, marks.
pub const BUILT_IN: &str = include_str!("builtin.regions.xml");

/// Bytes of a file: many times what the largest ones have.
const MAX_BYTES: usize = 4 << 20;

/// Elements and texts of a file.
const MAX_NODES: u32 = 200_000;

/// Elements within each other.
const MAX_DEPTH: usize = 64;

/// Attributes of one element, about: the XML parser compares each with all others.
const MAX_ATTRIBUTES: usize = 100;

/// Definitions of a file: an event is compared with all of them.
const MAX_DEFINITIONS: usize = 1_000;

/// Bytes of a text: a path repeats the names of the definitions around.
const MAX_TEXT: usize = 1_000;

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}")]
pub struct RegionFileError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong there.
    pub problem: String,
}

impl Definitions {
    /// Reads a file; `name` is what errors call it.
    ///
    /// # Errors
    /// When it is no file of regions of interest, or has something in it that is not understood.
    pub fn read(name: &str, content: &[u8]) -> Result<Self, RegionFileError> {
        let error = |line, column, problem: String| RegionFileError { file: name.to_owned(), line, column, problem };
        if content.len() > MAX_BYTES {
            return Err(error(1, 1, format!("the file has more than {} MiB", MAX_BYTES >> 20)));
        }
        let xml =
            text::decode(content).ok_or_else(|| error(1, 1, "the file is neither UTF-8 nor UTF-16".to_owned()))?;
        // No value can hold the mark that begins an element, so what stands between two of them bounds the attributes of one.
        if xml.split('<').any(|element| element.bytes().filter(|byte| *byte == b'=').count() > MAX_ATTRIBUTES) {
            return Err(error(1, 1, "an element has more attributes than any region needs".to_owned()));
        }
        let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
        let document = Document::parse_with_options(&xml, options).map_err(|problem| {
            let (at, text) = (problem.pos(), problem.to_string());
            // The place is told in front.
            let text =
                format!("this is no well-formed XML: {}", text.strip_suffix(&format!(" at {at}")).unwrap_or(&text));
            let (line, column) = match problem {
                Problem::UnclosedRootNode | Problem::UnexpectedEndOfStream => text::end(&xml),
                _ => (at.row, at.col),
            };
            error(line, column, text)
        })?;
        let mut reader = Reader { file: name, document: &document, found: Self::default() };
        reader.manifest(document.root_element())?;
        Ok(reader.found)
    }

    /// Our own definitions.
    ///
    /// # Errors
    /// Never: a test reads them.
    pub fn built_in() -> Result<Self, RegionFileError> {
        Self::read("builtin", BUILT_IN.as_bytes())
    }
}

/// What is around an element.
#[derive(Clone, Copy, Default)]
struct Around<'a> {
    /// Names of the definitions around it, with `/` in between.
    path: &'a str,
    /// The nearest one that has events, by its place.
    definition: Option<usize>,
    depth: usize,
}

struct Reader<'a> {
    file: &'a str,
    document: &'a Document<'a>,
    found: Definitions,
}

type Read<T> = Result<T, RegionFileError>;

impl Reader<'_> {
    fn manifest(&mut self, node: Node<'_, '_>) -> Read<()> {
        self.is(node, "InstrumentationManifest")?;
        self.attributes(node, &[])?;
        for node in elements(node) {
            self.is(node, "Instrumentation")?;
            self.attributes(node, &[])?;
            for node in elements(node) {
                self.is(node, "Regions")?;
                self.attributes(node, &[])?;
                for node in elements(node) {
                    self.is(node, "RegionRoot")?;
                    self.region(node, Around::default())?;
                }
            }
        }
        Ok(())
    }

    fn region(&mut self, node: Node<'_, '_>, around: Around<'_>) -> Read<()> {
        if around.depth >= MAX_DEPTH {
            return Err(self.error(node, format!("regions are in each other more than {MAX_DEPTH} deep")));
        }
        self.attributes(node, &["Guid", "Name", "FriendlyName"])?;
        let name = self.text(node, "FriendlyName")?.or(self.text(node, "Name")?).unwrap_or_default();
        if name.is_empty() {
            return Err(self.error(node, format!("<{}> needs a Name", tag(node))));
        }
        let path = if around.path.is_empty() { name.clone() } else { format!("{}/{name}", around.path) };
        if path.len() > MAX_DEPTH * MAX_TEXT / 4 {
            return Err(self.error(node, "its name is too long with those of the regions around it".to_owned()));
        }
        let mut definition = Definition { name, path: path.clone(), ..Definition::default() };
        let mut inside: Vec<Node<'_, '_>> = Vec::new();
        for node in elements(node) {
            match tag(node) {
                "Start" => definition.starts.push(self.pattern(node)?),
                "Stop" => definition.stops.push(self.pattern(node)?),
                "Duration" => definition.durations.push(self.duration(node)?),
                "Match" => self.matching(node, around, &mut definition)?,
                "Naming" => definition.name_field = self.naming(node)?,
                "Region" => inside.push(node),
                _ => return Err(self.unknown(node)),
            }
        }
        let mut of_inside = Around { path: &path, depth: around.depth + 1, ..around };
        match (definition.starts.is_empty(), definition.stops.is_empty(), definition.durations.is_empty()) {
            (true, true, true) => {}
            (true, false, true) => return Err(self.error(node, "the region has a Stop and no Start".to_owned())),
            (false, true, true) => return Err(self.error(node, "the region has a Start and no Stop".to_owned())),
            _ if self.found.all.len() >= MAX_DEFINITIONS => {
                return Err(self.error(node, format!("there are more than {MAX_DEFINITIONS} regions")));
            }
            _ => {
                of_inside.definition = Some(self.found.all.len());
                self.found.all.push(definition);
            }
        }
        inside.into_iter().try_for_each(|node| self.region(node, of_inside))
    }

    /// The event of a begin or an end.
    fn pattern(&self, node: Node<'_, '_>) -> Read<EventPattern> {
        self.attributes(node, &[])?;
        let (mut event, mut fields) = (None, Vec::new());
        for inner in elements(node) {
            match tag(inner) {
                "Event" if event.is_none() => {
                    self.attributes(inner, &["Provider", "Id", "Version"])?;
                    self.has_nothing_inside(inner)?;
                    event = Some(self.event(inner)?);
                }
                "Event" => return Err(self.error(inner, format!("<{}> has a second <Event>", tag(node)))),
                "PayloadIdentifier" => {
                    self.attributes(inner, &["FieldName", "FieldValue"])?;
                    self.has_nothing_inside(inner)?;
                    fields.push((self.needed(inner, "FieldName")?, self.needed(inner, "FieldValue")?));
                }
                _ => return Err(self.unknown(inner)),
            }
        }
        let event = event.ok_or_else(|| self.error(node, format!("<{}> needs an <Event>", tag(node))))?;
        Ok(EventPattern { fields, ..event })
    }

    /// The event that an element's `Provider`, `Id` and `Version` name.
    fn event(&self, node: Node<'_, '_>) -> Read<EventPattern> {
        let (provider, event) = (self.needed(node, "Provider")?, self.needed(node, "Id")?);
        let provider = match guid(&provider) {
            Some(guid) => ProviderSelector::Guid(guid),
            None if provider.starts_with('{') => {
                return Err(self.error(node, format!("Provider=\"{}\" is no GUID", shown(&provider))));
            }
            None => ProviderSelector::Named(Patterns::parse(&provider)),
        };
        let event = match event.parse() {
            Ok(id) => EventSelector::Id(id),
            Err(_) => EventSelector::Named(Patterns::parse(&event)),
        };
        let version = self.number(node, "Version")?;
        let version = version.map(|version| {
            i16::try_from(version).map_err(|_| self.error(node, format!("Version=\"{version}\" is no version")))
        });
        Ok(EventPattern { provider, event, version: version.transpose()?, fields: Vec::new() })
    }

    fn duration(&self, node: Node<'_, '_>) -> Read<DurationEvent> {
        self.attributes(node, &["Provider", "Id", "Version", "Duration", "Multiplier"])?;
        let event = self.event(node)?;
        let mut fields = Vec::new();
        for inner in elements(node) {
            self.is(inner, "PayloadIdentifier")?;
            self.attributes(inner, &["FieldName", "FieldValue"])?;
            fields.push((self.needed(inner, "FieldName")?, self.needed(inner, "FieldValue")?));
        }
        let multiplier = self.number(node, "Multiplier")?.unwrap_or(1);
        if multiplier < 1 {
            return Err(self.error(node, format!("Multiplier=\"{multiplier}\" is not above 0")));
        }
        Ok(DurationEvent { event: EventPattern { fields, ..event }, field: self.needed(node, "Duration")?, multiplier })
    }

    fn matching(&self, node: Node<'_, '_>, around: Around<'_>, definition: &mut Definition) -> Read<()> {
        self.attributes(node, &[])?;
        for inner in elements(node) {
            match tag(inner) {
                "Event" => {
                    definition.keys = self.keys(inner)?;
                }
                "SelfNest" => {
                    // Which regions nest the keys say: these of <Event>.
                    self.attributes(inner, &["PID", "TID"])?;
                    self.has_nothing_inside(inner)?;
                    definition.self_nest = true;
                }
                "Parent" => {
                    self.attributes(inner, &["PID", "TID"])?;
                    self.has_nothing_inside(inner)?;
                    let Some(outer) = around.definition else {
                        return Err(self.error(inner, "no region around this one has a Start and a Stop".to_owned()));
                    };
                    let (process, thread) = (self.flag(inner, "PID")?, self.flag(inner, "TID")?);
                    definition.parent = Some(Parent { definition: outer, process, thread });
                }
                _ => return Err(self.unknown(inner)),
            }
        }
        Ok(())
    }

    fn keys(&self, node: Node<'_, '_>) -> Read<Keys> {
        self.attributes(node, &["PID", "TID", "Activity"])?;
        let mut fields = Vec::new();
        for inner in elements(node) {
            self.is(inner, "Payload")?;
            self.attributes(inner, &["FieldName", "TargetFieldName"])?;
            self.has_nothing_inside(inner)?;
            let field = self.needed(inner, "FieldName")?;
            let target = self.text(inner, "TargetFieldName")?.unwrap_or_else(|| field.clone());
            fields.push((field, target));
        }
        let (process, thread) = (self.flag(node, "PID")?, self.flag(node, "TID")?);
        Ok(Keys { process, thread, activity: self.flag(node, "Activity")?, fields })
    }

    fn naming(&self, node: Node<'_, '_>) -> Read<Option<String>> {
        self.attributes(node, &[])?;
        let mut name = None;
        for inner in elements(node) {
            self.is(inner, "PayloadBased")?;
            self.attributes(inner, &["NameField"])?;
            self.has_nothing_inside(inner)?;
            name = Some(self.needed(inner, "NameField")?);
        }
        Ok(name)
    }

    fn is(&self, node: Node<'_, '_>, name: &str) -> Read<()> {
        if tag(node) == name {
            return Ok(());
        }
        Err(match node.parent_element() {
            None => self.error(node, format!("the outermost element is <{}> and not <{name}>", shown(tag(node)))),
            Some(_) => self.unknown(node),
        })
    }

    fn has_nothing_inside(&self, node: Node<'_, '_>) -> Read<()> {
        elements(node).next().map_or(Ok(()), |inner| Err(self.unknown(inner)))
    }

    /// Whether an element has no other attributes than these. Those of other name spaces say nothing about regions.
    fn attributes(&self, node: Node<'_, '_>, known: &[&str]) -> Read<()> {
        let is_known = |name: &str| known.contains(&name);
        let mut own = node.attributes().filter(|attribute| attribute.namespace().is_none());
        own.find(|attribute| !is_known(attribute.name())).map_or(Ok(()), |attribute| {
            Err(self.error(node, format!("the attribute {} of <{}> is not known", shown(attribute.name()), tag(node))))
        })
    }

    fn text(&self, node: Node<'_, '_>, name: &str) -> Read<Option<String>> {
        let Some(text) = node.attribute(name).map(str::trim) else { return Ok(None) };
        if text.len() > MAX_TEXT {
            return Err(self.error(node, format!("{name} has more than {MAX_TEXT} bytes")));
        }
        // Names reach terminals.
        Ok(Some(text.replace(char::is_control, " ")))
    }

    fn needed(&self, node: Node<'_, '_>, name: &str) -> Read<String> {
        let text = self.text(node, name)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| self.error(node, format!("<{}> needs {name}", tag(node))))
    }

    fn number(&self, node: Node<'_, '_>, name: &str) -> Read<Option<i64>> {
        let Some(text) = self.text(node, name)? else { return Ok(None) };
        let number = text.parse().map_err(|_| self.error(node, format!("{name}=\"{}\" is no number", shown(&text))));
        number.map(Some)
    }

    fn flag(&self, node: Node<'_, '_>, name: &str) -> Read<bool> {
        let Some(text) = self.text(node, name)? else { return Ok(false) };
        match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(self.error(node, format!("{name}=\"{}\" is not true or false", shown(&text)))),
        }
    }

    fn unknown(&self, node: Node<'_, '_>) -> RegionFileError {
        let around = node.parent_element().map(|around| format!(" in <{}>", tag(around))).unwrap_or_default();
        self.error(node, format!("<{}>{around} is not known", shown(tag(node))))
    }

    fn error(&self, node: Node<'_, '_>, problem: String) -> RegionFileError {
        let at = self.document.text_pos_at(node.range().start);
        RegionFileError { file: self.file.to_owned(), line: at.row, column: at.col, problem }
    }
}

fn elements<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(Node::is_element)
}

fn tag<'a>(node: Node<'a, '_>) -> &'a str {
    node.tag_name().name()
}

/// A text as an error shows it.
fn shown(text: &str) -> String {
    text.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests;
