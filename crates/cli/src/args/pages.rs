//! The pages of help: which options stand on the short ones (`-h`), and the examples of each.
//!
//! `--help` has all options. What a page does not list for `-h` is left out there, so that a new option does not make short pages longer.

use clap::Command;
use tracesift_ask::question;
use unicode_width::UnicodeWidthStr as _;

/// A page of help.
#[derive(Clone, Copy)]
pub(crate) struct Page {
    /// The command, its words behind `tracesift`.
    pub(crate) command: &'static str,
    /// Ids of the options on the short page.
    short: &'static [&'static str],
    /// Command lines, and what they do. The first three stand on the short page.
    pub(crate) examples: &'static [(&'static str, &'static str)],
    /// Lines of both pages, behind the examples.
    note: &'static str,
    /// What follows on the long page.
    more: &'static str,
}

const fn page(
    command: &'static str,
    short: &'static [&'static str],
    examples: &'static [(&'static str, &'static str)],
) -> Page {
    Page { command, short, examples, note: "", more: "" }
}

/// All pages.
pub(crate) fn all() -> impl Iterator<Item = Page> {
    let of_questions = question::all()
        .map(|question| Page { note: question.note, ..page(question.command, question.short, question.examples) });
    PAGES.iter().copied().chain(of_questions)
}

