//! The program that the recorder started: what was tested.

use tracesift_trace::rows::ProcessRow;

/// The fact of a recording that has the process id of the program.
const PID: &str = "recording.command_pid";
/// Kernels cut the name of a process to this length.
const LONGEST_NAME: usize = 15;

/// The words of the command; none where no command was recorded.
pub(crate) fn command(facts: &[(String, String)]) -> Vec<&str> {
    let word = |number: usize| {
        let path = format!("recording.command.{number}");
        facts.iter().find(|(known, _)| *known == path).map(|(_, word)| word.as_str())
    };
    (0..).map_while(word).collect()
}

/// Its process id.
pub(crate) fn pid(facts: &[(String, String)]) -> Option<i64> {
    facts.iter().find_map(|(key, value)| (key == PID).then(|| value.parse().ok()).flatten())
}

/// Its process. The process id may have been used before: the recorder started the program, so it is the last one.
pub(crate) fn process<'p>(facts: &[(String, String)], processes: &'p [ProcessRow]) -> Option<&'p ProcessRow> {
    let pid = pid(facts)?;
    processes.iter().filter(|row| row.pid == pid).max_by_key(|row| (row.start, row.process))
}

/// Gives the program the command line that the recorder was told. What was read of the process may lack the arguments, in some runs of a
/// test and not in others, and the role of a process must be the same in all of them.
pub(crate) fn complete(facts: &[(String, String)], processes: &mut [ProcessRow]) {
    let Some(id) = process(facts, processes).map(|row| row.process) else { return };
    let words = command(facts);
    let Some(row) = processes.iter_mut().find(|row| row.process == id) else { return };
    // `env A=1 python3 app.py` becomes python3 in the end. Where nothing tells which word it became, its own line is all that is known.
    if let Some(first) = words.iter().position(|word| is_of(word, &row.name)) {
        let line: Vec<String> = words.iter().skip(first).map(|word| quoted(word)).collect();
        row.command_line = Some(line.join(" "));
    }
}

/// Whether a word of a command names this image, in any version: `/usr/bin/python3` is `python3.11`.
fn is_of(word: &str, image: &str) -> bool {
    let file = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let is_cut = image.len() == LONGEST_NAME && file.starts_with(image);
    is_cut || (!image.is_empty() && plain(file).eq_ignore_ascii_case(plain(image)))
}

/// A file name without `.exe` and without a version.
fn plain(file: &str) -> &str {
    let cut = file.len().checked_sub(4).and_then(|at| file.split_at_checked(at));
    let name = cut.filter(|(_, extension)| extension.eq_ignore_ascii_case(".exe")).map_or(file, |(name, _)| name);
    let unversioned = name.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    if unversioned.is_empty() { name } else { unversioned }
}

/// A word of a command line, in quotes where it would be several words.
fn quoted(word: &str) -> String {
    if !word.is_empty() && !word.contains(|character: char| character.is_whitespace() || character == '"') {
        return word.to_owned();
    }
    format!("\"{}\"", word.replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use tracesift_testing::rows;

    use super::*;

    fn facts(pid: &str, words: &[&str]) -> Vec<(String, String)> {
        let words = words.iter().enumerate();
        let words = words.map(|(number, word)| (format!("recording.command.{number}"), (*word).to_owned()));
        words.chain([(PID.to_owned(), pid.to_owned())]).collect()
    }

    /// Who has read the arguments of a process too late has its program alone.
    #[test]
    fn the_command_line_is_the_one_that_was_recorded() {
        let line = |words: &[&str], image: &str, own: Option<&str>| {
            let mut processes =
                [rows::process(1, 10, "other"), rows::process(2, 20, image), rows::process(3, 20, image)];
            processes.iter_mut().for_each(|row| row.command_line = own.map(str::to_owned));
            processes[2].start = Some(5);
            complete(&facts("20", words), &mut processes);
            let untouched = [&processes[0], &processes[1]].map(|row| row.command_line.as_deref() == own);
            assert_eq!(untouched, [true, true], "the process id was used before");
            processes[2].command_line.clone()
        };
        for (words, image, expected) in [
            (&["python3", "app.py", "slow"][..], "python3", "python3 app.py slow"),
            (&["/usr/bin/python3", "app.py"], "python3.11", "/usr/bin/python3 app.py"),
            (&["env", "A=1", "python3", "my app.py"], "python3", "python3 \"my app.py\""),
            (&["C:\\x\\App.EXE", "-v"], "app.exe", "C:\\x\\App.EXE -v"),
            (&["./a-very-long-name", "1"], "a-very-long-nam", "./a-very-long-name 1"),
            (&["./build.sh"], "python3", "/usr/bin/python3"),
        ] {
            assert_eq!(line(words, image, Some("/usr/bin/python3")).as_deref(), Some(expected), "{words:?}");
        }
        assert_eq!(line(&["python3", "app.py"], "python3", None).as_deref(), Some("python3 app.py"));
        assert_eq!(line(&[], "python3", None), None);
    }
}
