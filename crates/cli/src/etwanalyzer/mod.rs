//! ETWAnalyzer's own command lines: recognised by their single-dash verb, rewritten to ours by one table.
//!
//! `tracesift -dump CPU -pn System -fd X -topn 10` becomes `tracesift dump cpu X --process=System --top=10`. Verbs and
//! switches stand in any order and in any case, as there. What asks for something that tracesift does not do is refused by
//! its name, with the reason; what only shapes ETWAnalyzer's own output is dropped.

mod arguments;
mod columns;
pub(crate) mod csv;
pub(crate) mod extractors;
mod paths;
pub(crate) mod switches;
mod verbs;

use std::ffi::OsString;

use crate::exit::UsageError;
use crate::terminal::Messages;
use crate::unquoted_glob::UnquotedGlob;

use arguments::Tokens;
use extractors::Tables;
use switches::Effect;
use verbs::{Command, Verb};

/// A command line in our words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rewritten {
    /// The arguments after the program's name.
    pub(crate) arguments: Vec<String>,
    /// What is done in another way, or left out without harm.
    pub(crate) notes: Vec<String>,
    /// How a CSV file looks, where one is asked for.
    pub(crate) csv: Option<csv::Layout>,
}

/// A command line that was rewritten, ready to be parsed.
pub(crate) struct CommandLine {
    /// The arguments with the program's name.
    pub(crate) arguments: Vec<OsString>,
    /// How a CSV file looks, where one is asked for.
    pub(crate) csv: Option<csv::Layout>,
}

/// Rewrites a command line when it is one of ETWAnalyzer's; `None`: it is ours.
pub(crate) fn rewrite(arguments: &[OsString], messages: &Messages) -> anyhow::Result<Option<CommandLine>> {
    let Some((program, rest)) = arguments.split_first() else { return Ok(None) };
    let texts: Vec<String> = rest.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let Some(rewritten) = translate(&texts, &|path| std::path::Path::new(path).exists())? else { return Ok(None) };
    rewritten.notes.iter().for_each(|note| messages.note(note));
    let arguments = rewritten.arguments.into_iter().map(OsString::from);
    Ok(Some(CommandLine { arguments: std::iter::once(program.clone()).chain(arguments).collect(), csv: rewritten.csv }))
}

/// The same on texts. `exists` says whether a path exists, which decides between an archive and what ETWAnalyzer would have
/// made in its place.
pub(crate) fn translate(arguments: &[String], exists: &dyn Fn(&str) -> bool) -> Result<Option<Rewritten>, UsageError> {
    let Some(position) = arguments.iter().position(|argument| Verb::parse(argument).is_some()) else { return Ok(None) };
    let (before, verb_and_after) = arguments.split_at(position);
    let Some((verb, after)) = verb_and_after.split_first().and_then(|(verb, after)| Some((Verb::parse(verb)?, after)))
    else {
        return Ok(None);
    };
    let (command, after) = verb.command(after)?;
    // There a switch has one value, so what follows it can be nothing else.
    if let Some(glob) = UnquotedGlob::find(arguments, exists) {
        return Err(UsageError::new(glob.message(), glob.hint()));
    }
    let (names, after) = match command {
        Command::Extract => after.split_at(after.iter().take_while(|argument| !argument.starts_with('-')).count()),
        _ => (&[][..], after),
    };
    let mut collected = Collected { tables: Tables::of(names)?, ..Collected::default() };
    for part in [before, after] {
        let mut tokens = Tokens::new(part);
        while let Some(token) = tokens.next() {
            match arguments::switch_name(token) {
                None => collected.paths.push(token.to_owned()),
                Some(name) => {
                    let effect = switches::apply(switches::find(command, &name)?, token, &mut tokens)?;
                    collected.add(name, effect)?;
                }
            }
        }
    }
    Ok(Some(collected.rewritten(command, arguments, exists)))
}