/// The pages of the commands that are no questions; those of questions stand beside their options.
const PAGES: &[Page] = &[
    Page {
        note: "ETWAnalyzer's command lines run too: tracesift -dump CPU -pn App -fd X -topn 10",
        more: "Exit codes: 0 fine (losses are warned of), 1 nothing usable, 2 done but some inputs failed, 3 a gate of compare failed, 4 a gate is undecided under --strict, 64 wrong usage, 130 interrupted",
        ..page(
            "",
            &[],
            &[
                ("tracesift demo", "write, extract and ask example recordings"),
                ("tracesift extract recordings/", "extract what is new in recordings/"),
                ("tracesift dump cpu recordings/ --top 10", "the ten largest users of the CPU in each"),
                ("tracesift record -- ./build.sh", "record the machine while a command runs"),
                ("tracesift dump stats X.etl", "works on a raw recording, as every dump does"),
            ],
        )
    },
    page(
        "record",
        &[
            "output",
            "profiles",
            "rate",
            "call_graph",
            "only_process",
            "ring",
            "stop_when",
            "start",
            "stop",
            "mark",
            "list_profiles",
            "dry_run",
        ],
        &[
            ("tracesift record -- ./build.sh", "CPU and disk of the machine while it runs"),
            ("tracesift record --profile CSwitch,File -o a.data -- ./build.sh", "waits and files, too"),
            ("tracesift record --profile CSwitch --start", "around something that runs already"),
            ("tracesift record --mark 'slow now'", "write a mark into what was started"),
            ("tracesift record --stop", "end what was started, and keep it"),
            ("tracesift record --ring 1GiB --stop-when file=/tmp/hang", "keep what happened last"),
            ("tracesift record --profile CSwitch --rotate 5min --keep 40GB", "for days, in files of five minutes"),
            ("tracesift record --dry-run --platform windows --profile CSwitch", "what would run on Windows"),
        ],
    ),
    Page {
        more: "A plan:\n  profiles = [\"Default\", \"CSwitch\"]\n  [defaults]\n  repetitions = 3\n  settle = \"1s\"\n  [[test]]\n  name = \"FileWriter\"\n  \
               command = [\"./file-writer\", \"--threads\", \"{threads}\"]\n  matrix = { threads = \"1..5\" }",
        ..page(
            "run",
            &[
                "directory",
                "only",
                "symbols",
                "no_extract",
                "keep",
                "dry_run",
                "table",
                "against",
                "by",
                "fail_if",
                "format",
                "out",
            ],
            &[
                ("tracesift run plan.toml", "run what is left, record each run, show the table"),
                ("tracesift run plan.toml --only '*threads3'", "only these cases"),
                (
                    "tracesift run plan.toml --against last --fail-if 'undisturbed > +5%'",
                    "all cases anew; exit code 3 if they are slower than before",
                ),
                (
                    "tracesift run plan.toml --by build=old..new --fail-if 'undisturbed > +5%'",
                    "two builds in turn; exit code 3 if the new one is slower",
                ),
                ("tracesift run plan.toml --table --format csv", "the table of what has been run"),
            ],
        )
    },
    page(
        "extract",
        &["out", "overwrite", "recursive", "dry_run", "events", "tables", "symbols", "sysroot", "jobs", "memory"],
        &[
            ("tracesift extract recordings/", "all that is new there, in parallel"),
            ("tracesift extract perf.data --symbols local", "names from this machine's files"),
            ("tracesift extract X.etl.zip --out archives/", "archives go elsewhere"),
            ("tracesift extract X.etl --events all", "keep every single event"),
            ("tracesift extract X.etl --symbols 'C:\\symbols;msdl'", "names from a folder and Microsoft's server"),
            ("tracesift extract --merge Y A.etl B.etl", "several files of one recording"),
        ],
    ),
    page(
        "import",
        &["out", "overwrite"],
        &[
            ("tracesift import X.json", "with the X_Derived_*.json beside it"),
            ("tracesift import X.json7z --out archives/", "packed extracts, archives go elsewhere"),
            ("tracesift import X.json --overwrite", "import again what is up to date"),
        ],
    ),
    Page {
        more: "Methods and stack tags are asked with `dump cpu`: --methods, --stacktags, --top-methods.\n\
            Options that all questions have: tracesift help filters",
        ..page(
            "dump",
            &[],
            &[
                ("tracesift dump cpu X.sift --top 10", "who used the CPU"),
                ("tracesift dump threads X.sift -p App", "where its time went"),
                ("tracesift dump waits X.sift --top 5", "the longest waits, and who ended them"),
                (
                    "tracesift dump process recordings/ -f '*Write*;!*WithAV*' --sort tree",
                    "files chosen by their names",
                ),
                ("tracesift dump stats X.etl", "of a raw recording"),
            ],
        )
    },
    Page {
        note: "Files, processes and test runs: tracesift help filters",
        more: "Rules that the recording cannot tell are named with the reason; they are not counted as 0.",
        ..page(
            "explain",
            &["process", "window", "anchor", "disturbances", "format", "out"],
            &[
                ("tracesift explain X.sift -p FileWriter", "the life of a process"),
                ("tracesift explain X.sift -p FileWriter --window 'method:*CreateFiles*'", "a part of it"),
                ("tracesift explain recordings/ -p FileWriter --format json", "many, for programs"),
            ],
        )
    },
    Page {
        note: "Files, processes and test runs: tracesift help filters",
        more: "The rows of the difference add up to it: means are compared, and the duration of a run is the sum of its rows.",
        ..page(
            "compare",
            &["process", "window", "min_effect", "fail_if", "top", "force", "format", "out", "details"],
            &[
                ("tracesift compare 'good/*' 'bad/*' -p FileWriter", "two sets, by pattern"),
                ("tracesift compare before=old/ after=new/ --window process:app", "two directories, with names"),
                ("tracesift compare old/ new/ --format json -o compare.json", "for programs"),
                (
                    "tracesift compare old/ new/ --fail-if 'undisturbed > +5%'",
                    "exit code 3 if it is slower by more than that",
                ),
            ],
        )
    },
    Page {
        note: "Files, processes and test runs: tracesift help filters",
        more: "Four runs on either side are needed for a change; one run that stands apart is none.",
        ..page(
            "history",
            &["process", "window", "order", "min_effect", "top", "format", "out", "details"],
            &[
                ("tracesift history recordings/ -p FileWriter", "by time"),
                ("tracesift history recordings/ -p app --order version:app.exe", "by the version of a module"),
                ("tracesift history recordings/ -p app --format json -o history.json", "for programs"),
            ],
        )
    },
    page(
        "view",
        &["time", "process", "tag_file", "port", "no_open"],
        &[
            ("tracesift view X.sift", "opens the browser; Ctrl-C ends it"),
            ("tracesift view X.etl --time 3.2s..7.9s -p App", "a raw recording, at a part of it"),
            ("tracesift view good.sift bad.sift --no-open", "only prints the URL"),
            ("tracesift view X.sift --port 8123 --no-open", "for ssh -L 8123:127.0.0.1:8123"),
        ],
    ),
    page(
        "events",
        &["provider", "class", "name", "process", "time", "conditions", "stacks", "limit", "format"],
        &[
            ("tracesift events X.etl --class Process", "starts and ends of processes"),
            ("tracesift events X.etl.zip --time 2s..2.5s --limit 100", "what happened at that time"),
            ("tracesift events X.sift --name GC/Start --stacks --limit 1", "with its call stack"),
            ("tracesift events X.etl --provider Microsoft-Windows-DNS-Client --format jsonl", "of one provider"),
            ("tracesift events X.etl --name DiskIO/Read --where 'TransferSize>=65536'", "large reads"),
        ],
    ),
    Page {
        note: "Files, processes, time and test runs: tracesift help filters",
        ..page(
            "flame",
            &["process", "time", "measure", "methods", "path", "window", "against", "group", "out"],
            &[
                ("tracesift flame X.sift -p App -o cpu.svg", "one file, for any browser"),
                ("tracesift flame bad.sift --against good.sift", "what changed: red is more"),
                ("tracesift flame X.sift -p App --measure wait", "where it waited"),
                ("tracesift flame X.sift -p App --path", "where its wall-clock time went"),
            ],
        )
    },
    Page {
        note: "Files, processes, time and test runs: tracesift help filters",
        ..page(
            "export",
            &["process", "time", "measure", "methods", "path", "window", "format", "out"],
            &[
                ("tracesift export X.sift --format firefox", "for profiler.firefox.com"),
                ("tracesift export X.sift --format speedscope -p App", "of one process"),
                ("tracesift export X.sift --format folded -o -", "a line per stack"),
                ("tracesift export X.sift -p App --path --format firefox", "its critical path"),
            ],
        )
    },
    page(
        "symbols",
        &[],
        &[
            ("tracesift symbols missing X.sift --top 10", "what has no name yet"),
            ("tracesift symbols load X.sift --symbols path", "as _NT_SYMBOL_PATH says"),
            ("tracesift symbols lookup app.pdb 0x1000", "function, file and line"),
        ],
    ),
    page(
        "symbols load",
        &["symbols", "sysroot", "offline", "retry"],
        &[
            ("tracesift symbols load X.sift", "from files of this machine"),
            ("tracesift symbols load X.sift --symbols 'C:\\symbols;msdl'", "from a folder, then a server"),
            ("tracesift symbols load perf.sift --symbols debuginfod", "from DEBUGINFOD_URLS"),
        ],
    ),
    page(
        "symbols lookup",
        &["symbols", "format", "out"],
        &[
            ("tracesift symbols lookup app.pdb 0x1000 0x1234 --format json", "two addresses"),
            ("tracesift symbols lookup ntdll.dll 0x1a2b --symbols msdl", "with its PDB from a server"),
            ("tracesift symbols lookup ./app 0000000000033440", "an address as nm prints it"),
            ("tracesift symbols lookup app.pdb < addresses.txt", "many addresses"),
        ],
    ),
    page(
        "symbols cache",
        &["symbol_cache"],
        &[
            ("tracesift symbols cache list", "what is there"),
            ("tracesift symbols cache prune --unused 30d", "remove what nobody used for so long"),
            ("tracesift symbols cache clear", "remove all tables"),
        ],
    ),
    page(
        "symbols cache list",
        &["format", "csv", "out", "symbol_cache"],
        &[
            ("tracesift symbols cache list", "the largest last"),
            ("tracesift symbols cache list --format json", "for scripts"),
            ("tracesift symbols cache list --symbol-cache /tmp/symbols", "of another directory"),
        ],
    ),
    page(
        "symbols cache prune",
        &["size", "unused", "symbol_cache"],
        &[
            ("tracesift symbols cache prune --unused 30d", "what nobody used for so long"),
            ("tracesift symbols cache prune --size 2GiB", "the longest unused ones"),
            ("tracesift symbols cache prune --size 2GiB --unused 12h", "both"),
        ],
    ),
    page(
        "symbols cache clear",
        &["symbol_cache"],
        &[
            ("tracesift symbols cache clear", "remove all tables"),
            ("tracesift symbols cache clear --symbol-cache /tmp/symbols", "of another directory"),
            ("tracesift symbols cache prune --unused 30d", "remove only what is old"),
        ],
    ),
    page(
        "keywords",
        &["manifest"],
        &[
            ("tracesift keywords", "providers whose keywords are known"),
            ("tracesift keywords Microsoft-Windows-DotNETRuntime 0x8001", "GC, Exception"),
            ("tracesift keywords Microsoft-Windows-DotNETRuntime GC+Exception", "0x8001"),
            ("tracesift keywords My-Provider Slow+Fast --manifest My.man", "from a manifest"),
        ],
    ),
    page(
        "demo",
        &[],
        &[
            ("tracesift demo", "into tracesift-demo"),
            ("tracesift demo /tmp/demo", "into another directory"),
            ("tracesift dump cpu tracesift-demo --top 5", "ask it afterwards"),
        ],
    ),
    page(
        "completions",
        &[],
        &[
            ("source <(tracesift completions bash)", "bash: a line for ~/.bashrc"),
            ("source <(tracesift completions zsh)", "zsh: a line for ~/.zshrc, behind compinit"),
            ("tracesift completions fish | source", "fish: a line for config.fish"),
            ("tracesift completions powershell | Out-String | Invoke-Expression", "PowerShell: a line for $PROFILE"),
        ],
    ),
    page(
        "man",
        &["out"],
        &[
            ("tracesift man --out man", "a page per command"),
            ("tracesift man | man -l -", "read the main page"),
            ("man man/tracesift-dump-cpu.1", "read another one"),
        ],
    ),
    page(
        "help",
        &[],
        &[
            ("tracesift help filters", "the options that all questions have"),
            ("tracesift help dump cpu", "all of a question"),
            ("tracesift dump cpu -h", "the options that people use"),
        ],
    ),
];

