//! Settings of several files: which are equal, and which differ.

use super::{EQUAL_FILES, is_setting, settings};
use crate::answer::{Answer, Column, Fact, Kind, Section, Value};

/// Says how many settings the files have, and how many differ. With `diff` only those are left, and of equal files the first.
pub(super) fn count(answer: &mut Answer, diff: bool) {
    let (own, equal_files) = places(&answer.columns);
    if diff {
        join_equal_files(&mut answer.sections, &own, equal_files);
    }
    let rows: Vec<&Vec<Value>> = answer.sections.iter().flat_map(|section| section.rows.first()).collect();
    if rows.len() < 2 && !diff {
        return;
    }
    let (mut settings, mut differ) = (0, 0);
    let mut kept = Vec::new();
    for (place, column) in answer.columns.iter().enumerate() {
        if !own.contains(&place) {
            kept.push(place);
            continue;
        }
        let is_counted = settings::is_counted(column.key);
        let values: Vec<&Value> = rows.iter().filter_map(|row| row.get(place)).collect();
        let names = names_of_map(&values);
        let (all, different) = match names.is_empty() {
            true => {
                let is_known = values.iter().any(|value| **value != Value::None);
                (usize::from(is_known), usize::from(values.windows(2).any(|pair| pair[0] != pair[1])))
            }
            false => (names.len(), names.iter().filter(|name| differs(&values, name)).count()),
        };
        if is_counted {
            settings += all;
            differ += different;
        }
        if different > 0 {
            kept.push(place);
        }
    }
    answer.facts =
        vec![Fact::local("settings", Kind::Count, settings), Fact::local("settings that differ", Kind::Count, differ)];
    if diff {
        keep_what_differs(answer, &own);
        answer.keep(&kept);
        if answer.sections.iter().filter(|section| !section.rows.is_empty()).count() == 1 {
            let section = answer.sections.iter_mut().find(|section| !section.rows.is_empty());
            section.into_iter().for_each(|section| section.notes.push("no setting differs".to_owned()));
        }
    }
}

/// Places of the columns of settings, and that of the equal files.
fn places(columns: &[Column]) -> (Vec<usize>, Option<usize>) {
    let own = (0..columns.len()).filter(|place| is_setting(&columns[*place])).collect();
    (own, columns.iter().position(|column| column.key == EQUAL_FILES.key))
}

/// Leaves the first of the files that have the same settings.
fn join_equal_files(sections: &mut Vec<Section>, own: &[usize], equal_files: Option<usize>) {
    let mut kept: Vec<(Section, Vec<String>)> = Vec::new();
    for section in sections.drain(..) {
        let same = |other: &Section| match (other.rows.first(), section.rows.first()) {
            (Some(a), Some(b)) => own.iter().all(|place| a.get(*place) == b.get(*place)),
            _ => false,
        };
        match kept.iter_mut().find(|(other, _)| same(other)) {
            Some((_, equal)) => equal.push(section.title),
            None => kept.push((section, Vec::new())),
        }
    }
    sections.extend(kept.into_iter().map(|(mut section, equal)| {
        if !equal.is_empty() {
            section.notes.push(format!("the same settings: {}", equal.join(", ")));
            section.title = format!("{} +{}", section.title, equal.len());
        }
        let row = section.rows.first_mut();
        if let Some(value) = row.zip(equal_files).and_then(|(row, place)| row.get_mut(place)) {
            *value = Value::List(equal);
        }
        section
    }));
}

/// Names of the settings that stand in one column.
fn names_of_map(values: &[&Value]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for value in values {
        let Value::Map(map) = value else { continue };
        names.extend(map.iter().map(|(name, _)| name.clone()));
    }
    names.sort_unstable();
    names.dedup();
    names
}

fn member<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let Value::Map(map) = value else { return None };
    map.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

fn differs(values: &[&Value], name: &str) -> bool {
    values.windows(2).any(|pair| member(pair[0], name) != member(pair[1], name))
}

/// Drops settings without a column that all files have alike.
fn keep_what_differs(answer: &mut Answer, own: &[usize]) {
    for place in own {
        let values: Vec<&Value> =
            answer.sections.iter().filter_map(|section| section.rows.first()?.get(*place)).collect();
        let names = names_of_map(&values);
        let same: Vec<&String> = names.iter().filter(|name| !differs(&values, name)).collect();
        if same.is_empty() {
            continue;
        }
        let same: Vec<String> = same.into_iter().cloned().collect();
        for value in answer.sections.iter_mut().filter_map(|section| section.rows.first_mut()?.get_mut(*place)) {
            if let Value::Map(map) = value {
                map.retain(|(name, _)| !same.contains(name));
            }
        }
    }
}
