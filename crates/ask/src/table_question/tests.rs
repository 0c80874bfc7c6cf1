//! Every table question, over random rows, against a reading that adds up one row after the other.

mod asked;
mod plain;
mod random;
mod tree;

use std::collections::BTreeMap;

use tracesift_analysis::Span;
use tracesift_grammar::TimeRange;

use self::asked::Asked;
use self::plain::Plain;
use self::random::Random;
use super::arithmetic::How;
use super::dimension::Of;
use super::stated::Stated;
use super::{Listing, Question, TableQuestion};
use crate::answer::{Kind, Section, Value, View};
use crate::ask::Ask;
use crate::every_question;
use crate::filter::{ProcessFilter, ProcessPatterns};
use crate::inside::Inside;
use crate::measure::Measure;
use crate::order::Top;
use crate::question::stacks;
use crate::recording::{OpenRecording, Source};
use crate::shown::Shown;

/// Random archives per question.
const ARCHIVES: u64 = 12;
/// Questions to each of them.
const QUESTIONS: usize = 6;

macro_rules! check {
    ($($(#[$about:meta])* $variant:ident($module:ident),)*) => {
        /// The questions over tables; all others have tests of their own.
        mod every_question {
            $(
                #[test]
                fn $module() {
                    <crate::question::$module::Options as crate::options::QuestionOptions>::check_rows();
                }
            )*
        }
    };
}

every_question!(check);

/// Cells by key.
type Row = BTreeMap<&'static str, Value>;

fn rows_of<Q: TableQuestion>(question: &Question<Q>, section: &Section) -> Vec<Row> {
    let columns = question.columns();
    let shown = |row: &Vec<Value>| {
        let cells = columns.iter().zip(row).filter(|(column, _)| column.view != View::Nowhere);
        cells.map(|(column, value)| (column.key, value.clone())).collect()
    };
    section.rows.iter().map(shown).collect()
}

/// Asks random questions about random rows.
pub(super) fn check<Q: TableQuestion>() {
    is_sound::<Q>();
    for seed in 1..=ARCHIVES {
        let mut random = Random::new(seed);
        let (stored, rows) = random.rows::<Q>();
        let directory = tempfile::tempdir().expect("temporary directory");
        let archive = random::archive(directory.path(), &stored);
        let recording = OpenRecording::open(&Source::archive(archive)).expect("an archive");
        // What branches are between comes from other tables, which tests of that question read.
        let rows = if Q::ONLY_WHOLE { scanned::<Q>(&recording) } else { rows };
        let plain = Plain::new(&recording, rows);
        for number in 0..QUESTIONS {
            let asked = Asked::<Q>::random(&mut random, &plain);
            let place = format!("{}, archive {seed}, question {number}: {asked:?}", Q::NAME);
            let section = asked.question.section(&recording).expect("an answer");
            plain.compare(&asked, asked.question.time, &section, &place);
            some_columns_are_those_of_all(&asked.question, &recording, &section, random.number(0, i64::MAX), &place);
            let list = asked.question.clone().listed(Listing::Flat).section(&recording).expect("a list");
            plain.compare_list(&asked, &list, &place);
            has_the_largest_of_each_group(&asked.question, &recording, &place);
            stacks_add_up::<Q>(&recording, asked.question.time, &place);
            only_inside_is_within::<Q>(&asked.question, &recording, random.range(), &place);
            let ranges = random.ranges();
            let sections = asked.question.series(&recording, &ranges, 0).expect("a series");
            assert_eq!(sections.len(), ranges.len());
            if Q::ONLY_WHOLE {
                // The archive has no times, so a part of the recording has no answer.
                assert!(sections.iter().all(|section| section.rows.is_empty()), "{place}, in a series");
                continue;
            }
            for (range, section) in ranges.iter().zip(&sections) {
                plain.compare(&asked, *range, section, &format!("{place}, in a series {range:?}"));
            }
        }
    }
}

/// Whether an answer about a time that something else chooses is that about the part of the recording.
fn only_inside_is_within<Q: TableQuestion>(
    question: &Question<Q>,
    recording: &OpenRecording,
    time: TimeRange,
    place: &str,
) {
    let (start, end) = time.bounds();
    let mut within = question.clone();
    within.time = time;
    if (Q::PARTS.is_some() && !Q::PARTS_IN_TIMES) || Q::ONLY_WHOLE {
        return;
    }
    // Chosen times have no tenths.
    let is_of_tenths = |place: usize| matches!(Q::MEASURES[place].is.how, How::Tenths);
    let mut limited = question.group_limits.iter().map(|(place, _)| *place).chain(question.sort);
    if limited.any(is_of_tenths) {
        return;
    }
    let tenths: Vec<&str> =
        Q::MEASURES.iter().filter(|measure| matches!(measure.is.how, How::Tenths)).map(|of| of.is.column.key).collect();
    for listing in [None, Some(Listing::Flat)] {
        let listed = |question: &Question<Q>| match listing {
            Some(listing) => question.clone().listed(listing),
            None => question.clone(),
        };
        let mut expected = listed(&within).section(recording).expect("an answer");
        let mut inside = listed(question);
        for (place, _) in inside.columns().iter().enumerate().filter(|(_, column)| tenths.contains(&column.key)) {
            expected.rows.iter_mut().for_each(|row| row[place] = Value::None);
        }
        inside.time = TimeRange::default();
        // Both halves are one span.
        let middle = start / 2 + end / 2;
        inside.inside = vec![Inside::Spans(vec![Span::new(middle, end), Span::new(start, middle)])];
        let found = inside.section(recording).expect("an answer");
        assert_eq!(found.rows, expected.rows, "{place}, inside of {time:?}");
        let has_fact = |fact: &crate::answer::Fact| found.facts.contains(fact);
        assert!(expected.facts.iter().all(has_fact), "{place}, inside of {time:?}");
    }
}

/// The rows of a question as it reads them.
fn scanned<Q: TableQuestion>(recording: &OpenRecording) -> Vec<Q::Row> {
    let mut rows = Vec::new();
    super::scan_rows::<Q>(recording.archive(), None, super::Needed::own::<Q>(), &mut |row| rows.push(row.clone()))
        .expect("rows");
    rows
}

/// Whether an answer of some columns has the values, the totals and the order of an answer of all columns. The bits of a number
/// choose the columns.
fn some_columns_are_those_of_all<Q: TableQuestion>(
    question: &Question<Q>,
    recording: &OpenRecording,
    all: &Section,
    bits: i64,
    place: &str,
) {
    let columns = question.columns();
    let is_chosen = |at: usize| bits.rotate_left(at as u32) & 1 == 1;
    let chosen: Vec<&'static str> =
        columns.iter().enumerate().filter(|(at, _)| is_chosen(*at)).map(|(_, column)| column.key).collect();
    let narrowed = question.showing(&Shown::only(chosen.iter().copied())).expect("it reads what is looked at");
    let keys: Vec<&'static str> = narrowed.columns().iter().map(|column| column.key).collect();
    assert_eq!(keys, chosen, "{place}");
    let some = narrowed.section(recording).expect("an answer");
    let of_chosen = |row: &Vec<Value>| -> Vec<Value> {
        row.iter().enumerate().filter(|(at, _)| is_chosen(*at)).map(|(_, value)| value.clone()).collect()
    };
    assert_eq!(some.rows, all.rows.iter().map(of_chosen).collect::<Vec<_>>(), "{place}, only {chosen:?}");
    assert_eq!(some.facts, all.facts, "{place}, only {chosen:?}");
}

/// Whether the single rows below groups are the ends of the lists of these groups, and whether `--top` cuts a list at its end.
fn has_the_largest_of_each_group<Q: TableQuestion>(question: &Question<Q>, recording: &OpenRecording, place: &str) {
    let rows = |listing, take| {
        let mut question = question.clone().listed(listing);
        question.top = Top { take, skip: 0 };
        let section = question.section(recording).expect("a list");
        (question.columns(), section.rows)
    };
    let (_, all) = rows(Listing::Flat, None);
    let (_, few) = rows(Listing::Flat, Some(3));
    assert_eq!(few, all[all.len().saturating_sub(3)..], "{place}, the last of a list");
    // Of each group its rows.
    let below = |most: usize| {
        let (columns, rows) = rows(Listing::OfGroups(most), None);
        let at = columns.iter().position(|column| column.key == "rows").expect("a column of rows");
        assert_eq!(columns[at].view, View::Always);
        let table = |row: &Vec<Value>| match &row[at] {
            Value::Table(table) => {
                assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{place}");
                table.rows.clone()
            }
            other => panic!("{place}: {other:?}"),
        };
        let groups: Vec<Vec<Vec<Value>>> = rows.iter().map(table).collect();
        // The rows themselves are those of the answer without a list.
        let without = |row: &Vec<Value>| [&row[..at], &[Value::None], &row[at + 1..]].concat();
        let expected = question.section(recording).expect("an answer").rows;
        assert_eq!(rows.iter().map(without).collect::<Vec<_>>(), expected, "{place}");
        groups
    };
    // The columns of the file stand around those of a single row.
    let alone: Vec<&[Value]> = all.iter().map(|row| &row[5..row.len() - 1]).collect();
    let of_groups = below(usize::MAX);
    let singles = || of_groups.iter().flatten();
    if question.group_limits.is_empty() {
        let is_somewhere = |row: &&[Value]| singles().any(|other| other == row);
        assert!(alone.iter().all(is_somewhere), "{place}, a row is in no group");
    }
    assert!(singles().all(|row| alone.contains(&row.as_slice())), "{place}, a row of a group is in no list");
    for (largest, of_group) in below(1).iter().zip(&of_groups) {
        assert_eq!(largest, &of_group[of_group.len().saturating_sub(1)..], "{place}, the largest row of a group");
        // A group whose rows are only under way in the time range has none that counts.
        assert!(Q::COUNTS_AT_END || largest.len() == 1, "{place}, one row of each group");
    }
}

/// Whether call trees have, by process, the figures that the question has.
fn stacks_add_up<Q: TableQuestion>(recording: &OpenRecording, time: TimeRange, place: &str) {
    let everybody = || ProcessFilter { process: ProcessPatterns::parse("*"), ..ProcessFilter::default() };
    let int = |value: Option<&Value>| if let Some(Value::Int(number)) = value { Some(*number) } else { None };
    for figure in Q::STACKS {
        let mut question = Question::<Q>::default().by(&["process"]).expect("rows have processes");
        (question.filter, question.time) = (everybody(), time);
        let mut expected: BTreeMap<i64, i64> = BTreeMap::new();
        for row in rows_of(&question, &question.section(recording).expect("an answer")) {
            let amount = int(row.get(figure.column)).unwrap_or(0);
            if let Some(pid) = int(row.get("pid")).filter(|_| amount > 0) {
                *expected.entry(pid).or_default() += amount;
            }
        }
        let registered = Measure::words().iter().find(|(word, ..)| *word == figure.measure.key);
        let (.., measure) = *registered.expect("the figure is registered");
        for per_thread in [false, true] {
            let top = Top { take: Some(usize::MAX), skip: 0 };
            let trees = stacks::Question { filter: everybody(), time, measure, per_thread, top, ..Default::default() };
            let columns = trees.columns();
            let total = match measure.kind() {
                Kind::Milliseconds => "total_ns",
                Kind::Bytes => "total_bytes",
                _ => "total",
            };
            let [pid, parent, total] = ["pid", "parent", total]
                .map(|key| columns.iter().position(|column| column.key == key && column.view != View::Nowhere))
                .map(|at| at.expect("a column of trees"));
            let mut found: BTreeMap<i64, i64> = BTreeMap::new();
            for row in &trees.section(recording).expect("trees").rows {
                if row[parent] == Value::None {
                    *found.entry(int(row.get(pid)).expect("a pid")).or_default() +=
                        int(row.get(total)).expect("a total");
                }
            }
            assert_eq!(found, expected, "{place}, {} by stacks, {per_thread}", figure.column);
        }
    }
}

/// The rows behind `--measure network` belong to no command.
#[test]
fn traffic() {
    check::<crate::question::tcp::Traffic>();
}

/// Whether the declaration of a question makes sense.
fn is_sound<Q: TableQuestion>() {
    super::stacks::check::<Q>();
    super::stacks_below::check::<Q>();
    let stated = Stated::of::<Q>();
    for figure in &stated.measures {
        let about = figure.how.dimension().map(|about| stated.dimensions[stated.dimension_of(about)].of);
        let is_list = matches!(about, Some(Of::Texts));
        assert!(!is_list, "{}: {} counts values of a list", Q::NAME, figure.column.key);
    }
    let mut list: Vec<&str> = Question::<Q>::list_columns().iter().map(|column| column.key).collect();
    list.sort_unstable();
    assert!(
        list.windows(2).all(|pair| pair[0] != pair[1]),
        "{}: a key of a list stands for two columns: {list:?}",
        Q::NAME
    );
    let columns = Question::<Q>::all_columns();
    let mut keys: Vec<&str> = columns.iter().map(|column| column.key).collect();
    keys.sort_unstable();
    assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "{}: a key stands for two columns: {keys:?}", Q::NAME);
    for column in &columns {
        assert!(!column.help.is_empty(), "{}: the column {} has no meaning", Q::NAME, column.key);
        assert!(!column.title.is_empty(), "{}: the column {} has no title", Q::NAME, column.key);
    }
    let mut words: Vec<&str> = Question::<Q>::orders().flatten().copied().collect();
    let all = words.len();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), all, "{}: a word of --sort stands for two measures", Q::NAME);
    for word in words {
        Question::<Q>::default().sorted_by_word(word).expect("a word of --sort");
    }
    for shorthand in Q::SHORTHANDS {
        Question::<Q>::default().by(shorthand.by).expect("a shorthand");
    }
}
