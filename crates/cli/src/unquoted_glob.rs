//! Patterns that a shell replaced by the names of files: `--stacktags *` without quotes.
//!
//! Told only where there can hardly be another reason: the value of an option that takes a pattern, and at least one more argument behind
//! it, are all names of files that exist. A single file behind the option may be a pattern that happens to be called so.

/// Options whose value is a pattern: ours, then ETWAnalyzer's. Those that choose files are not here, their values are names of files.
const PATTERNS: &[&str] = &[
    "-p",
    "--process",
    "--parent",
    "--cmdline",
    "--user",
    "--session",
    "--zero-process",
    "--zero-cmdline",
    "--methods",
    "--stacktags",
    "--root",
    "--fold",
    "--cut",
    "--dll",
    "--version-filter",
    "--driver-filter",
    "--properties",
    "--columns",
    "--tables",
    "-pn",
    "-processname",
    "-cmdline",
    "-parent",
    "-user",
    "-session",
    "-zpn",
    "-zeroprocessname",
    "-methods",
    "-stacktags",
    "-dll",
    "-modulefilter",
    "-versionfilter",
    "-properties",
    "-column",
];

/// An option with names of files where its pattern should stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnquotedGlob {
    option: String,
    files: usize,
}

impl UnquotedGlob {
    /// The first such option among the arguments.
    pub(crate) fn find(arguments: &[String], exists: &dyn Fn(&str) -> bool) -> Option<Self> {
        (0..arguments.len()).find_map(|at| {
            let (option, behind) = arguments.get(at..)?.split_first()?;
            let is_pattern = PATTERNS.iter().any(|known| option.eq_ignore_ascii_case(known));
            let values = behind.iter().take_while(|value| !value.starts_with('-'));
            let files = values.take_while(|value| !value.contains(['*', '?', ';']) && exists(value)).count();
            (is_pattern && files > 1).then(|| Self { option: option.clone(), files })
        })
    }

    /// What is wrong.
    pub(crate) fn message(&self) -> String {
        format!("{} is followed by the names of {} files", self.option, self.files)
    }

    /// What to do about it.
    pub(crate) fn hint(&self) -> String {
        format!("if the shell put them in the place of a wildcard, quote the pattern: {} '*'", self.option)
    }
}

#[cfg(test)]
mod tests {
    use super::UnquotedGlob;

    fn found(line: &str) -> Option<(String, usize)> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let exists = |path: &str| matches!(path, "a.sift" | "b.sift" | "c");
        UnquotedGlob::find(&arguments, &exists).map(|expanded| (expanded.option, expanded.files))
    }

    #[test]
    fn files_behind_a_pattern() {
        assert_eq!(found("dump cpu --stacktags a.sift b.sift c --top 3"), Some(("--stacktags".to_owned(), 3)));
        assert_eq!(found("-dump CPU -PN a.sift b.sift"), Some(("-PN".to_owned(), 2)));
        // Files that are asked stand behind the first ones that do not exist, too.
        assert_eq!(found("dump cpu -p a.sift b.sift missing"), Some(("-p".to_owned(), 2)));
    }

    #[test]
    fn no_false_alarms() {
        for line in [
            "dump cpu -p c --top 3 a.sift",
            "dump cpu -p * a.sift b.sift",
            "dump cpu -p System a.sift b.sift",
            "dump cpu --stacktags=a.sift b.sift c",
            "dump cpu a.sift b.sift -p c",
            "dump cpu -f a.sift b.sift",
            "-dump cpu -fd a.sift b.sift",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }
}
