//! The table of ETWAnalyzer's switches with our counterparts.

use tracesift_ask::etwanalyzer::{Switch, To};

use super::arguments::Tokens;
use super::columns;
use super::verbs::{Command, questions};
use crate::exit::UsageError;

/// A switch of many commands.
struct Shared {
    switch: Switch,
    /// The commands that have it.
    of: Of,
}

/// Commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// All.
    All,
    /// All questions.
    Questions,
    /// The questions that have an option of this id.
    QuestionsWith(&'static str),
    /// The questions, and `extract`.
    QuestionsAndExtract,
    /// What finds symbols: `extract` and `symbols load`.
    Symbols,
    /// `extract`
    Extract,
    /// `symbols load`
    LoadSymbols,
    /// `export`
    Export,
    /// `time`
    Time,
}

impl Of {
    /// Whether a command is one of them.
    fn has(self, command: Command) -> bool {
        match (self, command) {
            (_, Command::Help) => false,
            (Self::All, _) => true,
            (Self::QuestionsWith(id), Command::Question(question, _)) => question.has_option(id),
            (Self::Questions | Self::QuestionsAndExtract, Command::Question(..)) => true,
            (Self::QuestionsAndExtract | Self::Symbols | Self::Extract, Command::Extract) => true,
            (Self::Symbols | Self::LoadSymbols, Command::LoadSymbols) => true,
            (Self::Export, Command::Export) | (Self::Time, Command::Time) => true,
            _ => false,
        }
    }
}