/// Puts the pages into the definition of the command line.
pub(super) fn apply(definition: Command) -> Command {
    at(definition, "")
}

fn at(command: Command, path: &str) -> Command {
    let children: Vec<String> = command.get_subcommands().map(|child| child.get_name().to_owned()).collect();
    let mut command = children.into_iter().fold(command, |command, name| {
        let path = if path.is_empty() { name.clone() } else { format!("{path} {name}") };
        command.mut_subcommand(name, |child| at(child, &path))
    });
    let Some(page) = all().find(|page| page.command == path) else { return command };
    command = command.mut_args(|arg| {
        let is_short = arg.is_positional() || page.short.contains(&arg.get_id().as_str());
        // All of it stays on the long page.
        match arg.get_help().map(ToString::to_string) {
            Some(help) if short(&help) != help => {
                arg.hide_short_help(!is_short).help(short(&help).to_owned()).long_help(help)
            }
            _ => arg.hide_short_help(!is_short),
        }
    });
    let few = page.examples.get(..3).unwrap_or(page.examples);
    command.after_help(joined(&[&examples(few), page.note])).after_long_help(joined(&[
        &examples(page.examples),
        page.note,
        page.more,
    ]))
}

/// What an option does, without what its values look like: examples show that.
fn short(help: &str) -> &str {
    /// So much stands on a line, whatever follows it.
    const LINE: usize = 50;
    if help.width() <= LINE {
        return help;
    }
    let end = [": ", "; ", " [default"].iter().filter_map(|mark| help.find(mark)).min();
    end.and_then(|end| help.get(..end)).unwrap_or(help)
}

