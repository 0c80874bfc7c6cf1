//! Instrumentation manifests: XML that describes a provider's events. EventSource providers write theirs into the recording.

use std::sync::Arc;

use roxmltree::{Document, Node, NodeId, ParsingOptions};
use rustc_hash::FxHashMap;

use super::event::{EventSchema, Origin};
use super::info;
use super::layout::{Count, Field, Kind, Layout, Length, MAX_FIELDS, Scalar, ValueMap};
use crate::Guid;

/// Elements and texts of one manifest: more only a forged one has.
const MAX_NODES: u32 = 1_000_000;

/// Attributes of one element, about: the parser compares each with all others.
const MAX_ATTRIBUTES: usize = 1_000;

/// A provider as its manifest describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// The provider.
    pub provider: Guid,
    /// Its name.
    pub name: Box<str>,
    /// Its events.
    pub events: Vec<EventSchema>,
    /// Its keywords: masks and names.
    pub keywords: Vec<(u64, Box<str>)>,
}

/// Why a manifest cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The XML is damaged, or has a document type, which could make it expand without limit.
    #[error("the manifest is not well-formed XML: {0}")]
    Xml(String),
    /// There is no provider in it.
    #[error("the XML holds no <provider> with a name and a guid, so it is not an instrumentation manifest")]
    NoProvider,
}

/// Reads the providers of a manifest. An event of which something is not understood (a type, a template that is not there) is left
/// out: better no schema than a wrong one.
///
/// # Errors
/// The text is no XML or describes no provider.
pub fn parse(xml: &str) -> Result<Vec<Manifest>, ManifestError> {
    // No value can hold the mark that begins an element, so what stands between two of them bounds the attributes of one.
    if xml.split('<').any(|element| element.bytes().filter(|byte| *byte == b'=').count() > MAX_ATTRIBUTES) {
        return Err(ManifestError::Xml("an element has more attributes than any manifest needs".to_owned()));
    }
    let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(xml, options).map_err(|error| ManifestError::Xml(error.to_string()))?;
    let strings = document
        .descendants()
        .filter(|node| node.has_tag_name_of("string"))
        .filter_map(|node| Some((node.attribute("id")?, node.attribute("value")?)))
        .collect();
    let manifests: Vec<Manifest> = document
        .descendants()
        .filter(|node| node.has_tag_name_of("provider"))
        .filter_map(|node| {
            let named = |node: Node<'_, '_>| Some((node.attribute("name")?.to_owned(), node.id()));
            let opcodes = node.all("opcode").filter_map(named).collect();
            Provider { node, strings: &strings, opcodes }.read()
        })
        .collect();
    if manifests.is_empty() { Err(ManifestError::NoProvider) } else { Ok(manifests) }
}

trait NodeExt<'a, 'input: 'a> {
    /// Whether it is an element of this name, whatever its namespace.
    fn has_tag_name_of(&self, name: &str) -> bool;
    /// The elements with this name below it.
    fn all(&self, name: &'static str) -> impl Iterator<Item = Node<'a, 'input>>;
}

impl<'a, 'input: 'a> NodeExt<'a, 'input> for Node<'a, 'input> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }

    fn all(&self, name: &'static str) -> impl Iterator<Item = Node<'a, 'input>> {
        self.descendants().filter(move |node| node.has_tag_name_of(name))
    }
}

struct Provider<'a, 'input> {
    node: Node<'a, 'input>,
    strings: &'a FxHashMap<&'a str, &'a str>,
    opcodes: FxHashMap<String, NodeId>,
}

