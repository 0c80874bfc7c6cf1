//! ETWAnalyzer's `-fd`: paths of Windows on any system, and the JSON files that it makes where we make archives.

/// A path in our words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Translated {
    /// The path.
    pub(super) path: String,
    /// What else was looked for, if neither is there.
    pub(super) note: Option<String>,
}

/// A path or pattern in our words. For a question, `X.json` and `X.json7z` stand for the archive `X.sift`, and `Extract/X.json`
/// for the archive beside the recording when there is none in `Extract`. A path that leads to nothing stays as it was typed.
pub(super) fn translate(path: &str, is_question: bool, exists: &dyn Fn(&str) -> bool) -> Translated {
    let found = |path: String| Translated { path, note: None };
    let slashed = path.replace('\\', "/");
    let stem = strip_json(&slashed).filter(|_| is_question);
    // An extract that was imported still lies beside its archive.
    if let Some(archive) = stem.map(|stem| format!("{stem}.sift")).filter(|archive| exists(archive)) {
        return found(archive);
    }
    if exists(path) {
        return found(path.to_owned());
    }
    let Some(stem) = stem else { return found(slashed) };
    let archive = format!("{stem}.sift");
    if slashed.contains(['*', '?', ';']) {
        return found(archive);
    }
    let beside = stem.rsplit_once('/').and_then(|(directory, name)| Some((strip_extract(directory)?, name)));
    let archive = beside.map_or(archive, |(directory, name)| format!("{directory}{name}.sift"));
    if exists(&archive) {
        return found(archive);
    }
    let note = format!("{path} stands for the archive {archive}, which is not there");
    Translated { path: path.to_owned(), note: Some(note) }
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
    use super::{Translated, translate};

    #[test]
    fn windows_paths_and_json_files() {
        let all = |_: &str| true;
        for (path, expected) in [
            (r"c:\temp\*Create*.etl", "c:/temp/*Create*.etl"),
            (r"c:\temp\Extract\Slow*.json", "c:/temp/Extract/Slow*.sift"),
            ("*serial*", "*serial*"),
            (".", "."),
            (r"c:\temp", "c:/temp"),
        ] {
            assert_eq!(translate(path, true, &|_| false), Translated { path: expected.to_owned(), note: None });
        }
        for (path, there, expected) in [
            (r"c:\temp\Extract\Slow.json", "c:/temp/Slow.sift", "c:/temp/Slow.sift"),
            (r"Extract\Slow.json7z", "Slow.sift", "Slow.sift"),
            (r"c:\temp\Slow.JSON", "c:/temp/Slow.sift", "c:/temp/Slow.sift"),
            (r"c:\temp\NoExtract\Slow.json", "c:/temp/NoExtract/Slow.sift", "c:/temp/NoExtract/Slow.sift"),
            (r"Extract\a.json", "Extract/a.sift", "Extract/a.sift"),
            ("a.json", "a.json", "a.json"),
            (r"a\b", r"a\b", r"a\b"),
        ] {
            let translated = translate(path, true, &|path| path == there);
            assert_eq!(translated, Translated { path: expected.to_owned(), note: None }, "{path}");
        }
        assert_eq!(translate("a.json", true, &all).path, "a.sift");
        assert_eq!(translate("a.json", false, &|_| false), Translated { path: "a.json".to_owned(), note: None });
    }

    #[test]
    fn what_leads_to_nothing_is_named_as_it_was_typed() {
        for (path, archive) in [
            (r"c:\temp\Extract\Slow.json", "c:/temp/Slow.sift"),
            (r"c:\temp\Slow.JSON", "c:/temp/Slow.sift"),
            ("a.json7z", "a.sift"),
        ] {
            let translated = translate(path, true, &|_| false);
            assert_eq!(translated.path, path);
            assert_eq!(translated.note, Some(format!("{path} stands for the archive {archive}, which is not there")));
        }
    }
}