fn joined(parts: &[&str]) -> String {
    parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Columns of a narrow terminal: examples are not wrapped, as they would be wrapped in the middle of a command.
const NARROW: usize = 80;

/// Command lines with what they do, beside or below them.
fn examples(lines: &[(&str, &str)]) -> String {
    let longest = |rest: &[(&str, &str)], of: fn(&(&str, &str)) -> usize| rest.iter().map(of).max().unwrap_or(0);
    let right = longest(lines, |(_, what)| what.width());
    let room = NARROW.saturating_sub(right + 4);
    let beside: Vec<(&str, &str)> = lines.iter().copied().filter(|(line, _)| line.width() <= room).collect();
    let left = longest(&beside, |(line, _)| line.width());
    let lines = lines.iter().map(|(line, what)| match line.width() <= room {
        true => format!("  {line:left$}  {what}"),
        false => format!("  {line}\n  {:left$}  {what}", ""),
    });
    std::iter::once("Examples:".to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
}

/// The words of a line as a shell makes them, as far as examples need that: quotes, and nothing of a redirection.
#[cfg(test)]
pub(crate) fn words(line: &str) -> Vec<String> {
    let line = line.split(['<', '|']).next().unwrap_or_default();
    let quoted = line.split('\'').enumerate().flat_map(|(number, part)| match number % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
        _ => vec![part.to_owned()],
    });
    quoted.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{all, words};
    use crate::args::definition;

    /// Every command with its words.
    fn commands() -> Vec<(String, clap::Command)> {
        fn collect(command: &clap::Command, path: &str, into: &mut Vec<(String, clap::Command)>) {
            into.push((path.to_owned(), command.clone()));
            for child in command.get_subcommands() {
                collect(child, format!("{path} {}", child.get_name()).trim_start(), into);
            }
        }
        let mut all = Vec::new();
        collect(&definition(), "", &mut all);
        all
    }

    #[test]
    fn every_command_has_a_page_and_every_page_a_command() {
        let commands: BTreeSet<String> = commands().into_iter().map(|(path, _)| path).collect();
        let pages: BTreeSet<String> = all().map(|page| page.command.to_owned()).collect();
        assert_eq!(commands, pages);
        assert_eq!(pages.len(), all().count(), "one page each");
    }

    #[test]
    fn short_pages_name_options_that_exist() {
        let commands = commands();
        for page in all() {
            let (_, command) = commands.iter().find(|(path, _)| path == page.command).unwrap();
            for id in page.short {
                let is_there = |command: &clap::Command| command.get_arguments().any(|arg| arg.get_id() == id);
                // Options of all commands below are defined above them.
                let above = page
                    .command
                    .rsplit_once(' ')
                    .and_then(|(above, _)| commands.iter().find(|(path, _)| path == above));
                assert!(is_there(command) || above.is_some_and(|(_, above)| is_there(above)), "{}: {id}", page.command);
            }
        }
    }

    #[test]
    fn every_page_has_three_examples_that_are_valid() {
        for page in all() {
            assert!(page.examples.len() >= 3, "{}", page.command);
            for (line, _) in page.examples {
                let line = line.trim_start_matches("source <(").trim_end_matches(')');
                if line.starts_with("tracesift ") {
                    let parsed = definition().try_get_matches_from(words(line));
                    let refused = parsed.err().filter(|error| error.use_stderr());
                    assert!(refused.is_none(), "{line}: {}", refused.unwrap());
                }
            }
        }
    }

    #[test]
    fn examples_are_not_wider_than_a_narrow_terminal() {
        for page in all() {
            for line in super::examples(page.examples).lines() {
                assert!(line.chars().count() <= super::NARROW, "{line}");
            }
        }
    }
}