/// What the switches of a command line led to.
#[derive(Default)]
struct Collected {
    switches: Vec<String>,
    /// Options of ours, each with the switch that stood for it first.
    given: Vec<(String, String)>,
    words: Vec<String>,
    paths: Vec<String>,
    notes: Vec<String>,
    /// `--columns`, which several switches change: in rows of processes, in rows of methods.
    columns: [Vec<String>; 2],
    /// Flags that only rows of processes have.
    of_processes: Vec<String>,
    tables: Tables,
    /// The command that answers in place of the question.
    instead: Option<&'static str>,
    /// The second format of `-fld`.
    last_format: Option<&'static str>,
}

impl Collected {
    fn add(&mut self, switch: String, effect: Effect) -> Result<(), UsageError> {
        match effect {
            Effect::Ours(options) => self.add_options(&switch, options)?,
            Effect::Path(path) => self.paths.push(path),
            Effect::Instead(command, option) => {
                self.instead = Some(command);
                self.words.extend(option);
            }
            Effect::Note(note) => self.notes.push(note),
            Effect::Columns(columns) => self.change(columns),
            Effect::Modules(option, columns) => {
                self.words.push(option);
                self.change(columns);
            }
            Effect::OfProcesses(flag) => self.of_processes.push(flag),
            Effect::LeaveOut(table) => self.tables.leave_out(table),
            Effect::FirstLast(mut options, last) => {
                self.words.append(&mut options);
                self.last_format = last;
            }
            Effect::Nothing => {}
        }
        self.switches.push(switch);
        Ok(())
    }

    /// Options of a switch. Several switches may stand for the same option, but not with different values.
    fn add_options(&mut self, switch: &str, options: Vec<String>) -> Result<(), UsageError> {
        const REPEATED: &str = "--tag-file";
        // Switches whose numbers replace those of the switch beside them, as `rewritten` does.
        const REPLACES: [&str; 2] = ["topnprocesses", "topndetails"];
        for word in options {
            let option = word.split('=').next().unwrap_or_default().to_owned();
            match self.given.iter().find(|(known, _)| *known == option) {
                Some(_) if self.words.contains(&word) => {}
                Some((_, other)) if option != REPEATED && ![switch, other].iter().any(|it| REPLACES.contains(it)) => {
                    return Err(UsageError::new(
                        format!("-{other} and -{switch} both stand for {option}, which has one value here"),
                        format!("leave one of them out; `{option}` of our own command line says what is meant"),
                    ));
                }
                _ => {
                    self.given.push((option, switch.to_owned()));
                    self.words.push(word);
                }
            }
        }
        Ok(())
    }

    fn change(&mut self, columns: [String; 2]) {
        for (all, more) in self.columns.iter_mut().zip(columns) {
            all.extend(Some(more).filter(|more| !more.is_empty()));
        }
    }

    /// Of all groupings and numbers of rows those of `-topnprocesses` stay.
    fn keep_largest_processes(&mut self) {
        let is_number = |word: &String| word.starts_with("--top=") || word.starts_with("--skip=");
        let is_it = |pair: &[String]| matches!(pair, [by, top] if by == "--by=process" && top.starts_with("--top="));
        let Some(at) = self.words.windows(2).position(is_it) else { return };
        let skip = self.words.get(at + 2).is_some_and(|word| word.starts_with("--skip="));
        let kept = at..at + 2 + usize::from(skip);
        let mut place = 0..;
        self.words.retain(|word| {
            place.next().is_some_and(|place| kept.contains(&place)) || !(is_number(word) || word.starts_with("--by="))
        });
    }

