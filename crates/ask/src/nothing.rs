//! Explains an empty answer: the filter that let nothing pass, and the names that the recording has
//! instead.

use rayon::prelude::*;

use crate::answer::{Answer, Fact, Section, Value};
use crate::ask::{Ask, When};
use crate::candidates::{self, Candidates};
use crate::filter::ProcessFilter;
use crate::method_patterns::MethodPatterns;
use crate::recording::{OpenRecording, Source, open_all};
use crate::time_format::{TimeFormat, TimeStyle, seconds};
use tracesift_grammar::Pattern;

/// Names that are told.
const NAMED: usize = 3;
/// Longest name that is told whole.
const LONGEST: usize = 60;

/// Whether an answer has no row, and no figure that somebody asked for.
#[must_use]
pub fn is_empty(answer: &Answer) -> bool {
    answer.sections.iter().all(|section| section.rows.is_empty() && section.groups.iter().all(|group| group.rows == 0))
        && !answer.sections.iter().flat_map(|section| &section.facts).any(Fact::is_figure)
}

/// Why nothing was found, in a sentence or a few. `has_heading`: the answer is a table, whose heading says what a file does not have.
#[must_use]
pub fn why(sources: &[Source], question: &dyn Ask, when: &When, answer: &Answer, has_heading: bool) -> Vec<String> {
    let (recordings, _) = open_all(sources);
    if let Some(outside) = outside(&recordings, when) {
        return vec![outside];
    }
    let found: Vec<Vec<Candidates>> = recordings
        .par_iter()
        .map(|recording| {
            let mut of_this = match question.processes() {
                Some(filter) => candidates::of_processes(recording, filter).unwrap_or_default(),
                None => Vec::new(),
            };
            of_this.extend(question.candidates(recording).unwrap_or_default());
            of_this
        })
        .collect();
    let found = merged(found);
    // What was not recorded no filter can bring back. Of one file its heading says so, where there is one.
    let absences: Vec<String> = answer.sections.iter().filter_map(absence).collect();
    if absences.len() == answer.sections.len() {
        let mistaken = found.iter().filter(|of| of.passing == 0 && !of.names.is_empty()).map(too_narrow);
        return absences
            .into_iter()
            .take(usize::from(answer.sections.len() > 1 || !has_heading))
            .chain(mistaken)
            .collect();
    }
    let time = (!when.time.is_everything()).then_some("--time");
    explain(&found, &question.limits().into_iter().chain(time).collect::<Vec<_>>())
}

/// Why a profile of one recording is empty.
#[must_use]
pub fn why_of_profile(
    recording: &OpenRecording,
    (processes, methods): (&ProcessFilter, &MethodPatterns),
    when: &When,
) -> Vec<String> {
    if let Some(outside) = outside(std::slice::from_ref(recording), when) {
        return vec![outside];
    }
    let mut all = candidates::of_processes(recording, processes).unwrap_or_default();
    all.extend(candidates::of_methods(recording, "--methods", methods).unwrap_or_default());
    let time = (!when.time.is_everything()).then_some("--time");
    if all.is_empty() && time.is_none() { Vec::new() } else { explain(&all, time.as_slice()) }
}

/// What a recording does not have at all.
fn absence(section: &Section) -> Option<String> {
    section.facts.iter().find_map(|fact| match &fact.value {
        Value::Text(text) => Some(format!("{}: {text}", fact.label)),
        _ => None,
    })
}

/// Why the candidates of all recordings, and the limits that have none, leave nothing.
pub(crate) fn explain(all: &[Candidates], limits: &[&str]) -> Vec<String> {
    let mut said: Vec<String> = all.iter().filter(|of| of.passing == 0).map(too_narrow).collect();
    if said.is_empty() {
        said.extend(all.iter().filter_map(|of| of.advice.clone()));
    }
    if said.is_empty() {
        let options: Vec<&str> = all.iter().map(|of| of.option).collect();
        said.push(match (options.as_slice(), limits) {
            ([], []) => "the recording has no row for this question".to_owned(),
            ([], limits) => format!("nothing passes {}", together(limits)),
            ([option], []) => format!("{option} lets something pass, but the recording has no row of it here"),
            (options, []) => format!("each of {} lets something pass, all together nothing", together(options)),
            (options, limits) => {
                let (lets, leave) =
                    (if options.len() > 1 { "let" } else { "lets" }, if limits.len() > 1 { "leave" } else { "leaves" });
                format!("{} {lets} something pass; {} {leave} nothing of it", together(options), together(limits))
            }
        });
    }
    said
}

