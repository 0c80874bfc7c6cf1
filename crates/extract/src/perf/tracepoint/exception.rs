//! Fields of signals, and markers of the C++ library.

use super::fields::{Fields, Number};

/// A signal, or an exception of C++.
#[derive(Clone, Debug)]
pub(crate) enum ExceptionFields {
    /// `signal:signal_generate`.
    Generate(Box<GenerateFields>),
    /// `signal:signal_deliver`.
    Deliver(Box<DeliverFields>),
    /// An exception is thrown, perhaps once more.
    Throw { again: bool },
    /// One is caught.
    Catch,
}

/// A signal is sent.
#[derive(Clone, Debug)]
pub(crate) struct GenerateFields {
    pub(crate) signal: Number,
    pub(crate) code: Number,
    /// The thread that it is sent to.
    pub(crate) target: Number,
    pub(crate) group: Number,
    pub(crate) result: Number,
}

/// A signal is delivered.
#[derive(Clone, Debug)]
pub(crate) struct DeliverFields {
    pub(crate) signal: Number,
    pub(crate) code: Number,
    pub(crate) handler: Number,
}

/// What an event of the C++ library tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cpp {
    Throw,
    Rethrow,
    Catch,
}

/// The marker of the C++ library with this name. Markers of one name, in several libraries, may have a number behind it.
fn of_cpp(name: &str) -> Option<Cpp> {
    let (group, event) = name.split_once(':')?;
    let numbered = event.rsplit_once('_').filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
    match numbered.map_or(event, |(event, _)| event) {
        _ if group != "sdt_libstdcxx" => None,
        "throw" => Some(Cpp::Throw),
        "rethrow" => Some(Cpp::Rethrow),
        "catch" => Some(Cpp::Catch),
        _ => None,
    }
}

impl ExceptionFields {
    /// Whether [`of`](Self::of) may know a tracepoint.
    pub(crate) fn is_read_from(name: &str) -> bool {
        matches!(name, "signal:signal_generate" | "signal:signal_deliver") || of_cpp(name).is_some()
    }

    pub(super) fn of(fields: &Fields<'_>, name: &str) -> Option<Self> {
        let signal = || fields.number("sig");
        Some(match name {
            "signal:signal_generate" => Self::Generate(Box::new(GenerateFields {
                signal: signal()?,
                code: fields.number("code")?,
                target: fields.number("pid")?,
                group: fields.number("group")?,
                result: fields.number("result")?,
            })),
            "signal:signal_deliver" => Self::Deliver(Box::new(DeliverFields {
                signal: signal()?,
                code: fields.number("code")?,
                handler: fields.number("sa_handler")?,
            })),
            _ => match of_cpp(name)? {
                Cpp::Throw => Self::Throw { again: false },
                Cpp::Rethrow => Self::Throw { again: true },
                Cpp::Catch => Self::Catch,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Cpp, of_cpp};

    #[test]
    fn events_of_the_library_are_known_by_their_names() {
        for (name, expected) in [
            ("sdt_libstdcxx:throw", Some(Cpp::Throw)),
            ("sdt_libstdcxx:rethrow_1", Some(Cpp::Rethrow)),
            ("sdt_libstdcxx:catch_12", Some(Cpp::Catch)),
            ("sdt_libstdcxx:uncaught", None),
            ("probe_libstdc:throw", None),
            ("throw", None),
        ] {
            assert_eq!(of_cpp(name), expected, "{name}");
        }
    }
}
