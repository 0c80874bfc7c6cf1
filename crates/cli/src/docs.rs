//! The reference in `docs/` is made from the definitions; these tests see to it that it stays so.
//!
//! `cargo regenerate` writes it anew.

use std::fmt::Write as _;
use std::path::PathBuf;

use tracesift_ask::answer::{Column, View};
use tracesift_ask::question;
use tracesift_trace::{HealthKind, Severity};

use crate::args;
use crate::etwanalyzer::{extractors, switches};

fn docs() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "docs"].iter().collect()
}

/// Compares a file with what it should be, or writes it.
fn check(name: &str, expected: &str) {
    let path = docs().join(name);
    let found = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    // What is current stays untouched: other tests read the documents at the same time.
    if found != expected && std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, expected).unwrap();
        return;
    }
    let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert!(found == expected, "docs/{name} is not current ({differs:?}): run `cargo regenerate`");
}

#[test]
fn the_command_line() {
    let mut text = String::from(
        "# The command line\n\nMade from the program's own definition; see `docs.rs` in `crates/cli`. What becomes of ETWAnalyzer's command lines is told in \
             [etwanalyzer.md](etwanalyzer.md).\n",
    );
    let mut command = args::definition().max_term_width(100).term_width(100);
    command.build();
    let after = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    write!(text, "\n```text\n{after}\n```\n").unwrap();
    write_command(&mut text, &command, "tracesift");
    check("cli.md", &text);
}

fn write_command(text: &mut String, command: &clap::Command, name: &str) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    write!(text, "\n## {name}\n\n{about}.\n\n```text\n{usage}\n```\n").unwrap();
    let arguments: Vec<&clap::Arg> = command.get_arguments().filter(|argument| !argument.is_hide_set()).collect();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for argument in &arguments {
        if !headings.contains(&argument.get_help_heading()) {
            headings.push(argument.get_help_heading());
        }
    }
    for heading in headings {
        write!(text, "\n{}\n\n| option | meaning |\n|---|---|\n", heading.unwrap_or("Options")).unwrap();
        for argument in arguments.iter().filter(|argument| argument.get_help_heading() == heading) {
            write_argument(text, argument);
        }
    }
    for child in command.get_subcommands().filter(|child| !child.is_hide_set() && !is_made(child)) {
        write_command(text, child, &format!("{name} {}", child.get_name()));
    }
}

/// The `help` that the parser gives every command with commands of its own.
fn is_made(child: &clap::Command) -> bool {
    child.get_name() == "help" && child.get_arguments().all(|argument| argument.get_id() != "words")
}

fn write_argument(text: &mut String, argument: &clap::Arg) {
    let mut names = Vec::new();
    names.extend(argument.get_short().map(|short| format!("-{short}")));
    names.extend(argument.get_long().map(|long| format!("--{long}")));
    let value = argument.get_value_names().unwrap_or_default().first().filter(|_| argument.get_action().takes_values());
    let mut label = names.join(", ");
    if let Some(value) = value {
        if argument.is_require_equals_set() {
            write!(label, "[=<{value}>]").unwrap();
        } else {
            if !label.is_empty() {
                label.push(' ');
            }
            write!(label, "<{value}>").unwrap();
        }
    }
    let mut help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let possible: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|_| argument.get_action().takes_values())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !possible.is_empty() {
        write!(help, ": {}", possible.join(", ")).unwrap();
    }
    let defaults: Vec<String> =
        argument.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if !defaults.is_empty() && !argument.is_hide_default_value_set() && argument.get_action().takes_values() {
        write!(help, " (default {})", defaults.join(", ")).unwrap();
    }
    writeln!(text, "| `{label}` | {} |", escaped(&help)).unwrap();
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

#[test]
fn the_kinds_of_the_health_table() {
    let mut text = String::from(
        "# The health table\n\nAn extract counts every part of a recording that it could not use, and goes on. The table `health` of an\n\
         archive has a row per kind, with a count and the first example; `tracesift dump stats X.sift` shows it.\n\
         If buffers of the file are missing or could not be read, each answer says so in a warning.\n\n\
         | severity | meaning |\n|---|---|\n",
    );
    for severity in Severity::ALL {
        writeln!(text, "| {} | {} |", severity.word(), severity.meaning()).unwrap();
    }
    text.push_str("\n| kind | severity | meaning | cure |\n|---|---|---|---|\n");
    for kind in HealthKind::all() {
        let (word, severity) = (kind.word(), kind.severity().word());
        writeln!(text, "| `{word}` | {severity} | {} | {} |", escaped(kind.meaning()), escaped(kind.cure())).unwrap();
    }
    check("health.md", &text);
}