/// Words as a sentence lists them.
fn together(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        words => words.concat(),
    }
}

fn merged(found: Vec<Vec<Candidates>>) -> Vec<Candidates> {
    let mut all: Vec<Candidates> = Vec::new();
    for one in found.into_iter().flatten() {
        match all.iter_mut().find(|known| known.option == one.option) {
            Some(known) => known.merge(one),
            None => all.push(one),
        }
    }
    all
}

/// A time range that no recording has a part in.
fn outside(recordings: &[OpenRecording], when: &When) -> Option<String> {
    if when.time.is_everything() || recordings.is_empty() {
        return None;
    }
    let is_outside = |recording: &OpenRecording| {
        when.resolve(recording).is_ok_and(|resolved| {
            let (start, end) = resolved.time.bounds();
            start > recording.file.end || end <= recording.file.start
        })
    };
    if !recordings.iter().all(is_outside) {
        return None;
    }
    let file = &recordings.first()?.file;
    let clock = TimeStyle { format: TimeFormat::LocalTime, digits: 0 };
    let day = |ns: i64| clock.show(ns, Some(file.zero));
    let span = format!("{} s to {} s", seconds(file.start, 3), seconds(file.end, 3));
    let by_day = if file.zero.instant(0).is_some() {
        format!(" ({} to {})", day(file.start), day(file.end))
    } else {
        String::new()
    };
    Some(match recordings.len() {
        1 => format!("--time {} lies outside of the recording: it goes from {span}{by_day}", when.time),
        many => format!(
            "--time {} lies outside of all {many} recordings: {} goes from {span}{by_day}",
            when.time, file.name
        ),
    })
}

/// What to say of a filter that lets nothing pass.
fn too_narrow(of: &Candidates) -> String {
    let [_, many] = of.what;
    if of.names.is_empty() {
        return match of.advice.as_deref().or(Some(of.why_none).filter(|why| !why.is_empty())) {
            Some(advice) => format!("no {} passes {} `{}`: {advice}", of.what[0], of.option, of.patterns),
            None => format!("no {} passes {} {}", of.what[0], of.option, quoted(&of.patterns)).trim_end().to_owned(),
        };
    }
    let items: Vec<&str> =
        of.patterns.split(';').map(str::trim).filter(|item| !item.is_empty() && !item.starts_with('!')).collect();
    let head = format!("0 of {} {many} match {}", of.names.len(), quoted(&of.patterns));
    // The mistake that is made most: a part of the name, without asterisks.
    for item in items.iter().filter(|item| !item.contains(['*', '?'])) {
        let wider = Pattern::new(&format!("*{item}*"));
        let hits: Vec<&String> = of.names.keys().filter(|name| wider.matches(name)).collect();
        if !hits.is_empty() {
            return format!("{head}; `*{item}*` would match {}: {}", hits.len(), few(&largest(of, &hits)));
        }
    }
    let nearest: Vec<&String> = nearest(of, &items);
    let like = match (nearest.is_empty(), of.figure) {
        (false, _) => format!("; nearest: {}", few(&nearest)),
        (true, "") => String::new(),
        (true, figure) => {
            let all: Vec<&String> = of.names.keys().collect();
            format!("; {figure}: {}", few(&largest(of, &all)))
        }
    };
    let advice = of.advice.as_ref().map(|advice| format!("; {advice}")).unwrap_or_default();
    format!("{head}{like}{advice}")
}

fn quoted(patterns: &str) -> String {
    if patterns.is_empty() { String::new() } else { format!("`{patterns}`") }
}

