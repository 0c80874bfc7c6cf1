//! ETWAnalyzer's verbs and the questions of its `-dump`.

use tracesift_ask::etwanalyzer::Legacy;
use tracesift_ask::options::Registered;
use tracesift_ask::question;

use crate::elsewhere;
use crate::exit::UsageError;

/// What a single-dash word at the front asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// `-dump`
    Dump,
    /// `-extract`
    Extract,
    /// `-convert`
    Convert,
    /// `-loadsymbol`
    LoadSymbol,
    /// `-converttime`
    ConvertTime,
    /// `-help`
    Help,
    /// A verb that has no counterpart yet, and what it does.
    Missing(&'static str, &'static str),
}

/// Our counterpart of a verb with its question.
#[derive(Clone, Copy, Debug)]
pub(super) enum Command {
    /// `extract`
    Extract,
    /// `dump`, with a question that both have
    Question(&'static Registered, Legacy),
    /// `export --format speedscope`
    Export,
    /// `symbols load`
    LoadSymbols,
    /// `time`
    Time,
    /// `--help`
    Help,
}

/// The questions that both have. Of the others `elsewhere` knows what they are about.
pub(super) fn questions() -> impl Iterator<Item = (&'static Registered, Legacy)> {
    question::DUMP.iter().filter_map(|question| Some((question, question.legacy?)))
}

impl Verb {
    /// Reads an argument; `None`: no verb.
    pub(super) fn parse(argument: &str) -> Option<Self> {
        Some(match argument.to_ascii_lowercase().as_str() {
            "-dump" => Self::Dump,
            "-extract" => Self::Extract,
            "-help" => Self::Help,
            "-convert" => Self::Convert,
            "-loadsymbol" => Self::LoadSymbol,
            "-converttime" => Self::ConvertTime,
            "-console" => Self::Missing("-console", "a console that keeps archives open"),
            "-mcp" => Self::Missing("-mcp", "a Model Context Protocol server"),
            _ => return None,
        })
    }

    /// Our command, and the arguments after those that named it.
    pub(super) fn command(self, arguments: &[String]) -> Result<(Command, &[String]), UsageError> {
        match self {
            Self::Help => Ok((Command::Help, &[])),
            Self::Convert => Ok((Command::Export, arguments)),
            Self::LoadSymbol => Ok((Command::LoadSymbols, arguments)),
            Self::ConvertTime => Ok((Command::Time, arguments)),
            Self::Missing(verb, what) => Err(missing(what, verb)),
            Self::Extract => Ok((Command::Extract, arguments)),
            Self::Dump => {
                let known = || questions().map(|(_, legacy)| legacy.name).collect::<Vec<_>>().join(", ");
                let Some((name, rest)) = arguments.split_first() else {
                    return Err(UsageError::new("-dump needs a question", format!("one of {}", known())));
                };
                if let Some((question, legacy)) = questions().find(|(_, legacy)| name.eq_ignore_ascii_case(legacy.name))
                {
                    return Ok((Command::Question(question, legacy), rest));
                }
                Err(match elsewhere::question(name) {
                    Some(to) => elsewhere::refused(to, &format!("-dump {}", name.to_ascii_lowercase())),
                    None => UsageError::new(format!("-dump has no question `{name}`"), format!("one of {}", known())),
                })
            }
        }
    }
}

impl Command {
    /// Whether it is this question.
    pub(super) fn is_question(self, name: &str) -> bool {
        matches!(self, Self::Question(_, legacy) if legacy.name == name)
    }

    /// Our words for it.
    pub(super) fn words(self) -> Vec<String> {
        let words = match self {
            Self::Extract => "extract",
            Self::Question(question, _) => question.command,
            Self::Export => "export --format=speedscope",
            Self::LoadSymbols => "symbols load",
            Self::Time => "time",
            Self::Help => "--help",
        };
        words.split(' ').map(str::to_owned).collect()
    }
}

/// The refusal of something that does not exist yet, with the words that asked for it.
fn missing(what: &str, asked: &str) -> UsageError {
    elsewhere::missing(what, asked, &[])
}
