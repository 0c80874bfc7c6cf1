//! ETWAnalyzer's verbs and the questions of its `-dump`.

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// `extract`
    Extract,
    /// `dump cpu`
    Cpu,
    /// `dump process`
    Process,
    /// `dump version`
    Version,
    /// `dump testrun`
    Testrun,
    /// `dump stats`
    Stats,
    /// `export --format speedscope`
    Export,
    /// `symbols load`
    LoadSymbols,
    /// `time`
    Time,
    /// `--help`
    Help,
}

/// Questions that exist; of the others `elsewhere` knows what they are about.
const QUESTIONS: &[(&str, Command)] = &[
    ("cpu", Command::Cpu),
    ("process", Command::Process),
    ("version", Command::Version),
    ("testrun", Command::Testrun),
    ("stats", Command::Stats),
];

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
                let known = || QUESTIONS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
                let Some((name, rest)) = arguments.split_first() else {
                    return Err(UsageError::new("-dump needs a question", format!("one of {}", known())));
                };
                if let Some((_, command)) = QUESTIONS.iter().find(|(question, _)| name.eq_ignore_ascii_case(question)) {
                    return Ok((*command, rest));
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
    /// Whether `-csv` writes a file of ETWAnalyzer's columns.
    pub(super) fn writes_csv(self) -> bool {
        matches!(self, Self::Cpu | Self::Process | Self::Version | Self::Stats)
    }

    /// Our words for it.
    pub(super) fn words(self) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Extract => &["extract"],
            Self::Cpu => &["dump", "cpu"],
            Self::Process => &["dump", "process"],
            Self::Version => &["dump", "version"],
            Self::Testrun => &["dump", "testrun"],
            Self::Stats => &["dump", "stats"],
            Self::Export => &["export", "--format=speedscope"],
            Self::LoadSymbols => &["symbols", "load"],
            Self::Time => &["time"],
            Self::Help => &["--help"],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }
}

/// The refusal of something that does not exist yet, with the words that asked for it.
pub(super) fn missing(what: &str, asked: &str) -> UsageError {
    elsewhere::missing(what, asked, &[])
}
