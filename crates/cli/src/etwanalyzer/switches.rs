//! The table of ETWAnalyzer's switches with our counterparts.

use super::arguments::Tokens;
use super::verbs::{Command, missing};
use crate::exit::UsageError;

use super::columns;

use Command::{Cpu, Export, Extract, LoadSymbols, Process, Stats, Testrun, Time, Version};

/// One switch.
#[derive(Clone, Copy)]
pub(super) struct Switch {
    /// Its names in lower case, without the dash.
    names: &'static [&'static str],
    /// The commands that have it.
    commands: &'static [Command],
    /// What it becomes.
    to: To,
}

/// What a switch becomes.
#[derive(Clone, Copy)]
enum To {
    /// A positional argument.
    Path,
    /// One of our flags.
    Flag(&'static str),
    /// One of our options with the value.
    Value(&'static str),
    /// One of our options, whose value may be missing; these values are translated.
    Optional(&'static str, &'static [(&'static str, &'static str)]),
    /// One of our options with the value translated.
    Word(&'static str, &'static [(&'static str, &'static str)]),
    /// Options of our own for the ends of a range, `min [max]` or `min-max`; bare numbers get the unit.
    Range(&'static str, &'static str, &'static str),
    /// Options of our own for `n [skip]`.
    Top(&'static str, &'static str),
    /// `-fld [first] [last]`; a table of ours shows both times in the first format.
    FirstLast,
    /// A format of times; for processes it also asks for their times.
    ProcessTimes,
    /// `-zerotime`: what happened at time zero, with its pattern.
    ZeroTime,
    /// Changes `--columns`: in rows of processes, in rows of methods.
    Columns(&'static str, &'static str),
    /// `--columns` with names that are translated.
    ChosenColumns,
    /// One of our flags that rows of processes have; those of methods have nothing like it there either.
    OfProcesses(&'static str),
    /// `-smi [Driver|filter]`
    Modules,
    /// A table that an extract leaves out.
    LeaveOut(&'static str),
    /// Dropped with so many values, for a reason: it shapes ETWAnalyzer's own output or work.
    Dropped(
        usize,
        #[cfg_attr(not(test), expect(dead_code, reason = "the table of switches in docs/ tells it"))] &'static str,
    ),
    /// Left out with so many values, and said so.
    Left(usize, &'static str),
    /// Asks for something that does not exist yet.
    Missing(&'static str),
}

/// What a switch with its values does.
pub(super) enum Effect {
    /// Options of ours.
    Ours(Vec<String>),
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

const QUESTIONS: &[Command] = &[Cpu, Process, Version, Testrun, Stats];
const WITH_RUNS: &[Command] = &[Extract, Cpu, Process, Version, Testrun, Stats];
const OF_PROCESSES: &[Command] = &[Cpu, Process, Version];
const ALL: &[Command] = &[Extract, Cpu, Process, Version, Testrun, Stats, Time, Export, LoadSymbols];
const WITH_SYMBOLS: &[Command] = &[Extract, LoadSymbols];

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

const fn switch(names: &'static [&'static str], commands: &'static [Command], to: To) -> Switch {
    Switch { names, commands, to }
}

const SWITCHES: &[Switch] = &[
    // Files.
    switch(&["fd", "filedir"], ALL, To::Path),
    switch(&["recursive"], ALL, To::Flag("--recursive")),
    switch(&["testruncount", "trc"], WITH_RUNS, To::Value("--run-count")),
    switch(&["testrunindex", "tri"], WITH_RUNS, To::Value("--run-index")),
    switch(&["testsperrun"], WITH_RUNS, To::Value("--tests-per-run")),
    switch(&["skipntests"], WITH_RUNS, To::Value("--skip-tests")),
    switch(&["lastndays"], WITH_RUNS, To::Value("--last-days")),
    switch(&["minmaxmstesttimes"], QUESTIONS, To::Range("--min-test-time", "--max-test-time", "ms")),
    switch(&["notestrungrouping"], WITH_RUNS, To::Flag("--one-run")),
    // Output.
    switch(&["csv"], QUESTIONS, To::Value("--csv")),
    switch(&["nocolor"], ALL, To::Flag("--no-color")),
    switch(&["details"], QUESTIONS, To::Flag("--details")),
    switch(&["topn"], &[Cpu, Process, Version], To::Top("--top", "--skip")),
    switch(&["timefmt"], QUESTIONS, To::Word("--time-format", TIME_FORMATS)),
    switch(&["timedigits"], QUESTIONS, To::Value("--time-digits")),
    switch(&["processfmt"], &[Cpu, Process, Version], To::ProcessTimes),
    switch(&["nocmdline"], QUESTIONS, To::Flag("--no-cmdline")),
    // Looked for when the file is written.
    switch(&["nocsvseparator"], QUESTIONS, To::Dropped(0, "leaves out the first line of `-csv`")),
    switch(&["clip"], ALL, To::Dropped(0, "lines are cut at the terminal's width anyway")),
    switch(&["nodigitsep"], ALL, To::Dropped(0, "CSV and JSON have no digit groups, tables always do")),
    switch(&["debug"], ALL, To::Dropped(0, "errors are always told in full")),
    switch(&["showfullfilename", "sffn"], QUESTIONS, To::Dropped(0, "CSV and JSON have the path, tables the name")),
    switch(&["plainprocessnames", "ppn"], QUESTIONS, To::Dropped(0, "processes are not renamed")),
    switch(&["column"], QUESTIONS, To::ChosenColumns),
    switch(&["merge"], &[Cpu], To::OfProcesses("--merge")),
    switch(&["merge"], &[Process], To::Missing("lives of processes followed over files")),
    switch(&["zerotime", "zt"], OF_PROCESSES, To::ZeroTime),
    switch(&["zeroprocessname", "zpn"], OF_PROCESSES, To::Value("--zero-process")),
    switch(&["time"], &[Time], To::Value("--at")),
    // Processes.
    switch(&["pn", "processname"], OF_PROCESSES, To::Value("--process")),
    switch(&["parent"], OF_PROCESSES, To::Value("--parent")),
    switch(&["cmdline"], OF_PROCESSES, To::Value("--cmdline")),
    switch(&["user"], OF_PROCESSES, To::Value("--user")),
    switch(&["session"], OF_PROCESSES, To::Value("--session")),
    switch(&["newprocess"], OF_PROCESSES, To::Value("--new-process")),
    // CPU.
    switch(&["methods"], &[Cpu], To::Value("--methods")),
    switch(&["topnmethods"], &[Cpu], To::Top("--top-methods", "--skip-methods")),
    switch(&["includedll", "id"], &[Cpu], To::Flag("--include-module")),
    switch(&["includeargs", "ia"], &[Cpu], To::Flag("--include-args")),
    switch(&["cutmethod"], &[Cpu], To::Value("--cut-method")),
    switch(&["showonmethod"], &[Cpu], To::Flag("--show-on-method")),
    // The second format is that of the last time; ours is of both.
    switch(&["fld", "firstlastduration"], &[Cpu], To::FirstLast),
    switch(&["threadcount"], &[Cpu], To::Columns("", "+threads")),
    switch(&["minmaxfirst"], &[Cpu], To::Range("--min-first", "--max-first", "s")),
    switch(&["minmaxlast"], &[Cpu], To::Range("--min-last", "--max-last", "s")),
    switch(&["minmaxduration"], &[Cpu], To::Range("--min-duration", "--max-duration", "s")),
    switch(&["minmaxreadyavgus"], &[Cpu], To::Range("--min-ready-average", "--max-ready-average", "us")),
    switch(&["minmaxcswitchcount"], &[Cpu], To::Range("--min-switches", "--max-switches", "")),
    switch(&["stacktags"], &[Cpu], To::Value("--stacktags")),
    switch(&["minmaxcpums"], &[Cpu], To::Range("--min-cpu", "--max-cpu", "ms")),
    switch(&["minmaxwaitms"], &[Cpu], To::Range("--min-wait", "--max-wait", "ms")),
    switch(&["minmaxreadyms"], &[Cpu], To::Range("--min-ready", "--max-ready", "ms")),
    switch(
        &["sortby"],
        &[Cpu],
        To::Word(
            "--sort",
            &[
                ("cpu", "cpu"),
                ("priority", "priority"),
                ("starttime", "start"),
                ("first", "first"),
                ("last", "last"),
                ("wait", "wait"),
                ("ready", "ready"),
                ("cpuwait", "cpu-wait"),
                ("cpuwaitready", "cpu-wait-ready"),
                ("readyavg", "ready-average"),
                ("cswitchcount", "switches"),
                // What costs CPU itself, and not what it calls: that is what its formula is for.
                ("stackdepth", "exclusive"),
            ],
        ),
    ),
    switch(
        &["showtotal"],
        &[Cpu],
        To::Word(
            "--totals",
            &[("none", "none"), ("total", "total"), ("file", "total"), ("process", "process"), ("method", "method")],
        ),
    ),
    switch(&["smi", "showmoduleinfo"], &[Cpu], To::Modules),
    // Columns of rows of processes; there, too, rows of methods have none.
    switch(&["nopriority"], &[Cpu], To::Columns("!priority", "")),
    switch(&["nocoreusage"], &[Cpu], To::Columns("!cores_used", "")),
    switch(&["showcorenumber"], &[Cpu], To::OfProcesses("--core-numbers")),
    switch(&["noready"], &[Cpu], To::Columns("", "!ready*")),
    switch(&["nofrequency"], &[Cpu], To::Dropped(0, "frequencies are shown by `--cores` only")),
    switch(&["normalize"], &[Cpu], To::Flag("--cores")),
    // Processes as a question.
    switch(
        &["sortby"],
        &[Process],
        To::Word(
            "--sort",
            &[
                ("default", "name"),
                ("time", "time"),
                ("starttime", "time"),
                ("stoptime", "stop"),
                ("tree", "tree"),
                ("session", "session"),
            ],
        ),
    ),
    switch(&["crash"], &[Process], To::Flag("--crash")),
    switch(&["showuser"], &[Process], To::Flag("--details")),
    switch(&["minmaxduration"], &[Process], To::Range("--min-duration", "--max-duration", "s")),
    switch(&["minmaxstart"], &[Process], To::Range("--min-start", "--max-start", "s")),
    switch(&["showfileonline", "sfo"], &[Process], To::Dropped(0, "the file stands above its rows")),
    switch(&["showallprocesses"], &[Process], To::Dropped(0, "belongs to -merge")),
    switch(&["showtotal"], &[Process, Version], To::Dropped(1, "counts always stand above the rows")),
    // Versions.
    switch(&["dll"], &[Version], To::Value("--per-process --dll")),
    switch(&["modulefilter"], &[Version], To::Value("--dll")),
    switch(&["versionfilter"], &[Version], To::Value("--version-filter")),
    switch(&["missingpdb"], &[Version], To::Missing("PDBs that could not be loaded")),
    // Test runs.
    switch(&["printfiles"], &[Testrun], To::Flag("--print-files")),
    switch(&["validtestsonly"], &[Testrun], To::Flag("--valid-only")),
    switch(&["verbose"], &[Testrun], To::Dropped(0, "`--details` shows more")),
    switch(&["copyfilesto", "withetl", "overwrite"], &[Testrun], To::Missing("copying the files of test runs")),
    // Statistics.
    switch(&["properties"], &[Stats], To::Value("--properties")),
    switch(&["oneline"], &[Stats], To::Left(0, "-oneline is left out; `--format csv` has a line per recording")),
    // Extracting.
    switch(&["outdir"], &[Extract], To::Value("--out")),
    switch(&["tempdir"], &[Extract], To::Value("--temp")),
    switch(&["nthreads"], &[Extract], To::Value("--jobs")),
    switch(
        &["nooverwrite"],
        &[Extract],
        To::Dropped(0, "what is up to date is kept: without this switch it is replaced"),
    ),
    switch(&["indent", "nocompress"], &[Extract, LoadSymbols], To::Dropped(0, "archives are Parquet and no JSON")),
    switch(&["keeptemp"], &[Extract], To::Dropped(0, "what is unpacked has no name that could stay")),
    switch(&["child"], &[Extract], To::Dropped(0, "everything is extracted in one process")),
    switch(
        &["pthreads", "concurrency"],
        &[Extract],
        To::Dropped(1, "as many as CPUs and memory allow; -nthreads says how many"),
    ),
    switch(&["symserver"], WITH_SYMBOLS, To::Optional("--symbols", SYMBOL_SERVERS)),
    switch(&["symcache"], WITH_SYMBOLS, To::Value("--symbol-cache")),
    switch(&["symfolder"], WITH_SYMBOLS, To::Dropped(1, "paths may be as long as they like")),
    switch(&["nooverwrite"], &[LoadSymbols], To::Dropped(0, "names are added to what is there")),
    switch(
        &["outdir"],
        &[LoadSymbols],
        To::Left(1, "names are loaded into the archive where it is; -outdir is left out"),
    ),
    // -1: all processes.
    switch(&["pid"], &[Export], To::Optional("--process", &[("-1", "")])),
    switch(&["perthread"], &[Export], To::Dropped(0, "profiles are always per thread")),
    switch(
        &["symserver", "symcache", "symfolder"],
        &[Export],
        To::Dropped(1, "the archive has the names; `symbols load` adds them"),
    ),
    switch(
        &["allcpu", "allexceptions", "includeexitedprocesses"],
        &[Extract],
        To::Dropped(0, "nothing is left out of an extract"),
    ),
    switch(&["nosampling"], &[Extract], To::LeaveOut("cpu_samples")),
    switch(&["nocswitch"], &[Extract], To::LeaveOut("context_switches")),
    switch(&["noready"], &[Extract], To::Dropped(0, "percentiles are made when they are asked for")),
    switch(
        &["extractregion"],
        &[Extract],
        To::Left(usize::MAX, "everything is extracted; ask about a part of it with `--time 3s..5s`"),
    ),
    switch(&["timeline"], &[Extract], To::Dropped(1, "a series is made when it is asked for: `dump cpu --bucket`")),
    switch(&["unzipoperation"], &[Extract], To::Missing("commands to run after unpacking; unpack first")),
    switch(&["dryrun"], &[Extract], To::Flag("--dry-run")),
];

/// The table as the reference shows it: names, commands, what becomes of the switch.
#[cfg(test)]
pub(crate) fn described() -> Vec<[String; 3]> {
    let described = |switch: &Switch| {
        let names: Vec<String> = switch.names.iter().map(|name| format!("`-{name}`")).collect();
        let commands: Vec<String> = switch.commands.iter().map(|command| command.words().join(" ")).collect();
        let commands = if switch.commands == ALL { "all".to_owned() } else { commands.join(", ") };
        [names.join(", "), commands, switch.to.described()]
    };
    SWITCHES.iter().map(described).collect()
}

#[cfg(test)]
impl To {
    fn described(&self) -> String {
        let words = |table: &[(&str, &str)]| {
            let pairs: Vec<String> = table.iter().map(|(theirs, ours)| format!("{theirs} → {ours}")).collect();
            pairs.join(", ")
        };
        match self {
            Self::Path => "a path".to_owned(),
            Self::Flag(ours) | Self::Value(ours) | Self::OfProcesses(ours) => format!("`{ours}`"),
            Self::Optional(ours, table) | Self::Word(ours, table) => format!("`{ours}`: {}", words(table)),
            Self::Range(min, max, _) => format!("`{min}`, `{max}`"),
            Self::Top(take, skip) => format!("`{take}`, `{skip}`"),
            Self::Columns(of_processes, of_methods) => {
                let one = [of_processes, of_methods].into_iter().find(|columns| !columns.is_empty());
                format!("`--columns '{}'`", one.map_or("", |columns| *columns))
            }
            Self::ChosenColumns => "`--columns`, names translated".to_owned(),
            Self::LeaveOut(table) => format!("`--tables '!{table}'`"),
            Self::Modules => "`--show-modules`".to_owned(),
            Self::FirstLast => "`--first-last`".to_owned(),
            Self::ProcessTimes => "`--time-format`, of `dump cpu` with `--columns '+start_ns;+end_ns'`".to_owned(),
            Self::ZeroTime => "`--zero-time`, `--zero-cmdline`".to_owned(),
            Self::Dropped(_, reason) => format!("nothing: {reason}"),
            Self::Left(_, note) => format!("left out, and said so: {note}"),
            Self::Missing(what) => format!("refused: {what}"),
        }
    }
}

/// The switch of a command.
pub(super) fn find(command: Command, name: &str) -> Result<Switch, UsageError> {
    let named = |switch: &&Switch| switch.names.contains(&name);
    if let Some(switch) = SWITCHES.iter().filter(named).find(|switch| switch.commands.contains(&command)) {
        return Ok(*switch);
    }
    let words = command.words().join(" ");
    Err(UsageError::new(
        match SWITCHES.iter().any(|switch| named(&switch)) {
            true => format!("-{name} does not belong to `{words}`"),
            false => format!("-{name} is no known switch of `{words}`"),
        },
        format!("`tracesift {words} --help` lists its options"),
    ))
}

impl Switch {
    /// What the switch does with the values that follow.
    pub(super) fn apply(self, command: Command, written: &str, tokens: &mut Tokens<'_>) -> Result<Effect, UsageError> {
        let mut value = || {
            tokens
                .value()
                .ok_or_else(|| UsageError::new(format!("{written} needs a value"), "write it behind the switch"))
        };
        Ok(match self.to {
            To::Path => Effect::Path(value()?.to_owned()),
            To::Flag(flag) => Effect::Ours(vec![flag.to_owned()]),
            To::Value(option) => {
                let value = value()?;
                // Flags that go with the option stand before it.
                let mut words: Vec<String> = option.split(' ').map(str::to_owned).collect();
                if let Some(last) = words.last_mut() {
                    last.push('=');
                    last.push_str(value);
                }
                Effect::Ours(words)
            }
            To::Optional(option, table) => {
                let translate = |value: &str| {
                    let translated = table.iter().find(|(theirs, _)| value.eq_ignore_ascii_case(theirs));
                    translated.map_or(value.to_owned(), |(_, ours)| (*ours).to_owned())
                };
                let value = tokens.value().map(translate);
                Effect::Ours(vec![value.map_or(option.to_owned(), |value| format!("{option}={value}"))])
            }
            To::Word(option, table) => Effect::Ours(vec![format!("{option}={}", word(written, value()?, table)?)]),
            To::Range(min, max, unit) => Effect::Ours(range(value()?, tokens, [min, max], unit)),
            To::Top(take, skip) => {
                let mut words = vec![format!("{take}={}", count(written, value()?)?)];
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
            To::ProcessTimes => {
                let format = format!("--time-format={}", word(written, value()?, TIME_FORMATS)?);
                // Of modules there are no lives to show, and those of processes stand in their answer anyway.
                let columns = if command == Cpu { "+start_ns;+end_ns" } else { "" };
                Effect::Modules(format, [(); 2].map(|()| columns.to_owned()))
            }
            To::ZeroTime => zero_time(written, value()?, tokens)?,
            To::Columns(of_processes, of_methods) => Effect::Columns([of_processes.to_owned(), of_methods.to_owned()]),
            To::ChosenColumns => {
                let list = columns::translate(command, value()?)?;
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
            To::Missing(what) => return Err(missing(what, written)),
        })
    }
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