/// What a switch with its values does.
pub(super) enum Effect {
    /// Options of ours.
    Ours(Vec<String>),
    /// Another command, with an option of it.
    Instead(&'static str, Option<String>),
    /// A positional argument.
    Path(String),
    /// Something to say.
    Note(String),
    /// Changes of `--columns`: in rows of processes, in rows of methods.
    Columns([String; 2]),
    /// A flag of ours for rows of processes.
    OfProcesses(String),
    /// A table that an extract leaves out.
    LeaveOut(&'static str),
    /// Facts of modules, and changes of `--columns` that leave only those of drivers.
    Modules(String, [String; 2]),
    /// Options of ours for the times of methods, and the format of the last one.
    FirstLast(Vec<String>, Option<&'static str>),
    /// Nothing.
    Nothing,
}

/// What lists of symbol servers call ours; what is not here stands for itself.
const SYMBOL_SERVERS: &[(&str, &str)] = &[("ntsymbolpath", "path"), ("ms", "msdl"), ("google", "chrome")];

const TIME_FORMATS: &[(&str, &str)] = &[
    ("s", "s"),
    ("second", "s"),
    ("local", "local"),
    ("localtime", "local-time"),
    ("utc", "utc"),
    ("utctime", "utc-time"),
    ("here", "here"),
    ("heretime", "here-time"),
];

const fn shared(names: &'static [&'static str], of: Of, to: To) -> Shared {
    Shared { switch: Switch { names, to }, of }
}

/// The switches of many commands; those of one question stand beside its options.
const SWITCHES: &[Shared] = &[
    // Files.
    shared(&["fd", "filedir"], Of::All, To::Path),
    shared(&["recursive"], Of::All, To::Flag("--recursive")),
    shared(&["testruncount", "trc"], Of::QuestionsAndExtract, To::Value("--run-count")),
    shared(&["testrunindex", "tri"], Of::QuestionsAndExtract, To::Value("--run-index")),
    shared(&["testsperrun"], Of::QuestionsAndExtract, To::Value("--tests-per-run")),
    shared(&["skipntests"], Of::QuestionsAndExtract, To::Value("--skip-tests")),
    shared(&["lastndays"], Of::QuestionsAndExtract, To::Value("--last-days")),
    shared(&["minmaxmstesttimes"], Of::Questions, To::Range("--min-test-time", "--max-test-time", "ms")),
    shared(&["notestrungrouping"], Of::QuestionsAndExtract, To::Flag("--one-run")),
    // Output.
    shared(&["csv"], Of::Questions, To::Value("--csv")),
    shared(&["nocolor"], Of::All, To::Flag("--no-color")),
    shared(&["details"], Of::Questions, To::Flag("--details")),
    shared(&["topn"], Of::QuestionsWith("top"), To::Top("--top", "--skip")),
    shared(&["timefmt"], Of::Questions, To::Word("--time-format", TIME_FORMATS)),
    shared(&["timedigits"], Of::Questions, To::Value("--time-digits")),
    shared(&["processfmt"], Of::QuestionsWith("process"), To::ProcessTimes("")),
    shared(&["nocmdline"], Of::Questions, To::Flag("--no-cmdline")),
    // Looked for when the file is written.
    shared(&["nocsvseparator"], Of::Questions, To::Dropped(0, "leaves out the first line of `-csv`")),
    shared(&["clip"], Of::All, To::Dropped(0, "lines are cut at the terminal's width anyway")),
    shared(&["nodigitsep"], Of::All, To::Dropped(0, "CSV and JSON have no digit groups, tables always do")),
    shared(&["debug"], Of::All, To::Dropped(0, "errors are always told in full")),
    shared(&["showfullfilename", "sffn"], Of::Questions, To::Dropped(0, "CSV and JSON have the path, tables the name")),
    shared(&["plainprocessnames", "ppn"], Of::Questions, To::Dropped(0, "processes are not renamed")),
    shared(&["column"], Of::Questions, To::ChosenColumns(&[])),
    // Questions in which it does more have their own.
    shared(&["showtotal"], Of::Questions, To::Dropped(1, "totals always stand above the rows")),
    shared(&["zerotime", "zt"], Of::QuestionsWith("process"), To::ZeroTime),
    shared(&["zeroprocessname", "zpn"], Of::QuestionsWith("process"), To::Value("--zero-process")),
    shared(&["time"], Of::Time, To::Value("--at")),
    // Processes.
    shared(&["pn", "processname"], Of::QuestionsWith("process"), To::Value("--process")),
    shared(&["parent"], Of::QuestionsWith("process"), To::Value("--parent")),
    shared(&["cmdline"], Of::QuestionsWith("process"), To::Value("--cmdline")),
    shared(&["user"], Of::QuestionsWith("process"), To::Value("--user")),
    shared(&["session"], Of::QuestionsWith("process"), To::Value("--session")),
    shared(&["newprocess"], Of::QuestionsWith("process"), To::Value("--new-process")),
    // Extracting.
    shared(&["outdir"], Of::Extract, To::Value("--out")),
    shared(&["tempdir"], Of::Extract, To::Value("--temp")),
    shared(&["nthreads"], Of::Extract, To::Value("--jobs")),
    shared(
        &["nooverwrite"],
        Of::Extract,
        To::Dropped(0, "what is up to date is kept: without this switch it is replaced"),
    ),
    shared(&["indent", "nocompress"], Of::Symbols, To::Dropped(0, "archives are Parquet and no JSON")),
    shared(&["keeptemp"], Of::Extract, To::Dropped(0, "what is unpacked has no name that could stay")),
    shared(&["child"], Of::Extract, To::Dropped(0, "everything is extracted in one process")),
    shared(
        &["pthreads", "concurrency"],
        Of::Extract,
        To::Dropped(1, "as many as CPUs and memory allow; -nthreads says how many"),
    ),
    shared(&["symserver"], Of::Symbols, To::Optional("--symbols", SYMBOL_SERVERS)),
    shared(&["symcache"], Of::Symbols, To::Value("--symbol-cache")),
    shared(&["symfolder"], Of::Symbols, To::Dropped(1, "paths may be as long as they like")),
    shared(&["nooverwrite"], Of::LoadSymbols, To::Dropped(0, "names are added to what is there")),
    shared(
        &["outdir"],
        Of::LoadSymbols,
        To::Left(1, "names are loaded into the archive where it is; -outdir is left out"),
    ),
    // -1: all processes.
    shared(&["pid"], Of::Export, To::Optional("--process", &[("-1", "")])),
    shared(&["perthread"], Of::Export, To::Dropped(0, "profiles are always per thread")),
    shared(
        &["symserver", "symcache", "symfolder"],
        Of::Export,
        To::Dropped(1, "the archive has the names; `symbols load` adds them"),
    ),
    shared(
        &["allcpu", "allexceptions", "includeexitedprocesses"],
        Of::Extract,
        To::Dropped(0, "nothing is left out of an extract"),
    ),
    shared(&["nosampling"], Of::Extract, To::LeaveOut("cpu_samples")),
    shared(&["nocswitch"], Of::Extract, To::LeaveOut("context_switches")),
    shared(&["noready"], Of::Extract, To::Dropped(0, "percentiles are made when they are asked for")),
    shared(
        &["extractregion"],
        Of::Extract,
        To::Left(usize::MAX, "everything is extracted; ask about a part of it with `--time 3s..5s`"),
    ),
    shared(&["timeline"], Of::Extract, To::Dropped(1, "a series is made when it is asked for: `dump cpu --bucket`")),
    shared(
        &["unzipoperation"],
        Of::Extract,
        To::Refused(
            "an extract runs no other commands",
            "run the command on the unpacked recording first, then `tracesift extract RECORDING`",
        ),
    ),
    shared(&["dryrun"], Of::Extract, To::Flag("--dry-run")),
];

/// The table as the reference shows it: names, commands, what becomes of the switch.
#[cfg(test)]
pub(crate) fn described() -> Vec<[String; 3]> {
    let commands = || {
        let questions = super::verbs::questions().map(|(question, legacy)| Command::Question(question, legacy));
        std::iter::once(Command::Extract).chain(questions).chain([Command::Time, Command::Export, Command::LoadSymbols])
    };
    let described = |switch: &Switch, of: String| {
        let names: Vec<String> = switch.names.iter().map(|name| format!("`-{name}`")).collect();
        [names.join(", "), of, described_counterpart(&switch.to)]
    };
    let of_many = SWITCHES.iter().map(|shared| {
        let of: Vec<String> =
            commands().filter(|command| shared.of.has(*command)).map(|command| command.words().join(" ")).collect();
        described(&shared.switch, if shared.of == Of::All { "all".to_owned() } else { of.join(", ") })
    });
    let of_questions = super::verbs::questions().flat_map(|(question, legacy)| {
        legacy.switches.iter().map(move |switch| described(switch, question.command.to_owned()))
    });
    of_many.chain(of_questions).collect()
}

#[cfg(test)]
fn described_counterpart(to: &To) -> String {
    let words = |table: &[(&str, &str)]| {
        let pairs: Vec<String> = table.iter().map(|(theirs, ours)| format!("{theirs} → {ours}")).collect();
        pairs.join(", ")
    };
    match to {
        To::Path => "a path".to_owned(),
        To::Flag(ours) | To::Value(ours) | To::OfProcesses(ours) => format!("`{ours}`"),
        To::Optional(ours, table) | To::Word(ours, table) => format!("`{ours}`: {}", words(table)),
        To::Choice(table) => {
            let ours = |ours: &str| if ours.is_empty() { "nothing".to_owned() } else { format!("`{ours}`") };
            let pairs: Vec<String> =
                table.iter().map(|(theirs, options)| format!("{theirs} → {}", ours(options))).collect();
            pairs.join(", ")
        }
        To::Range(min, max, _) => format!("`{min}`, `{max}`"),
        To::Instants(min, max, none) => format!("`{min}`, `{max}`; `0 0` → `{none}`"),
        To::Top(take, skip) => format!("`{take}`, `{skip}`"),
        To::Columns(of_processes, of_methods) => {
            let one = [of_processes, of_methods].into_iter().find(|columns| !columns.is_empty());
            format!("`--columns '{}'`", one.map_or("", |columns| *columns))
        }
        To::ChosenColumns([]) => "`--columns`".to_owned(),
        To::ChosenColumns(_) => "`--columns`, names translated".to_owned(),
        To::LeaveOut(table) => format!("`--tables '!{table}'`"),
        To::Modules => "`--show-modules`".to_owned(),
        To::FirstLast => "`--first-last`".to_owned(),
        To::ProcessTimes("") => "`--time-format`".to_owned(),
        To::ProcessTimes(columns) => format!("`--time-format`, `--columns '{columns}'`"),
        To::ZeroTime => "`--zero-time`, `--zero-cmdline`".to_owned(),
        To::Dropped(_, reason) => format!("nothing: {reason}"),
        To::Left(_, note) => format!("left out, and said so: {note}"),
        To::Instead(command, option) => format!("`{command}`; its value → `{option}`"),
        To::Refused(reason, instead) => format!("refused: {reason}; {instead}"),
    }
}

/// The counterpart of a switch of a command.
pub(super) fn find(command: Command, name: &str) -> Result<To, UsageError> {
    let named = |switch: &&Switch| switch.names.contains(&name);
    let own = |command: Command| match command {
        Command::Question(_, legacy) => legacy.switches,
        _ => &[],
    };
    let shared = SWITCHES.iter().filter(|shared| shared.of.has(command)).map(|shared| &shared.switch);
    if let Some(switch) = own(command).iter().chain(shared).find(named) {
        return Ok(switch.to);
    }
    let words = command.words().join(" ");
    let of_others = questions().flat_map(|(_, legacy)| legacy.switches);
    let is_known = SWITCHES.iter().map(|shared| &shared.switch).chain(of_others).any(|switch| named(&switch));
    Err(UsageError::new(
        match is_known {
            true => format!("-{name} does not belong to `{words}`"),
            false => format!("-{name} is no known switch of `{words}`"),
        },
        format!("`tracesift {words} --help` lists its options"),
    ))
}

/// What a switch does with the values that follow.
pub(super) fn apply(to: To, written: &str, tokens: &mut Tokens<'_>) -> Result<Effect, UsageError> {
    let mut value = || {
        tokens.value().ok_or_else(|| UsageError::new(format!("{written} needs a value"), "write it behind the switch"))
    };
    Ok(match to {
        To::Path => Effect::Path(value()?.to_owned()),
        To::Flag(flag) => Effect::Ours(vec![flag.to_owned()]),
        To::Value(option) => Effect::Ours(with_value(option, value()?)),
        To::Optional(option, table) => {
            let translate = |value: &str| {
                let translated = table.iter().find(|(theirs, _)| value.eq_ignore_ascii_case(theirs));
                translated.map_or(value.to_owned(), |(_, ours)| (*ours).to_owned())
            };
            let value = tokens.value().map(translate);
            Effect::Ours(vec![value.map_or(option.to_owned(), |value| format!("{option}={value}"))])
        }
        To::Word(option, table) => Effect::Ours(with_value(option, word(written, value()?, table)?)),
        To::Range(min, max, unit) => Effect::Ours(range(value()?, tokens, [min, max], unit)),
        To::Choice(table) => {
            let ours = word(written, value()?, table)?;
            Effect::Ours(ours.split_whitespace().map(str::to_owned).collect())
        }
        To::Instants(min, max, none) => {
            let words = range(value()?, tokens, [min, max], "s");
            let is_none = words == [format!("{min}=0s"), format!("{max}=0s")];
            Effect::Ours(if is_none { vec![none.to_owned()] } else { words })
        }
        To::Top(take, skip) => {
            let mut words = with_value(take, &count(written, value()?)?.to_string());
            if let Some(value) = tokens.value() {
                words.push(format!("{skip}={}", count(written, value)?));
            }
            Effect::Ours(words)
        }
        To::FirstLast => {
            let mut format = || tokens.value().map(|value| word(written, value, TIME_FORMATS)).transpose();
            let (first, last) = (format()?, format()?);
            let option = first.map_or("--first-last".to_owned(), |format| format!("--first-last={format}"));
            Effect::FirstLast(vec![option], last)
        }
        To::ProcessTimes(columns) => {
            let format = format!("--time-format={}", word(written, value()?, TIME_FORMATS)?);
            Effect::Modules(format, [(); 2].map(|()| columns.to_owned()))
        }
        To::ZeroTime => zero_time(written, value()?, tokens)?,
        To::Columns(of_processes, of_methods) => Effect::Columns([of_processes.to_owned(), of_methods.to_owned()]),
        To::ChosenColumns(names) => {
            let list = columns::translate(names, value()?)?;
            Effect::Columns([list.clone(), list])
        }
        To::OfProcesses(flag) => Effect::OfProcesses(flag.to_owned()),
        To::Modules => {
            const BUT_DRIVERS: &str = "!*_version;!product;!company;!description";
            match tokens.value() {
                Some(value) if value.eq_ignore_ascii_case("driver") => {
                    Effect::Modules("--show-modules".to_owned(), [(); 2].map(|()| BUT_DRIVERS.to_owned()))
                }
                Some(value) => Effect::Ours(vec![format!("--show-modules={value}")]),
                None => Effect::Ours(vec!["--show-modules".to_owned()]),
            }
        }
        To::LeaveOut(table) => Effect::LeaveOut(table),
        To::Dropped(values, _) => {
            tokens.skip_values(values);
            Effect::Nothing
        }
        To::Left(values, note) => {
            tokens.skip_values(values);
            Effect::Note(note.to_owned())
        }
        To::Instead(command, option) => {
            Effect::Instead(command, tokens.value().map(|value| format!("{option}={value}")))
        }
        To::Refused(reason, instead) => return Err(UsageError::new(format!("{reason} ({written})"), instead)),
    })
}

/// An option with its value. Flags that go with the option stand before it.
fn with_value(option: &str, value: &str) -> Vec<String> {
    let mut words: Vec<String> = option.split(' ').map(str::to_owned).collect();
    if let Some(last) = words.last_mut() {
        last.push('=');
        last.push_str(value);
    }
    words
}

fn word<'t>(written: &str, value: &str, table: &'t [(&'t str, &'t str)]) -> Result<&'t str, UsageError> {
    table.iter().find(|(theirs, _)| value.eq_ignore_ascii_case(theirs)).map(|(_, ours)| *ours).ok_or_else(|| {
        let known: Vec<&str> = table.iter().map(|(theirs, _)| *theirs).collect();
        UsageError::new(format!("{written} does not take `{value}`"), format!("one of {}", known.join(", ")))
    })
}

