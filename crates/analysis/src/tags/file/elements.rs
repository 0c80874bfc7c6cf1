//! Elements and attributes of a file, each in any case, as people write `EntryPoint` as well as `Entrypoint`.

use std::str::FromStr;

use roxmltree::Node;

use super::{Hint, HintOperator};

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// `Tag` or `HintTag`.
    Tag,
    /// `Entrypoint`.
    EntryPoint,
    Unknown,
}

impl Element {
    pub(super) fn of(node: Node<'_, '_>) -> Self {
        match node.tag_name().name().to_ascii_lowercase().as_str() {
            "tag" | "hinttag" => Self::Tag,
            "entrypoint" => Self::EntryPoint,
            _ => Self::Unknown,
        }
    }
}

/// The attributes of a tag.
#[derive(Debug)]
pub(super) struct TagAttributes {
    /// Without control characters, which would reach terminals.
    pub(super) name: Option<String>,
    pub(super) priority: Option<i32>,
    pub(super) is_child: Option<bool>,
    pub(super) hint: Option<Hint>,
    /// Names of those that are not known.
    pub(super) unknown: Vec<String>,
}

impl TagAttributes {
    /// Reads them; an error says what one of them may be.
    pub(super) fn read(node: Node<'_, '_>) -> Result<Self, String> {
        const KNOWN: [&str; 5] = ["Name", "Priority", "IsChild", "HintOperator", "OnlyShowModule"];
        let unknown = node.attributes().map(|attribute| attribute.name());
        let unknown = unknown.filter(|name| !KNOWN.iter().any(|known| known.eq_ignore_ascii_case(name)));
        let operator = value(node, "HintOperator", "Callee or Caller", operator)?;
        let only_module = value(node, "OnlyShowModule", "true or false", boolean)?.unwrap_or(true);
        // A plain tag with an operator is found in practice, too. A hint tag without one looks at what was called, its usual purpose.
        let is_hint = operator.is_some() || node.tag_name().name().eq_ignore_ascii_case("HintTag");
        let operator = operator.unwrap_or(HintOperator::Callee);
        Ok(Self {
            name: attribute(node, "Name").map(|name| name.trim().replace(char::is_control, " ")),
            priority: value(node, "Priority", "a whole number", |text| i32::from_str(text).ok())?,
            is_child: value(node, "IsChild", "true or false", boolean)?,
            hint: is_hint.then_some(Hint { operator, only_module }),
            unknown: unknown.map(str::to_owned).collect(),
        })
    }
}

/// The value of an attribute.
pub(super) fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.attributes().find(|attribute| attribute.name().eq_ignore_ascii_case(name)).map(|attribute| attribute.value())
}

fn value<T>(
    node: Node<'_, '_>,
    name: &str,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, String> {
    let Some(text) = attribute(node, name).map(str::trim) else { return Ok(None) };
    let shown: String = text.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
    read(text).map(Some).ok_or_else(|| format!("{name}=\"{shown}\" is not {expected}"))
}

/// As XML Schema has it, in any case.
fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

fn operator(text: &str) -> Option<HintOperator> {
    match text.to_ascii_lowercase().as_str() {
        "callee" => Some(HintOperator::Callee),
        "caller" => Some(HintOperator::Caller),
        _ => None,
    }
}
