//! Fields of the probes that `tracesift record` sets in the C library.

use std::net::IpAddr;

use super::fields::{Fields, Number, Octets, Text};
use super::network::{address, families};

/// What the names of the groups of our probes begin with.
pub(crate) const GROUP: &str = "tracesift_dns_";

/// A call of the C library that looks up a name, or its return.
#[derive(Clone, Debug)]
pub(crate) struct DnsFields {
    /// Name of the function.
    pub(crate) function: &'static str,
    pub(crate) edge: DnsEdge,
}

/// Whether a call begins or returns.
#[derive(Clone, Debug)]
pub(crate) enum DnsEdge {
    Call(Box<DnsCall>),
    /// With its result.
    Return(Number),
}

/// The arguments of a call.
#[derive(Clone, Debug)]
pub(crate) struct DnsCall {
    subject: DnsSubject,
    family: Option<Number>,
    flags: Option<Number>,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub(crate) enum DnsSubject {
    Name(Text),
    /// An address of 4 bytes, and one of 16 bytes in two halves.
    Address(Octets, [Octets; 2]),
}

/// Functions that are known, by the names of their probes.
const FUNCTIONS: [&str; 4] = ["getaddrinfo", "gethostbyname", "gethostbyname2", "getnameinfo"];
/// The name is an address (`AI_NUMERICHOST`).
const ADDRESS_GIVEN: i64 = 4;
/// The address itself is wanted (`NI_NUMERICHOST`).
const ADDRESS_WANTED: i64 = 1;

/// Types of records.
mod types {
    pub(super) const A: i32 = 1;
    pub(super) const PTR: i32 = 12;
    pub(super) const AAAA: i32 = 28;
}

impl DnsFields {
    /// Whether [`of`](Self::of) may know a tracepoint.
    pub(crate) fn is_read_from(name: &str) -> bool {
        name.starts_with(GROUP)
    }

    pub(super) fn of(fields: &Fields<'_>, name: &str) -> Option<Self> {
        let (_, event) = name.split_once(':')?;
        let (event, is_return) = event.strip_suffix("__return").map_or((event, false), |event| (event, true));
        let function = FUNCTIONS.into_iter().find(|function| *function == event)?;
        if is_return {
            return Some(Self { function, edge: DnsEdge::Return(fields.number("ret")?) });
        }
        let subject = match fields.text("name") {
            Some(name) => DnsSubject::Name(name),
            None => DnsSubject::Address(fields.octets("v4")?, [fields.octets("v6")?, fields.octets("v6_rest")?]),
        };
        let (family, flags) = (fields.number("family"), fields.number("flags"));
        Some(Self { function, edge: DnsEdge::Call(Box::new(DnsCall { subject, family, flags })) })
    }

    /// The status of a result: 0, or one of `EAI_…`.
    pub(crate) fn status(&self, result: i64) -> i64 {
        /// That it failed is all that a function without a result tells.
        const FAILED: i64 = -4;
        match self.function {
            "getaddrinfo" | "getnameinfo" => result,
            _ if result == 0 => FAILED,
            _ => 0,
        }
    }
}

impl DnsCall {
    /// The name and the type of the wanted record, written over `name`; `None` where nothing is looked up, as the name is an address
    /// or there is none.
    pub(crate) fn question(&self, raw: &[u8], name: &mut String) -> Option<Option<i32>> {
        let number = |number: &Option<Number>| number.as_ref().and_then(|number| number.get(raw));
        let (family, flags) = (number(&self.family), number(&self.flags).unwrap_or(0));
        name.clear();
        match &self.subject {
            DnsSubject::Name(text) => {
                name.push_str(&String::from_utf8_lossy(text.get(raw)?));
                let is_nothing = name.is_empty() || name == "(fault)" || flags & ADDRESS_GIVEN != 0;
                if is_nothing || name.parse::<IpAddr>().is_ok() {
                    return None;
                }
                Some(match family {
                    Some(families::INET) => Some(types::A),
                    Some(families::INET6) => Some(types::AAAA),
                    _ => None,
                })
            }
            DnsSubject::Address(v4, [first, rest]) => {
                let bytes = match family? {
                    families::INET => v4.get(raw)?.to_vec(),
                    families::INET6 => [first.get(raw)?, rest.get(raw)?].concat(),
                    _ => return None,
                };
                let address = address(&bytes).filter(|_| flags & ADDRESS_WANTED == 0)?;
                name.push_str(&address.to_string());
                Some(Some(types::PTR))
            }
        }
    }
}