fn count(written: &str, value: &str) -> Result<usize, UsageError> {
    value
        .parse()
        .map_err(|_| UsageError::new(format!("{written} needs a number, not `{value}`"), "write it behind the switch"))
}

/// `First *method*`, `ProcessStart [cmdline]` …
fn zero_time(written: &str, kind: &str, tokens: &mut Tokens<'_>) -> Result<Effect, UsageError> {
    let of_method = [("marker", "mark"), ("first", "first"), ("last", "last")];
    if let Some((_, ours)) = of_method.iter().find(|(theirs, _)| kind.eq_ignore_ascii_case(theirs)) {
        let pattern = tokens
            .value()
            .ok_or_else(|| UsageError::new(format!("{written} {kind} needs a pattern"), "write it behind the word"))?;
        return Ok(Effect::Ours(vec![format!("--zero-time={ours}:{pattern}")]));
    }
    let of_process = [("processstart", "process-start"), ("processend", "process-end")];
    let ours = word(written, kind, &of_process).map_err(|error| UsageError {
        hint: Some("one of marker, first, last, processstart, processend".to_owned()),
        ..error
    })?;
    let mut words = vec![format!("--zero-time={ours}:*")];
    words.extend(tokens.value().map(|cmdline| format!("--zero-cmdline={cmdline}")));
    Ok(Effect::Ours(words))
}

/// `min [max]`, or `min-max` as older versions wrote it.
fn range(min: &str, tokens: &mut Tokens<'_>, options: [&str; 2], unit: &str) -> Vec<String> {
    let with_unit = |text: &str| {
        let is_bare = text.ends_with(|c: char| c.is_ascii_digit() || c == '.');
        if is_bare { format!("{text}{unit}") } else { text.to_owned() }
    };
    // A dash at the start is a sign.
    let dash = min.char_indices().skip(1).find(|(_, c)| *c == '-').map(|(at, _)| at);
    let ends = match dash.and_then(|at| min.split_at_checked(at)) {
        Some((min, max)) => [Some(min), max.strip_prefix('-')],
        None => [Some(min), tokens.value()],
    };
    options
        .iter()
        .zip(ends)
        .filter_map(|(option, end)| end.filter(|end| !end.is_empty()).map(|end| format!("{option}={}", with_unit(end))))
        .collect()
}
