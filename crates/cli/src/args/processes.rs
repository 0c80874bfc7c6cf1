//! Which processes, and which part of the time.

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use tracesift_ask::When;
use tracesift_ask::filter::{Life, ProcessFilter, ProcessPatterns};
use tracesift_ask::time_spec::TimeSpec;
use tracesift_ask::zero_time::{Landmark, ZeroTime};
use tracesift_grammar::Patterns;

use super::files::milliseconds;

/// Processes of a question.
#[derive(Debug, Args)]
#[command(next_help_heading = "Processes")]
pub(crate) struct ProcessArgs {
    /// Only these processes: name, name.exe, name(pid) or pid; `;` separates, `!` excludes, `*` and `?` are wildcards
    #[arg(short, long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    pub(crate) process: String,

    /// Only children of these processes
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    pub(crate) parent: String,

    /// Only processes with such a command line
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    pub(crate) cmdline: String,

    /// Only processes of these users: account or security identifier
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    pub(crate) user: String,

    /// Only processes of these terminal-services sessions
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    pub(crate) session: String,

    /// Only processes of these containers: id, short id or control group
    #[arg(long, value_name = "IDS", default_value = "", hide_default_value = true)]
    pub(crate) container: String,

    /// Only processes with such a life inside the recording
    #[arg(long, value_name = "WHICH", allow_hyphen_values = true)]
    pub(crate) new_process: Option<WhichLife>,

    #[command(flatten)]
    pub(crate) when: WhenArgs,
}

/// Which part of the time.
#[derive(Debug, Args)]
#[command(next_help_heading = "Time")]
pub(crate) struct WhenArgs {
    /// Only this part of the recording, [a, b): 3.2s..7.9s, 250ms.., ..2 (s without unit), 14:02..14:02:30 (recorder's local time),
    /// 12:02Z..12:03Z (UTC)
    #[arg(long, value_name = "A..B", default_value = "..", hide_default_value = true, allow_hyphen_values = true)]
    pub(crate) time: TimeSpec,

    #[command(flatten)]
    zero: ZeroArgs,
}

/// From when on times are counted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Time")]
pub(crate) struct ZeroArgs {
    /// Count times from what happened in each recording: mark:TEXT, process-start:NAME, process-end:NAME, first:METHOD, last:METHOD
    /// or event:PROVIDER/NAME; of several the first that a recording has
    #[arg(long, value_name = "LANDMARK")]
    pub(crate) zero_time: Vec<Landmark>,

    /// The landmark of --zero-time must be of these processes
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, requires = "zero_time")]
    pub(crate) zero_process: String,

    /// The landmark of --zero-time must be of processes with such a command line
    #[arg(
        long,
        value_name = "PATTERNS",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true,
        requires = "zero_time"
    )]
    pub(crate) zero_cmdline: String,
}

impl WhenArgs {
    /// Which part, and from when on times are counted.
    pub(crate) fn when(&self) -> When {
        When { time: self.time, ..self.zero.when() }
    }
}

impl ZeroArgs {
    /// From when on times are counted, of whole recordings.
    pub(crate) fn when(&self) -> When {
        let process = ProcessFilter {
            process: ProcessPatterns::parse(&self.zero_process),
            command_line: Patterns::parse(&self.zero_cmdline),
            ..ProcessFilter::default()
        };
        When { zero: ZeroTime { landmarks: self.zero_time.clone(), process }, ..When::default() }
    }
}

impl ProcessArgs {
    /// The filter.
    pub(crate) fn filter(&self) -> ProcessFilter {
        ProcessFilter {
            process: ProcessPatterns::parse(&self.process),
            parent: ProcessPatterns::parse(&self.parent),
            command_line: Patterns::parse(&self.cmdline),
            user: Patterns::parse(&self.user),
            session: Patterns::parse(&self.session),
            container: Patterns::parse(&self.container),
            life: self.new_process.map(|WhichLife(life)| life),
        }
    }
}

/// A question as a series.
#[derive(Debug, Args)]
#[command(next_help_heading = "Time")]
pub(crate) struct SeriesArgs {
    /// Rows of their own for each stretch of this length (ms without unit): a series
    #[arg(long, value_name = "TIME", value_parser = stretch)]
    pub(crate) bucket: Option<i64>,
}

/// A length of time that is not nothing.
fn stretch(text: &str) -> Result<i64, String> {
    match milliseconds(text) {
        Ok(length) if length > 0 => Ok(length),
        Ok(_) => Err("it must be longer than nothing, such as 100ms".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// A life as the command line names it: in words, or in ETWAnalyzer's numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WhichLife(Life);

impl ValueEnum for WhichLife {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(Life::Whole), Self(Life::Started), Self(Life::Ended), Self(Life::StartedOnly), Self(Life::EndedOnly)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, number, help) = match self.0 {
            Life::Whole => ("whole", "0", "Alive all the time"),
            Life::Started => ("started", "1", "Started, may have ended"),
            Life::Ended => ("ended", "-1", "Ended, may have started"),
            Life::StartedOnly => ("started-only", "2", "Started and did not end"),
            Life::EndedOnly => ("ended-only", "-2", "Ended and was there before"),
        };
        Some(PossibleValue::new(name).alias(number).help(help))
    }
}
