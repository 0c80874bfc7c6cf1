//! ETWAnalyzer's `-fd`: paths of Windows on any system, and the JSON files that it makes where we make archives.

/// A path or pattern in our words. For a question, `X.json` and `X.json7z` stand for the archive `X.sift`, and `Extract/X.json`
/// for the archive beside the recording when there is none in `Extract`.
pub(super) fn translate(path: &str, is_question: bool, exists: &dyn Fn(&str) -> bool) -> String {
    let slashed = path.replace('\\', "/");
    let stem = strip_json(&slashed).filter(|_| is_question);
    // An extract that was imported still lies beside its archive.
    if let Some(archive) = stem.map(|stem| format!("{stem}.sift")).filter(|archive| exists(archive)) {
        return archive;
    }
    if exists(path) {
        return path.to_owned();
    }
    let Some(stem) = stem else { return slashed };
    let archive = format!("{stem}.sift");
    if slashed.contains(['*', '?', ';']) {
        return archive;
    }
    match stem.rsplit_once('/').and_then(|(directory, name)| Some((strip_extract(directory)?, name))) {
        Some((directory, name)) => format!("{directory}{name}.sift"),
        None => archive,
    }
}

fn strip_json(path: &str) -> Option<&str> {
    [".json", ".json7z"].into_iter().find_map(|extension| {
        let at = path.len().checked_sub(extension.len())?;
        let (stem, tail) = path.split_at_checked(at)?;
        tail.eq_ignore_ascii_case(extension).then_some(stem)
    })
}

/// The directory above one named `Extract`, with its slash.
fn strip_extract(directory: &str) -> Option<&str> {
    let at = directory.len().checked_sub("Extract".len())?;
    let (above, last) = directory.split_at_checked(at)?;
    (last.eq_ignore_ascii_case("Extract") && (above.is_empty() || above.ends_with('/'))).then_some(above)
}

#[cfg(test)]
mod tests {
    use super::translate;

    #[test]
    fn windows_paths_and_json_files() {
        let nothing = |_: &str| false;
        for (path, expected) in [
            (r"c:\temp\*Create*.etl", "c:/temp/*Create*.etl"),
            (r"c:\temp\Extract\Slow.json", "c:/temp/Slow.sift"),
            (r"Extract\Slow.json7z", "Slow.sift"),
            (r"c:\temp\Slow.JSON", "c:/temp/Slow.sift"),
            (r"c:\temp\NoExtract\Slow.json", "c:/temp/NoExtract/Slow.sift"),
            ("*serial*", "*serial*"),
            (".", "."),
        ] {
            assert_eq!(translate(path, true, &nothing), expected);
        }
        assert_eq!(translate(r"Extract\a.json", true, &|path| path == "Extract/a.sift"), "Extract/a.sift");
        assert_eq!(translate("a.json", true, &|path| path == "a.json" || path == "a.sift"), "a.sift");
        assert_eq!(translate("a.json", true, &|path| path == "a.json"), "a.json");
        assert_eq!(translate(r"a\b", true, &|path| path == r"a\b"), r"a\b");
        assert_eq!(translate("a.json", false, &nothing), "a.json");
    }
}