impl<'a, 'input: 'a> Provider<'a, 'input> {
    fn read(&self) -> Option<Manifest> {
        let provider: Guid = self.node.attribute("guid")?.parse().ok()?;
        let name = self.node.attribute("name")?;
        let maps = self.maps();
        let templates: FxHashMap<&str, Option<Layout>> =
            self.node.all("template").filter_map(|node| Some((node.attribute("tid")?, layout(node, &maps)))).collect();
        let keywords: Vec<(u64, Box<str>)> = self
            .node
            .all("keyword")
            .filter_map(|node| Some((number(node.attribute("mask")?)?, node.attribute("name")?.into())))
            .collect();
        let tasks: FxHashMap<&str, Node<'_, '_>> =
            self.node.all("task").filter_map(|node| Some((node.attribute("name")?, node))).collect();
        let events = self
            .node
            .all("event")
            .filter_map(|node| {
                let id = u16::try_from(number(node.attribute("value")?)?).ok()?;
                let version = node.attribute("version").and_then(number).and_then(|v| u8::try_from(v).ok());
                let (opcode, opcode_name) = self.opcode(node);
                let template = node.attribute("template");
                let layout = match template {
                    None => Layout::default(),
                    Some(template) => templates.get(template)?.clone()?,
                };
                let task = node.attribute("task");
                let symbol = node.attribute("symbol").filter(|_| task.is_none());
                Some(EventSchema {
                    provider,
                    provider_name: Some(name.into()),
                    id,
                    version: version.unwrap_or(0),
                    opcode,
                    event_name: None,
                    task_name: task.map(|task| self.task_name(task, &tasks)).or(symbol.map(Into::into)),
                    opcode_name,
                    keyword_names: words(node.attribute("keywords")),
                    message: self.message(node),
                    layout,
                    origin: Origin::Manifest,
                })
            })
            .collect();
        Some(Manifest { provider, name: name.into(), events, keywords })
    }

    fn task_name(&self, name: &str, tasks: &FxHashMap<&str, Node<'_, '_>>) -> Box<str> {
        let shown = tasks.get(name).and_then(|task| self.string(task.attribute("message")?));
        shown.unwrap_or(name).into()
    }

    /// Number and name of an event's opcode.
    fn opcode(&self, event: Node<'_, '_>) -> (u8, Option<Box<str>>) {
        let Some(name) = event.attribute("opcode") else { return (0, None) };
        if let Some((number, name)) =
            WELL_KNOWN_OPCODES.iter().find(|(_, known)| name.strip_prefix("win:") == Some(known))
        {
            return (*number, Some((*name).into()));
        }
        let node = self.opcodes.get(name).and_then(|id| self.node.document().get_node(*id));
        let value = node.and_then(|node| u8::try_from(number(node.attribute("value")?)?).ok());
        let shown = node.and_then(|node| self.string(node.attribute("message")?));
        (value.unwrap_or(0), Some(shown.unwrap_or(name).into()))
    }

    fn message(&self, node: Node<'_, '_>) -> Option<Box<str>> {
        self.string(node.attribute("message")?).map(Into::into)
    }

    /// The text behind `$(string.id)`.
    fn string(&self, reference: &str) -> Option<&'a str> {
        let id = reference.strip_prefix("$(string.")?.strip_suffix(')')?;
        self.strings.get(id).copied()
    }

    fn maps(&self) -> FxHashMap<&'a str, Arc<ValueMap>> {
        let mut maps = FxHashMap::default();
        for (tag, is_bits) in [("valueMap", false), ("bitMap", true)] {
            for node in self.node.all(tag) {
                let Some(name) = node.attribute("name") else { continue };
                let entries = node.all("map").filter_map(|entry| {
                    let value = number(entry.attribute("value")?)?;
                    let shown = entry.attribute("message").and_then(|message| self.string(message));
                    Some((value, shown.unwrap_or_default().trim_end()))
                });
                maps.insert(name, Arc::new(ValueMap::of_recording(name, is_bits, entries)));
            }
        }
        maps
    }
}

const WELL_KNOWN_OPCODES: [(u8, &str); 11] = [
    (0, "Info"),
    (1, "Start"),
    (2, "Stop"),
    (3, "DC_Start"),
    (4, "DC_Stop"),
    (5, "Extension"),
    (6, "Reply"),
    (7, "Resume"),
    (8, "Suspend"),
    (9, "Send"),
    (240, "Receive"),
];

/// The fields of a template; `None` when one of them cannot be read, since then nothing behind it can.
fn layout(template: Node<'_, '_>, maps: &FxHashMap<&str, Arc<ValueMap>>) -> Option<Layout> {
    let mut fields: Vec<Field> = Vec::new();
    let mut structures = Vec::new();
    for node in template.children().filter(Node::is_element) {
        match node.tag_name().name() {
            "data" => {
                let field = data(node, &fields, 0, maps)?;
                fields.push(field);
            }
            "struct" => {
                structures.push((fields.len(), node));
                let kind = Kind::Struct { first: 0, members: 0 };
                let count = count(node, &fields, 0)?;
                fields.push(Field { count, ..Field::new(node.attribute("name")?, kind) });
            }
            // Data for the event viewer.
            _ => {}
        }
    }
    let top = fields.len();
    for (index, node) in structures {
        let first = fields.len();
        for member in node.all("data") {
            let field = data(member, &fields, first, maps)?;
            fields.push(field);
        }
        let members = fields.len() - first;
        fields.get_mut(index)?.kind = Kind::Struct { first, members };
    }
    (fields.len() <= MAX_FIELDS).then_some(Layout { fields, top })
}