    /// A list of columns in which `dir` is the column that the rows are named by: there a file, a directory and a drive are one column.
    fn with_name(&self, command: Command, columns: &str) -> String {
        let usual = if command.is_question("disk") { "drive" } else { "path" };
        let is_of_paths = command.is_question("disk") || command.is_question("file");
        let by_directory = |word: &String| word.starts_with("--dir-level") || word == "--by=process,dir";
        if !is_of_paths || self.words.iter().any(by_directory) {
            return columns.to_owned();
        }
        let by_process = self.words.iter().any(|word| word == "--by=process");
        let name = if by_process { "who" } else { usual };
        let named = |item: &str| match item.strip_suffix("dir") {
            Some(sign @ ("" | "!" | "+")) => format!("{sign}{name}"),
            _ => item.to_owned(),
        };
        columns.split(';').map(named).collect::<Vec<_>>().join(";")
    }

    /// Where another command answers, options that this one alone has mean nothing.
    fn keep_options_of_other_command(&mut self) {
        let Some(command) = self.instead else { return };
        let mut line: Vec<String> = format!("tracesift {command}").split(' ').map(str::to_owned).collect();
        let (before, mut left_out) = (line.len(), Vec::new());
        for word in self.words.drain(..) {
            line.push(word);
            if crate::args::definition().try_get_matches_from(&line).is_err() {
                let word = line.pop().unwrap_or_default();
                left_out.push(word.split('=').next().unwrap_or_default().to_owned());
            }
        }
        self.words = line.split_off(before);
        if !left_out.is_empty() {
            self.notes.push(format!("`{command}` has no {}: left out", left_out.join(", ")));
        }
    }

    fn has(&self, switch: &str) -> bool {
        self.switches.iter().any(|known| known == switch)
    }

