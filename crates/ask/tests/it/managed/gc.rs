//! `dump gc --finalized`: numbers of objects by type of real recordings, against events that were counted by the address of the type.

use clap::{Args as _, FromArgMatches as _};
use tracesift_ask::options::{Plan, QuestionOptions as _};
use tracesift_ask::question::gc::Options;

use super::{answer, real, table};

/// Numbers of objects of each type of a process, ascending.
fn finalized(file: &str, process: &str) -> Option<Vec<i64>> {
    let (_out, archive) = real(file)?;
    let command = Options::augment_args(clap::Command::new("gc").no_binary_name(true));
    let command = command.arg(clap::Arg::new("details").long("details").action(clap::ArgAction::SetTrue));
    let matches = command.try_get_matches_from(["--finalized", "-p", process]).expect("options");
    let options = Options::from_arg_matches(&matches).expect("options");
    let Plan::Archives(asking) = options.plan(&mut |warning| panic!("{warning}")).expect("a plan") else {
        panic!("archives answer");
    };
    let answer = answer(&archive, asking.question.as_ref());
    let rows = table(&answer, &["objects"]);
    Some(rows.iter().map(|row| row[0].parse().expect("a number")).collect())
}

#[test]
fn finalized_objects_of_real_recordings() {
    let of_tool: &[i64] = &[1, 1, 1, 1, 1, 1, 2, 3, 4, 4, 4, 5, 6, 15];
    let of_test: &[i64] = &[1; 5];
    for (file, process, expected) in [
        ("net.4.5.2.x64.etl.zip", "PerfView.exe", of_tool),
        ("net.4.5.2.x64.etl.zip", "Test.x64.exe", of_test),
        ("net.4.5.2.x86.etl.zip", "Test.x86.exe", of_test),
        ("gcevents.etl.zip", "*", &[6]),
    ] {
        let Some(found) = finalized(file, process) else { return };
        assert_eq!(found, expected, "{file}, {process}");
    }
}