/// One `<data>`; lengths and counts may name the fields from `from` on.
fn data(node: Node<'_, '_>, fields: &[Field], from: usize, maps: &FxHashMap<&str, Arc<ValueMap>>) -> Option<Field> {
    let in_type = in_type(node.attribute("inType")?)?;
    let out_type = node.attribute("outType").map_or(0, out_type);
    let (scalar, meaning) = info::scalar(in_type, out_type)?;
    let length = match node.attribute("length") {
        Some(length) if matches!(scalar, Scalar::Wide(_) | Scalar::Narrow(_) | Scalar::Bytes(_)) => {
            match number(length) {
                Some(length) => Length::Fixed(u16::try_from(length).ok()?),
                None => Length::Field(index_of(length, fields, from)?),
            }
        }
        _ => Length::None,
    };
    let count = count(node, fields, from)?;
    let map = node.attribute("map").and_then(|map| maps.get(map).cloned());
    Some(Field { count, length, meaning, map, ..Field::new(node.attribute("name")?, Kind::Scalar(scalar)) })
}

fn count(node: Node<'_, '_>, fields: &[Field], from: usize) -> Option<Count> {
    match node.attribute("count") {
        None => Some(Count::One),
        Some(count) => Some(match number(count) {
            Some(count) => Count::Fixed(u16::try_from(count).ok()?),
            None => Count::Field(index_of(count, fields, from)?),
        }),
    }
}

fn index_of(name: &str, fields: &[Field], from: usize) -> Option<usize> {
    // The last one of that name: EventSource gives the length of an array the array's own name.
    fields.iter().enumerate().skip(from).rfind(|(_, field)| &*field.name == name).map(|(index, _)| index)
}

fn in_type(name: &str) -> Option<u16> {
    const NAMES: [(&str, u16); 21] = [
        ("UnicodeString", 1),
        ("AnsiString", 2),
        ("Int8", 3),
        ("UInt8", 4),
        ("Int16", 5),
        ("UInt16", 6),
        ("Int32", 7),
        ("UInt32", 8),
        ("Int64", 9),
        ("UInt64", 10),
        ("Float", 11),
        ("Double", 12),
        ("Boolean", 13),
        ("Binary", 14),
        ("GUID", 15),
        ("Pointer", 16),
        ("FILETIME", 17),
        ("SYSTEMTIME", 18),
        ("SID", 19),
        ("HexInt32", 20),
        ("HexInt64", 21),
    ];
    let name = name.strip_prefix("win:").or(name.strip_prefix("trace:")).unwrap_or(name);
    let counted = || match name {
        "CountedUnicodeString" => Some(22),
        "CountedAnsiString" => Some(23),
        "CountedBinary" => Some(25),
        "SizeT" => Some(16),
        "CodePointer" => Some(16),
        _ => None,
    };
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, number)| *number).or_else(counted)
}

/// The number of an out type; 0, which means nothing, for those that change nothing.
fn out_type(name: &str) -> u16 {
    match name {
        "xs:string" => 1,
        "xs:dateTime" => 2,
        "xs:boolean" => 13,
        "win:HexInt8" => 16,
        "win:HexInt16" => 17,
        "win:HexInt32" => 18,
        "win:HexInt64" => 19,
        "win:Port" => 22,
        "win:IPv4" => 23,
        "win:IPv6" => 24,
        "win:SocketAddress" => 25,
        "win:NTSTATUS" => 31,
        "win:HResult" => 32,
        "win:Utf8" => 35,
        "win:CodePointer" => 37,
        _ => 0,
    }
}

/// A number as manifests write it: decimal, or hexadecimal with `0x`.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn words(text: Option<&str>) -> Vec<Box<str>> {
    text.unwrap_or_default().split_whitespace().map(Into::into).collect()
}
