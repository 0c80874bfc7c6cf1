//! One answer, made of those about several files.

use crate::answer::{Answer, Column, Layout, Section};
use crate::limit::{Limit, in_two_lines};
use crate::totals::{files, without_part};

/// The answer with one section in place of those about single files, whose warnings it has.
pub(crate) fn answer_of(
    answer: &Answer,
    columns: Vec<Column>,
    sorted: Option<&'static str>,
    section: Section,
) -> Answer {
    let warnings = in_two_lines(&answer.sections, false).into_iter().map(Limit::from).collect();
    Answer {
        question: answer.question,
        columns,
        layout: Layout::Rows,
        sorted,
        sections: vec![Section { warnings, ..section }],
        facts: Vec::new(),
        sums: Vec::new(),
    }
}

/// The sections of the files that have such data.
pub(crate) fn parts(answer: &Answer) -> Vec<&Section> {
    answer.sections.iter().filter(|section| !section.is_absent).collect()
}

/// The same, of the files that have such data: a note tells how many have none. Where no file has such data, their reasons stay.
pub(crate) fn answer_of_parts(
    answer: &Answer,
    columns: Vec<Column>,
    sorted: Option<&'static str>,
    section: Section,
) -> Answer {
    let many = parts(answer).len();
    let left_out = without_part(answer.sections.len() - many, "such data");
    let section = Section { title: files(many), notes: left_out.into_iter().collect(), ..section };
    let one = answer_of(answer, columns, sorted, section);
    if many == 0 { Answer { sections: answer.sections.clone(), ..one } } else { one }
}

/// The notes of the files, each with the name of its file.
pub(crate) fn notes(answer: &Answer) -> impl Iterator<Item = String> {
    answer.sections.iter().flat_map(|section| section.notes.iter().map(|note| format!("{}: {note}", section.title)))
}