/// The names with the largest figures, the largest first.
fn largest<'n>(of: &Candidates, names: &[&'n String]) -> Vec<&'n String> {
    let mut names = names.to_vec();
    names.sort_by_key(|name| std::cmp::Reverse(of.names.get(*name).copied().unwrap_or(0)));
    names
}

fn few(names: &[&String]) -> String {
    let cut = |name: &&&String| {
        if name.chars().count() <= LONGEST {
            return (**name).clone();
        }
        format!("{}…", name.chars().take(LONGEST).collect::<String>())
    };
    let more = if names.len() > NAMED { ", …" } else { "" };
    format!("{}{more}", names.iter().take(NAMED).map(|name| cut(&name)).collect::<Vec<_>>().join(", "))
}

/// Names that a typing mistake makes of what was asked for, or that have a word of it.
fn nearest<'n>(of: &'n Candidates, items: &[&str]) -> Vec<&'n String> {
    /// Long names are no typing mistakes, and comparing them takes long.
    const SHORT: usize = 40;
    let plain = |text: &str| text.trim_end_matches(".exe").trim_matches('*').to_lowercase();
    let mut near: Vec<(usize, &String)> = Vec::new();
    for item in items.iter().map(|item| plain(item)).filter(|item| item.len() > 2) {
        let most = (item.chars().count() / 3).max(1);
        for name in of.names.keys() {
            let last = plain(name.rsplit(['\\', '!', '/']).next().unwrap_or(name));
            if item.len() > SHORT || last.len() > SHORT {
                continue;
            }
            let words = last.split(|c: char| !c.is_alphanumeric()).chain([last.as_str()]);
            let distance = words.map(|word| distance(&item, word)).min().unwrap_or(usize::MAX);
            if distance <= most {
                near.push((distance, name));
            }
        }
    }
    near.sort();
    near.dedup_by_key(|(_, name)| *name);
    near.into_iter().map(|(_, name)| name).collect()
}

/// How many letters have to be changed, added, left out or swapped.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], place: usize| row.get(place).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&last, j) + usize::from(x != y)).min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Candidates, distance, explain};

    fn candidates(patterns: &str, passing: usize, names: &[(&str, i64)]) -> Candidates {
        Candidates {
            option: "--process",
            what: ["process", "processes"],
            patterns: patterns.to_owned(),
            passing,
            names: names.iter().map(|(name, figure)| ((*name).to_owned(), *figure)).collect(),
            figure: "most CPU",
            why_none: "",
            advice: None,
        }
    }

    const NAMES: &[(&str, i64)] = &[("FileWriter.exe", 7), ("System", 9), ("cmd.exe", 8), ("svchost.exe", 1)];

    #[test]
    fn asterisks_then_letters_then_the_largest() {
        let said = |patterns| explain(&[candidates(patterns, 0, NAMES)], &[]);
        assert_eq!(said("Writer"), ["0 of 4 processes match `Writer`; `*Writer*` would match 1: FileWriter.exe"]);
        assert_eq!(said("FileWirter"), ["0 of 4 processes match `FileWirter`; nearest: FileWriter.exe"]);
        assert_eq!(said("zzzzz"), ["0 of 4 processes match `zzzzz`; most CPU: System, cmd.exe, FileWriter.exe, …"]);
    }

    #[test]
    fn filters_that_let_something_pass_are_not_blamed() {
        let one = candidates("System", 1, NAMES);
        let two = Candidates { option: "--user", ..one.clone() };
        assert_eq!(
            explain(&[one.clone(), two], &[]),
            ["each of --process and --user lets something pass, all together nothing"]
        );
        assert_eq!(
            explain(std::slice::from_ref(&one), &["--min-cpu"]),
            ["--process lets something pass; --min-cpu leaves nothing of it"]
        );
        assert_eq!(explain(&[], &["--min-cpu", "--time"]), ["nothing passes --min-cpu and --time"]);
        let advice = Candidates { advice: Some("load symbols".to_owned()), ..one };
        assert_eq!(explain(&[advice], &[]), ["load symbols"]);
    }

    #[test]
    fn distances() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("", "abc"), 3);
    }
}