/// The readers of recordings stand alone and have words of their own for damage.
#[test]
fn every_damage_that_a_reader_finds_is_a_kind_of_health() {
    for reader in ["etl", "perf"] {
        let source = docs().join("../crates").join(reader).join("src/damage.rs");
        let source = std::fs::read_to_string(source).unwrap();
        let words: Vec<&str> =
            source.lines().filter_map(|line| line.trim().strip_prefix("pub const ")?.split('"').nth(1)).collect();
        assert!(words.len() > 10, "{words:?}");
        for word in words {
            assert!(HealthKind::of_word(word).is_some(), "{reader}: {word}");
        }
    }
}

#[test]
fn the_switches_of_etwanalyzer() {
    let text = std::fs::read_to_string(docs().join("etwanalyzer.md")).unwrap_or_default().replace("\r\n", "\n");
    let mut table = String::from("| switch | of | becomes |\n|---|---|---|\n");
    for [names, commands, becomes] in switches::described() {
        writeln!(table, "| {names} | {commands} | {} |", escaped(&becomes)).unwrap();
    }
    let text = with_table(&text, "switches", &table);
    let mut table = String::from("| name | tables |\n|---|---|\n");
    for [names, tables] in extractors::described() {
        writeln!(table, "| {names} | {tables} |").unwrap();
    }
    check("etwanalyzer.md", &with_table(&text, "extractors", &table));
}

/// A page with another table between the two lines of a name.
fn with_table(text: &str, name: &str, table: &str) -> String {
    let [begin, end] = ["begin", "end"].map(|place| format!("<!-- {name}: {place} -->\n"));
    let (before, rest) = text.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    format!("{before}{begin}{table}{end}{after}")
}

/// Every test that the list of behaviours names exists.
#[test]
fn the_tests_of_behaviours_exist() {
    let text = std::fs::read_to_string(docs().join("etwanalyzer.md")).unwrap();
    let root: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", ".."].iter().collect();
    let mut named = 0;
    for line in text.lines().filter(|line| line.starts_with("| ") && line.contains(".rs` ")) {
        let tests = line.rsplit(" | ").next().unwrap_or_default().trim_end_matches(" |");
        let mut file = String::new();
        for word in tests.split('`').filter(|word| !word.trim_matches([' ', ',', ';']).is_empty()) {
            if word.ends_with(".rs") {
                file = std::fs::read_to_string(root.join("crates").join(word)).unwrap_or_else(|_| panic!("{word}"));
            } else {
                let is_there =
                    [format!("fn {word}("), format!("{word}: \"")].iter().any(|test| file.contains(test.as_str()));
                assert!(is_there, "there is no test {word}: {line}");
                named += 1;
            }
        }
    }
    assert!(named > 40, "{named} tests are named");
}

#[test]
fn the_columns_of_the_questions() {
    let mut pages: Vec<(&str, Vec<String>)> = Vec::new();
    for form in question::all().flat_map(|question| question.forms) {
        let own = (form.title, (form.columns)());
        let objects = form.objects.iter().map(|(title, columns)| (*title, columns()));
        let tables =
            std::iter::once(own).chain(objects).map(|(title, columns)| format!("{title}{}", column_table(&columns)));
        match pages.iter_mut().find(|(name, _)| *name == form.page) {
            Some((_, known)) => known.extend(tables),
            None => pages.push((form.page, tables.collect())),
        }
    }
    for (name, tables) in pages {
        const BEGIN: &str = "<!-- columns: begin -->\n";
        const END: &str = "<!-- columns: end -->\n";
        let file = format!("questions/{name}.md");
        let text = std::fs::read_to_string(docs().join(&file)).unwrap_or_default().replace("\r\n", "\n");
        let (before, rest) = text.split_once(BEGIN).unwrap_or_else(|| panic!("docs/{file} has no `{}`", BEGIN.trim()));
        let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("docs/{file} has no `{}`", END.trim()));
        check(&file, &format!("{before}{BEGIN}{}{END}{after}", tables.join("\n")));
    }
}

fn column_table(columns: &[Column]) -> String {
    let mut text = String::from("| key | in a table | unit | meaning |\n|---|---|---|---|\n");
    for column in columns {
        let (key, shown) = match column.view {
            View::Always => (format!("`{}`", column.key), column.title.to_owned()),
            View::Details => (format!("`{}`", column.key), format!("{} (`--details`)", column.title)),
            View::Machine => (format!("`{}`", column.key), String::new()),
            View::People => (String::new(), column.title.to_owned()),
            View::Nowhere => continue,
        };
        let unit = column.kind.raw_unit();
        writeln!(text, "| {key} | {shown} | {unit} | {} |", escaped(column.help)).unwrap();
    }
    text
}
