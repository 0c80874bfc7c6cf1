//! Rows that are chosen by some columns, and rows at some places, are those that a reading of everything finds.

use std::collections::BTreeMap;
use std::fs;

use tracesift_archive::{Archive, Error, Keys};
use tracesift_testing::archive::{bless, create, finish, sample_rows};
use tracesift_trace::rows::MethodSummaryRow;
use tracesift_trace::schema::{ColumnSet, column_key};
use tracesift_trace::view;

type Choice = fn(&Keys<'_, Key>) -> Result<Vec<bool>, String>;

const PROCESS: u64 = column_key("process");
const MODULE: u64 = column_key("module");
const FUNCTION: u64 = column_key("function");

view! {
    /// The columns by which rows are chosen.
    #[derive(Debug)]
    struct Key of MethodSummaryRow { process, module, function }
}

/// Functions of a few names among others, so that the file has a dictionary of them, and one row of each.
fn rows(count: usize) -> Vec<MethodSummaryRow> {
    let mut rows: Vec<MethodSummaryRow> = sample_rows(11, 300);
    rows = (0..count).map(|index| rows[index * 7 % 300].clone()).collect();
    for (index, row) in rows.iter_mut().enumerate() {
        row.function = format!("Stream{}::Read", index * index % 97);
        row.module = (index % 5 > 0).then(|| format!("module{}.dll", index % 11));
    }
    rows
}

fn is_chosen(module: Option<&str>, function: &str) -> bool {
    function.ends_with("3::Read") && module != Some("module4.dll")
}

fn choose(keys: &Keys<'_, Key>) -> Result<Vec<bool>, String> {
    let (modules, functions) = (keys.texts::<MODULE>()?, keys.texts::<FUNCTION>()?);
    let row = |row| {
        let function = functions.number(row).and_then(|number| functions.text(number)).ok_or("no function")?;
        Ok(is_chosen(modules.number(row).and_then(|number| modules.text(number)), function))
    };
    (0..keys.rows()).map(row).collect()
}

fn chosen(archive: &Archive) -> Vec<MethodSummaryRow> {
    let mut found = Vec::new();
    archive.scan_by_keys(ColumnSet::ALL, choose, |row: &MethodSummaryRow| found.push(row.clone())).expect("read");
    found
}

#[test]
fn chosen_rows_are_those_of_a_whole_reading() {
    let root = tempfile::tempdir().expect("temporary directory");
    // One batch of keys, and several.
    for count in [0, 5_000, 150_000] {
        let mut writer = create(&root.path().join(format!("{count}.sift")));
        let rows = rows(count);
        writer.write_table(&rows);
        let archive = Archive::open(&finish(writer)).expect("opened");
        let expected: Vec<_> =
            rows.iter().filter(|row| is_chosen(row.module.as_deref(), &row.function)).cloned().collect();
        assert_eq!(expected.is_empty(), count == 0);
        assert_eq!(chosen(&archive), expected);

        let stored = archive.stored_rows::<Key, MethodSummaryRow>(ColumnSet::ALL).expect("read");
        let keys = stored.keys().expect("sound");
        assert!(
            keys.iter().map(|key| (&key.module, &key.function)).eq(rows.iter().map(|row| (&row.module, &row.function)))
        );
        let places: Vec<usize> = (0..count + 9).filter(|place| place % 501 == 3).collect();
        let expected: Vec<_> = places.iter().filter_map(|place| rows.get(*place)).cloned().collect();
        assert_eq!(stored.rows(places).expect("sound"), expected);
    }
}

/// Rows by module and function, and the sum of their processes.
type Counts = BTreeMap<(Option<String>, String), (u64, i64)>;

fn counted(archive: &Archive) -> Result<Counts, Error> {
    archive.fold_keys(ColumnSet::ALL, Counts::new(), |counts, keys: &Keys<'_, Key>| {
        let (processes, modules, functions) =
            (keys.numbers::<PROCESS>()?, keys.texts::<MODULE>()?, keys.texts::<FUNCTION>()?);
        for row in 0..keys.rows() {
            let module = modules.number(row).and_then(|number| modules.text(number)).map(str::to_owned);
            let function = functions.number(row).and_then(|number| functions.text(number)).ok_or("no function")?;
            let (count, sum) = counts.entry((module, function.to_owned())).or_default();
            *count += 1;
            *sum += processes.get(row).ok_or("no process")?;
        }
        Ok(())
    })
}

#[test]
fn rows_counted_by_their_keys_are_those_of_a_whole_reading() {
    let root = tempfile::tempdir().expect("temporary directory");
    for count in [0, 5_000, 150_000] {
        let mut writer = create(&root.path().join(format!("{count}.sift")));
        let rows = rows(count);
        writer.write_table(&rows);
        let mut expected = Counts::new();
        for row in &rows {
            let (count, sum) = expected.entry((row.module.clone(), row.function.clone())).or_default();
            *count += 1;
            *sum += i64::from(row.process.0);
        }
        assert_eq!(counted(&Archive::open(&finish(writer)).expect("opened")).expect("read"), expected);
    }
    let archive = Archive::open(&finish(create(&root.path().join("without.sift")))).expect("opened");
    assert!(counted(&archive).expect("an archive without the table").is_empty());
}

#[test]
fn a_choice_that_fails_is_an_error() {
    let root = tempfile::tempdir().expect("temporary directory");
    let mut writer = create(&root.path().join("x.sift"));
    writer.write_table(&rows(10));
    let archive = Archive::open(&finish(writer)).expect("opened");
    let choices: [Choice; 4] = [
        |_| Err("for a reason".to_owned()),
        |keys| Ok(vec![true; keys.rows() - 1]),
        |keys| keys.texts::<PROCESS>().map(|_| Vec::new()),
        |keys| keys.ids::<MODULE>().map(|_| Vec::new()),
    ];
    for choose in choices {
        assert!(archive.scan_by_keys(ColumnSet::ALL, choose, |_: &MethodSummaryRow| {}).is_err());
        let fold = move |(): &mut (), keys: &Keys<'_, Key>| {
            choose(keys).and_then(|rows| if rows.len() == keys.rows() { Ok(()) } else { Err("too few".to_owned()) })
        };
        assert!(archive.fold_keys(ColumnSet::ALL, (), fold).is_err());
    }
}

#[test]
fn damaged_names_are_an_error_or_rows() {
    let root = tempfile::tempdir().expect("temporary directory");
    let mut writer = create(&root.path().join("x.sift"));
    writer.write_table(&rows(3_000));
    let place = finish(writer);
    let path = place.join("method_summary.parquet");
    let sound = fs::read(&path).expect("read");
    // Damage that the checksum does not show: whoever makes a hostile file makes its checksum, too.
    for step in 0..400 {
        let mut damaged = sound.clone();
        let at = step * 7919 % damaged.len();
        damaged[at] ^= 1 << (step % 8);
        fs::write(&path, &damaged).expect("written");
        bless(&place, "method_summary", None);
        let archive = Archive::open(&place).expect("opened");
        let _ = archive.scan_by_keys(ColumnSet::ALL, choose, |_: &MethodSummaryRow| {});
        let _ = counted(&archive);
        let _ = archive.stored_rows::<Key, MethodSummaryRow>(ColumnSet::ALL).and_then(|rows| rows.rows(0..3_000));
    }
}
