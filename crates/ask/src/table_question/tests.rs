//! Every table question, over random rows, against a reading that adds up one row after the other.

mod asked;
mod plain;
mod random;

use std::collections::BTreeMap;

use self::asked::Asked;
use self::plain::Plain;
use self::random::Random;
use super::{Question, TableQuestion};
use crate::answer::{Section, Value, View};
use crate::ask::Ask;
use crate::every_question;
use crate::recording::{OpenRecording, Source};

/// Random archives per question.
const ARCHIVES: u64 = 12;
/// Questions to each of them.
const QUESTIONS: usize = 12;

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
        let plain = Plain::new(&recording, rows);
        for number in 0..QUESTIONS {
            let asked = Asked::<Q>::random(&mut random, &plain);
            let place = format!("{}, archive {seed}, question {number}: {asked:?}", Q::NAME);
            let section = asked.question.section(&recording).expect("an answer");
            plain.compare(&asked, asked.question.time, &section, &place);
            let ranges = random.ranges();
            let sections = asked.question.series(&recording, &ranges, 0).expect("a series");
            assert_eq!(sections.len(), ranges.len());
            for (range, section) in ranges.iter().zip(&sections) {
                plain.compare(&asked, *range, section, &format!("{place}, in a series {range:?}"));
            }
        }
    }
}

/// Whether the declaration of a question makes sense.
fn is_sound<Q: TableQuestion>() {
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