    fn rewritten(mut self, command: Command, arguments: &[String], exists: &dyn Fn(&str) -> bool) -> Rewritten {
        let of_methods = ["methods", "stacktags", "topnmethods"].iter().any(|switch| self.has(switch));
        let is_extract = matches!(command, Command::Extract);
        let is_cpu = command.is_question("cpu");
        let of_methods = is_cpu && of_methods;
        if !of_methods {
            self.words.append(&mut self.of_processes);
        }
        // There the details are all of them unless a number is given.
        if self.has("topndetails") {
            self.words.retain(|word| word != "--top-details=all");
        }
        // Rows in the order of time are single ones, which have their time.
        if command.is_question("exception") && self.words.iter().any(|word| word == "--list") {
            self.words.retain(|word| word != "--top-details=all");
        }
        // There the largest processes have rows per directory below them.
        if self.has("topnprocesses") {
            self.keep_largest_processes();
        }
        let mut columns = std::mem::take(&mut self.columns[usize::from(of_methods)]).join(";");
        if is_cpu && !of_methods && self.has("merge") {
            // Merged rows have neither totals nor anything of a single process.
            let of_single = ["--totals=", "--show-modules", "--core-numbers"];
            self.words.retain(|word| !of_single.iter().any(|option| word.starts_with(option)));
            columns.clear();
        }
        if !columns.is_empty() {
            self.words.push(format!("--columns={}", self.with_name(command, &columns)));
        }
        if is_extract {
            self.words.extend(self.tables.option());
            // There what was extracted before is replaced unless one says otherwise.
            if !self.has("nooverwrite") {
                self.words.push("--overwrite".to_owned());
            }
        }
        let csv = (self.has("csv") && self.instead.is_none() && csv::is_of(command)).then(|| {
            // These shape what is shown; a file has every row and column.
            let shapes = ["--totals=", "--columns=", "--properties=", "--merge"];
            self.words.retain(|word| !shapes.iter().any(|option| word.starts_with(option)));
            if of_methods && !self.has("noready") {
                self.words.push("--percentiles".to_owned());
            }
            // There a file has a row for each query.
            if command.is_question("dns") {
                self.words.retain(|word| !word.starts_with("--top-details"));
                self.words.push("--top-details=all".to_owned());
            }
            // There it has a row for each exception, with the whole message.
            if command.is_question("exception") {
                let others = ["--list", "--sort=", "--max-message=", "--stacks", "--top-details"];
                self.words.retain(|word| !others.iter().any(|other| word.starts_with(other)));
                self.words.extend(["--list", "--sort=time", "--max-message=0"].map(str::to_owned));
            }
            // There it has a row for each connection, with both ends in columns of their own.
            let others = ["--by=", "--retransmits", "--issues"];
            if command.is_question("tcp") && !self.words.iter().any(|word| others.iter().any(|o| word.starts_with(o))) {
                self.words.push("--by=process,connection,local,local-port,remote,remote-port,tcb,template".to_owned());
            }
            // There a row is a process.
            if command.is_question("virtualalloc") && !self.words.iter().any(|word| word.starts_with("--by=")) {
                self.words.push("--by=process".to_owned());
            }
            csv::Layout::new(arguments.join(" "), !self.has("nocsvseparator"), &self.words, self.last_format)
        });
        if self.has("csv") && csv.is_none() {
            self.notes.push("ETWAnalyzer has no CSV file of this question: it gets the columns of `--csv`".to_owned());
        }
        self.keep_options_of_other_command();
        // Paths stand in front of the options: one of them may have a value or none.
        let paths: Vec<paths::Translated> =
            self.paths.iter().map(|path| paths::translate(path, !is_extract, exists)).collect();
        self.notes.extend(paths.iter().filter_map(|path| path.note.clone()));
        let paths = paths.into_iter().map(|path| path.path);
        let words = self.instead.map_or_else(|| command.words(), |words| words.split(' ').map(str::to_owned).collect());
        let arguments = words.into_iter().chain(paths).chain(self.words).collect();
        Rewritten { arguments, notes: self.notes, csv }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn ours(line: &str) -> String {
        match translate(&words(line), &|_| false) {
            Ok(Some(rewritten)) => {
                let notes: Vec<String> = rewritten.notes.iter().map(|note| format!("\n  note: {note}")).collect();
                format!("tracesift {}{}", rewritten.arguments.join(" "), notes.concat())
            }
            Ok(None) => "not ETWAnalyzer's".to_owned(),
            Err(error) => format!("error: {}\n  hint: {}", error.message, error.hint.unwrap_or_default()),
        }
    }

    #[test]
    fn our_own_command_lines_are_left_alone() {
        for line in ["dump cpu -p System", "extract x", "--help", "-h", "", "dump cpu -f -dumpling"] {
            assert_eq!(translate(&words(line), &|_| false), Ok(None), "{line}");
        }
    }

    #[test]
    fn switches_of_objects_are_options_or_are_refused_by_name() {
        let pairs = [
            ("-leak -multiprocess -inherit -overlapped", "--leak --multi-process --inherited --overlapped"),
            ("-type File -object 0x1 -objectname *a* -handle 0x4", "--type=File --object=0x1 --name=*a* --handle=0x4"),
            ("-minmaxduration 1 2.5", "--min-duration=1s --max-duration=2.5s"),
            ("-map 0", "--map=no"),
            ("-map 1 -ptrinmap 0x10 -viewbase 0x1000", "--map=only --address-in-map=0x10 --view-base=0x1000"),
            ("-minmaxmapsize 4096 1000000", "--min-map-size=4096 --max-map-size=1000000"),
            ("-topn 5 2 -relatedprocess a.exe", "--top=5 --skip=2 --process=a.exe"),
            ("-pn b.exe -relatedprocess a.exe", "--creator=b.exe --process=a.exe"),
            ("-showstack", "--details"),
            ("-showtotal none", ""),
            ("-showref -minmaxid 3 9", "--references --min-id=3 --max-id=9"),
            ("-minmaxtime 1 2.5", "--min-time=1s --max-time=2.5s"),
            ("-createstack *a* -destroystack b;!c -stackfilter d", "--create-stack=*a* --destroy-stack=b;!c --stack=d"),
        ];
        for (theirs, options) in pairs {
            let line = ours(&format!("-dump ObjectRef {theirs}"));
            assert_eq!(line.trim_end(), format!("tracesift dump objectref {options}").trim_end());
            let parsed = crate::args::definition().try_get_matches_from(words(&line));
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }

    #[test]
    fn switches_of_connections_are_options_or_are_refused_by_name() {
        let pairs = [
            ("-stats", "--columns=+stat_bytes_in;+stat_bytes_out;+stat_segments_in;+stat_segments_out"),
            ("-minmaxconnect 0 0", "--older"),
            ("-minmaxconnect 1 2.5", "--min-start=1s --max-start=2.5s"),
            ("-minmaxdisconnect 0-0", "--open"),
            ("-minmaxlastsents 0 0 -minmaxlastreceiveds 3", "--never-sent --min-last-received=3s"),
            (
                "-showretransmit -minmaxretransbytes 2 -topnretrans 3 1 -sortretransmitby Time",
                "--retransmits --min-retransmit-size=2 --top=3 --skip=1 --sort=time",
            ),
            ("-sortby MaxSendDelay", "--sort=send-gap"),
            ("-minmaxstatpackets 1 2 -showtotal total", "--min-stat-segments=1 --max-stat-segments=2"),
        ];
        for (theirs, options) in pairs {
            let line = ours(&format!("-dump TCP {theirs}"));
            assert_eq!(line.trim_end(), format!("tracesift dump tcp {options}"));
            let parsed = crate::args::definition().try_get_matches_from(words(&line));
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
        for (theirs, named) in [
            ("-topn 3 -topnretrans 5", "-topn and -topnretrans both stand for --top,"),
            ("-sortby SentSize -sortretransmitby Delay", "-sortby and -sortretransmitby both stand for --sort,"),
        ] {
            let said = ours(&format!("-dump TCP {theirs}"));
            assert!(said.starts_with("error: ") && said.contains(named), "{said}");
        }
        let csv = ours("-dump TCP -csv x.csv");
        assert!(csv.ends_with("--by=process,connection,local,local-port,remote,remote-port,tcb,template"), "{csv}");
        assert!(!ours("-dump TCP -csv x.csv -groupby SourceIpRemoteIp").contains("connection,local"));
    }

    #[test]
    fn tracelog_with_its_switches() {
        for (theirs, options) in [
            ("", ""),
            ("-Provider MyApp -SortBy Id -TopN 3", "--provider=MyApp --top=3 --sort=id"),
            ("-provider MyApp:ev1,12,!ev3;Other", "--provider=MyApp:ev1,12,!ev3;Other"),
            ("-Message *a=5* -TID 100 -MaxCount 7", "--message=*a=5* --tid=100 --max-count=7"),
            ("-MinMaxTime 1 2.5 -pn app", "--process=app --min-time=1s --max-time=2.5s"),
            ("-Provider P:* -Column Time;Message", "--provider=P:* --columns=time_ns;message"),
        ] {
            let line = ours(&format!("-dump TraceLog {theirs}"));
            let sorted = |line: &str| {
                let mut sorted = words(line);
                sorted.sort();
                sorted
            };
            assert_eq!(sorted(&line), sorted(&format!("tracesift dump tracelog {options}")), "{theirs}");
            let parsed = crate::args::definition().try_get_matches_from(words(&line));
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
        assert_eq!(ours("-extract TraceLog").trim_end(), "tracesift extract --tables=events --overwrite");
    }

    #[test]
    fn switches_of_files_disks_and_names_are_options_or_say_what_there_is() {
        let pairs = [
            (
                "File",
                "-showallfiles",
                "\n  note: files without a name have a row anyway, `(no file)`; --unnamed shows them alone",
            ),
            ("File", "-perprocess -topnprocesses 3 1 -topn 50", "--by=process --top=3 --skip=1"),
            ("Disk", "-topnprocesses 3", "--by=process --top=3"),
            ("Disk", "-perprocess -dirlevel 2", "--by=process,dir --dir-level=2"),
            ("File", "-rfn -merge", "--reverse-path --merge"),
            ("Disk", "-reversefilename -merge", "--reverse-path --merge"),
            ("File", "-showtotal process", "--by=process"),
            ("File", "-showtotal total", "--top=0"),
            ("File", "-showtotal file", ""),
            ("File", "-sortby maxreadpos", "--sort=max-read-position"),
            ("File", "-column ReadCount;OpenCount;FileDir", "--columns=reads;opens;path"),
            ("File", "-dirlevel 1 -column filedir", "--dir-level=1 --columns=dir"),
            ("Disk", "-column FileDir;PercentActive", "--columns=drive;active_percent"),
            ("Disk", "-perprocess -column !filedir", "--by=process,dir --columns=!dir"),
            ("DNS", "-details", "--top-details=all"),
            ("DNS", "-details -topndetails 3", "--top-details=3"),
            ("VirtualAlloc", "-showstack -details", "--details"),
            (
                "Exception",
                "-type *IO* -message *x* -sf *Main* -ss",
                "--type=*IO* --message=*x* --stack=*Main* --stacks",
            ),
            ("Exception", "-showtime -maxmessage 0", "--top-details=all --max-message=0"),
            ("Exception", "-cutstack 0-50 -minmaxextime 1 2.5", "--cut-stack=0-50 --min-time=1s --max-time=2.5s"),
            ("Exception", "-sortby Time -showtime", "--list --sort=time"),
            ("Exception", "-csv x.csv -ss -sortby time", "--csv=x.csv --list --sort=time --max-message=0"),
            ("VirtualAlloc", "-showstack -topnstacks 5 2", "--details --top-stacks=5 --skip-stacks=2"),
            ("VirtualAlloc", "-stackidx 17", "--stack=17"),
        ];
        for (question, theirs, options) in pairs {
            let line = ours(&format!("-dump {question} {theirs}"));
            let (ours, _) = line.split_once("\n").unwrap_or((&line, ""));
            let name = if question == "Exception" { "exceptions".to_owned() } else { question.to_lowercase() };
            let expected = format!("tracesift dump {name} {options}");
            assert_eq!(line.replace(" \n", "\n").trim_end(), expected.replace(" \n", "\n").trim_end(), "{theirs}");
            let parsed = crate::args::definition().try_get_matches_from(words(ours));
            assert!(parsed.is_ok(), "{ours}: {}", parsed.unwrap_err());
        }
        for (line, note) in [
            ("-dump File -smi", "facts of modules are left out; `dump version --per-process` has them"),
            (
                "-dump TCP -minmaxinject 1 5",
                "archives do not tell injected sends from posted ones; --min-posted and --max-posted limit both",
            ),
        ] {
            assert_eq!(ours(line).lines().nth(1), Some(&*format!("  note: {note}")));
        }
    }

    #[test]
    fn what_tracesift_does_not_do_is_refused_with_another_way() {
        for (line, refusal) in [
            ("-dump TestRun -CopyFilesTo x", "error: tracesift copies no files (-CopyFilesTo)"),
            ("-extract All -unzipoperation x", "error: an extract runs no other commands (-unzipoperation)"),
        ] {
            let said = ours(line);
            assert_eq!(said.lines().next(), Some(refusal));
            assert!(!said.contains("yet"), "{said}");
        }
    }

    #[test]
    fn missing_pdbs_are_another_question() {
        for (theirs, options) in [
            ("-missingpdb", ""),
            ("-missingpdb ntdll* -topn 3", " --pdb=ntdll* --top=3"),
            ("-missingpdb -clip", ""),
            ("-modulefilter a.dll -missingpdb", " --dll=a.dll"),
            ("-missingpdb -dll a.dll", " --dll=a.dll\n  note: `symbols missing` has no --per-process: left out"),
        ] {
            assert_eq!(
                ours(&format!("-dump Version {theirs}")),
                format!("tracesift symbols missing{options}"),
                "{theirs}"
            );
        }
    }

    #[test]
    fn every_part_of_the_grammar() {
        insta::assert_snapshot!(
            [
                "-fd x -DUMP cpu -TOPN 5 2 -MinMaxCpuMs 10 2000 -sortby priority",
                "-dump process -newprocess -2 -session *-1* -minmaxduration 1 -processfmt local -nosuch",
                "-dump process -newprocess -2 -MinMaxStart -1.5s 3 -sortby tree -showuser -column +Session;!User",
                "-dump process -column x",
                "-dump cpu -nopriority -nocoreusage -showcorenumber -noready -nofrequency -column +wait_ns -smi driver",
                "-dump cpu -topnmethods 3 -nopriority -showcorenumber -threadcount -noready -csv x.csv -showtotal method",
                "-dump cpu -merge -csv x.csv",
                "-dump cpu -merge -showtotal total -nopriority",
                "-dump cpu -normalize",
                "-dump testrun -csv x.csv",
                "-dump testrun -fd a -fd b -printfiles -validtestsonly -tri 1 -trc 2 -MinMaxMsTestTimes 100-2000",
                "-dump stats x.json7z -properties CPU*;!x -oneline",
                "-dump",
                "-dump nothing",
                "-dump cpu -topn",
                "-dump cpu -topn many",
                "-converttime -fd x -time 10:15",
                "-convert -fd x.etl -pid -1 -perthread",
                "-convert -fd x.etl -pid 4711",
                "-loadsymbol -fd x.json -symserver NtSymbolPath -nooverwrite",
                "-extract all -fd x.etl -symserver ms -nooverwrite",
                "-dump cpu -methods * -zt First *Main -zpn FileWriter -fld s s -fd x",
                "-dump process -zerotime ProcessStart *serial* -fd x",
                "-dump cpu -zt sometime",
                "-extract cpu disk -fd x.etl -outdir out -nthreads 4 -extractregion 1 2",
                "-extract dns",
                "-extract default -nosampling -dryrun -lastndays 2.5 -symcache c:/cache",
                "-extract file",
                "-extract nothing",
                "-help",
            ]
            .map(|line| format!("{line}\n  {}", ours(line)))
            .join("\n")
        );
    }

    /// The command lines that stand in the blog posts and the documentation of ETWAnalyzer's authors.
    #[test]
    fn the_command_lines_of_the_seeds() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/spec/seed-commands.txt");
        let Ok(text) = std::fs::read_to_string(path) else {
            return tracesift_fixtures::skipped("../shared/spec is absent");
        };
        let lines: Vec<&str> = text.lines().take_while(|line| !line.starts_with('#')).collect();
        assert_eq!(lines.len(), 29);
        let rewritten: Vec<String> = lines
            .into_iter()
            .map(|line| {
                let arguments = shell_words(line);
                assert!(!matches!(translate(&arguments, &|_| false), Ok(None)), "not recognised: {line}");
                format!("{line}\n  {}", ours_of(&arguments))
            })
            .collect();
        insta::assert_snapshot!(rewritten.join("\n"));
    }

    fn ours_of(arguments: &[String]) -> String {
        match translate(arguments, &|_| false) {
            Ok(Some(rewritten)) => {
                // What comes out must be a command line of ours.
                use clap::Parser as _;
                let line = std::iter::once("tracesift".to_owned()).chain(rewritten.arguments.iter().cloned());
                crate::args::Cli::try_parse_from(line).unwrap();
                let notes: Vec<String> = rewritten.notes.iter().map(|note| format!("\n  note: {note}")).collect();
                format!("tracesift {}{}", rewritten.arguments.join(" "), notes.concat())
            }
            Ok(None) => String::new(),
            Err(error) => format!("error: {}\n  hint: {}", error.message, error.hint.unwrap_or_default()),
        }
    }

    /// The arguments after the program's name, with double quotes as cmd.exe and PowerShell take them.
    fn shell_words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ' ' if !quoted => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
                c => word.push(c),
            }
        }
        words.extend(Some(word).filter(|word| !word.is_empty()));
        words.split_off(1)
    }
}
