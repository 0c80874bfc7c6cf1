//! The options of `dump stats`, and its answer of many files.

use clap::Args;
use rayon::prelude::*;
use tracesift_extract::Error;
use tracesift_extract::input::{InputRecording, OpenOptions};
use tracesift_grammar::Patterns;

use super::{COLUMNS, RawStats, Row, archive, recording};
use crate::answer::{Failure, descriptions};
use crate::etwanalyzer::{Legacy, To, switch};
use crate::options::{AskFiles, Form, OfFiles, Plan, QuestionOptions};
use crate::recording::{Source, is_cancelled, open_all};
use crate::usage_error::UsageError;

/// The options.
#[derive(Args, Debug)]
pub struct Options {
    /// Only these properties, by key or title: 'os*;cpu*;!*mhz'
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, help_heading = "Rows")]
    properties: Patterns,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[Form {
        objects: &[("The objects of `counts`:\n\n", super::count_columns)],
        ..Form::usual("stats", || descriptions(COLUMNS))
    }];
    const SHORT: &'static [&'static str] = &["file", "recursive", "properties", "format", "csv", "out"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump stats X.sift", "machine, duration, events, losses"),
        ("tracesift dump stats X.sift --properties 'os*;cpu*'", "some of it"),
        ("tracesift dump stats recordings/ --format csv", "a line per recording"),
    ];
    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "stats",
        switches: &[
            switch(&["properties"], To::Value("--properties")),
            switch(&["oneline"], To::Left(0, "-oneline is left out; `--format csv` has a line per recording")),
        ],
    });

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        Ok(Plan::Files(Box::new(Question { properties: self.properties.clone() })))
    }
}

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Properties, by key or title.
    pub properties: Patterns,
}

impl AskFiles for Question {
    fn answer(&self, recordings: &[InputRecording], archives: &[Source]) -> OfFiles {
        let options = OpenOptions::default();
        let read: Vec<Result<RawStats, Error>> =
            recordings.par_iter().map(|one: &InputRecording| recording(one, &options)).collect();
        let mut groups: Vec<Vec<Row>> = Vec::new();
        let mut failures: Vec<String> = Vec::new();
        for result in read {
            let RawStats { rows, errors } =
                result.unwrap_or_else(|error| RawStats { rows: Vec::new(), errors: vec![error] });
            groups.push(rows);
            failures.extend(errors.iter().map(ToString::to_string));
        }
        let (opened, failed) = open_all(archives);
        failures.extend(failed.into_iter().map(|failure| failure.reason));
        for one in &opened {
            match archive(one) {
                Ok(row) => groups.push(vec![row]),
                Err(error) => failures.push(Failure::new(&one.file.path, &error).reason),
            }
        }
        if is_cancelled(archives) {
            return OfFiles { answer: None, usable: 0, failures: vec![Failure::cancelled().reason], why_empty: None };
        }
        groups.retain(|rows| !rows.is_empty());
        groups.sort_by_key(|rows| {
            let start = rows.iter().filter_map(|row| row.zero).map(|zero| zero.filetime).min();
            (start, rows.first().map(|row| row.file.clone()))
        });
        let rows: Vec<Row> = groups.into_iter().flatten().collect();
        let usable = rows.len();
        let answer = (usable > 0).then(|| super::answer(rows, &self.properties));
        let why_empty = answer.as_ref().and_then(|answer| super::why_empty(answer, &self.properties));
        OfFiles { answer, usable, failures, why_empty }
    }
}
