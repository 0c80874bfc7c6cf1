//! The 29 command lines of the posts run as they stand there, each in a directory with what its post had, and each answers with rows.
//!
//! On this system `c:\temp\X` is the relative path `c:/temp/X`, so that everything lies in one temporary directory: the demo, and the
//! recordings of [`recordings`]. `msdl` is a directory with their symbols, in the place where users say what short names of symbol
//! servers mean. So nobody asks the network.

mod film;
mod lines;
mod recordings;

use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::support::program;
use lines::{Answer, LINES};

/// The working directories of the posts, and archives that their authors had.
fn stage(root: &Path) {
    succeeds(root, &["demo", "demo"]);
    let symbols = root.join("symbols");
    recordings::write(root, &symbols);
    let servers = root.join("config/tracesift/symbol-servers.conf");
    std::fs::create_dir_all(servers.parent().unwrap()).unwrap();
    let places = format!("msdl = {};{}\n", root.join("demo/symbols").display(), symbols.display());
    std::fs::write(servers, places).unwrap();
    let temp = root.join("disk/c:/temp");
    for (from, name) in [
        ("demo", "CreateSerial_12695ms_TRACESIFT_CLT_TestStatus-Passed_20220404-101500.etl"),
        ("demo", "CreateSerial_7066ms_TRACESIFT_CLT_TestStatus-Passed_20220404-103500.etl"),
        ("demo/browser", "SlowBrowsing_Skyrmion.etl"),
    ] {
        std::fs::copy(root.join(from).join(name), temp.join(name)).unwrap();
    }
    // `..\Take_Test1`, as seen from the demo.
    let first = "demo/CreateSerial_12695ms_TRACESIFT_CLT_TestStatus-Passed_20220404-101500.etl";
    succeeds(root, &["extract", first, "--symbols", "msdl", "--out", "Take_Test1"]);
    let many_calls = "disk/c:/temp/ManySlowCalls_MAGNON.03-07-2023.23-21-41.etl";
    for path in ["hybrid", "drivers", "placeholder", "browsing", many_calls] {
        succeeds(root, &["extract", path, "--symbols", "msdl"]);
    }
}

fn output(root: &Path, directory: &str, arguments: &[&str]) -> Output {
    program(&root.join(directory), arguments)
        .env("XDG_CACHE_HOME", root.join("cache"))
        .env("XDG_CONFIG_HOME", root.join("config"))
        .env_remove("NO_COLOR")
        .output()
        .unwrap()
}

fn succeeds(root: &Path, arguments: &[&str]) {
    let output = output(root, "", arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// What a shell makes of a line: the arguments after the program's name without double quotes, and the variable replaced.
fn arguments(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars().chain(Some(' ')) {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
            c => word.push(c),
        }
    }
    words.split_off(1).into_iter().map(|word| word.replace("%f%", "Intercepted.json")).collect()
}

/// The lines of a text, their words with one blank between them.
fn plain(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn every_command_line_of_the_posts_answers_with_rows() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/spec/seed-commands.txt");
    let Ok(text) = std::fs::read_to_string(path) else {
        return tracesift_fixtures::skipped("../shared/spec is absent");
    };
    let texts: Vec<&str> = text.lines().take_while(|line| !line.starts_with('#')).collect();
    assert_eq!(texts.len(), LINES.len());
    let place = TempDir::new().unwrap();
    let root = place.path();
    stage(root);
    // What extracts runs first, so that the others find the archives.
    let is_extract = |text: &&str| text.to_lowercase().contains(" -extract ");
    let all = || texts.iter().zip(LINES);
    let (extracting, asking) =
        (all().filter(|(text, _)| is_extract(text)), all().filter(|(text, _)| !is_extract(text)));
    for (text, (directory, answer)) in extracting.chain(asking) {
        let words = arguments(text);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = output(root, directory, &words);
        let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{text}: {told}");
        let context = format!("{text}\n{said}{told}");
        match answer {
            Answer::Archive(archive, sentence) => {
                assert!(said.contains(sentence), "no {sentence:?}: {context}");
                assert!(root.join(directory).join(archive).is_dir(), "no {archive}: {context}");
            }
            Answer::Rows(expected) => has(&plain(&said), expected, &context),
            Answer::Csv(file, columns, expected) => {
                let text = std::fs::read_to_string(root.join(directory).join(file)).unwrap();
                assert_eq!(cells(&text, columns), *expected, "{context}");
            }
        }
    }
}

/// The lines stand in the answer, one below the other: the heading of the columns, and what is the first below it.
fn has(said: &[String], expected: &[&str], context: &str) {
    assert!(
        said.windows(expected.len()).any(|lines| lines == expected),
        "{expected:#?} is not in the answer: {context}"
    );
}

/// Columns of a CSV file of ETWAnalyzer's form, whose cells have no quotes.
fn cells(text: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let mut lines = text.lines().skip(1).map(|line| line.split(';').collect::<Vec<_>>());
    let heading = lines.next().unwrap();
    let places: Vec<usize> =
        columns.iter().map(|column| heading.iter().position(|name| name == column).unwrap()).collect();
    lines.map(|line| places.iter().map(|place| rounded(line[*place])).collect()).collect()
}

/// A ratio with two digits, as the posts show it; anything else as it is.
fn rounded(cell: &str) -> String {
    let is_ratio = cell.split_once('.').is_some_and(|(_, digits)| digits.len() > 3);
    let ratio = cell.parse::<f64>().ok().filter(|_| is_ratio);
    ratio.map_or_else(|| cell.to_owned(), |ratio| format!("{ratio:.2}"))
}
