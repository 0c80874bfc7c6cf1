//! The options of `dump lbr`.

use clap::Args;

use super::{Lbr, Question};
use crate::answer::{Answer, Value};
use crate::ask::When;
use crate::etwanalyzer::{Legacy, To, switch};
use crate::options::{Asking, Form, Plan, QuestionOptions};
use crate::table_question::{self, TableQuestion as _};
use crate::usage_error::UsageError;

/// The options.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    rows: table_question::Options<Lbr>,
    /// Count every branch from one function into another: returns and jumps, too
    #[arg(long, conflicts_with = "kind", help_heading = "Rows")]
    any_entry: bool,
    /// Factor of the column with estimated calls: one sample stands for so many
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = factor, help_heading = "Rows")]
    scale: f64,
}

/// Branches that are calls.
const CALLS: &str = "*call";

fn factor(text: &str) -> Result<f64, String> {
    let factor = text.parse::<f64>().ok().filter(|factor| factor.is_finite() && *factor > 0.0);
    factor.ok_or_else(|| "it must be a number above 0".to_owned())
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[Form::usual("lbr", Question::all_columns)];
    const SHORT: &'static [&'static str] = Lbr::SHORT;
    const EXAMPLES: &'static [(&'static str, &'static str)] = Lbr::EXAMPLES;
    const VARIANTS: &'static [&'static [&'static str]] = Lbr::VARIANTS;
    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "lbr",
        switches: &[
            switch(&["showcaller"], To::Flag("--callers")),
            switch(&["scalingfactor"], To::Value("--scale")),
            switch(&["minmaxcount"], To::Range("--min-count", "--max-count", "")),
            switch(&["topnmethods"], To::Value("--top")),
            switch(&["methods"], To::Value("--methods")),
            switch(&["cutmethod"], To::Left(1, "names of functions stand in full")),
        ],
    });

    fn when(&self) -> When {
        self.rows.when()
    }

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let Plan::Archives(mut asking) = self.rows.plan(warn)? else {
            return Err(UsageError::new("branches are in archives", "name an archive"));
        };
        let question = self.rows.question();
        if !self.any_entry && !question.has_patterns("--kind") {
            let calls = question.matching("--kind", CALLS).map_err(|error| UsageError::new(error.to_string(), ""))?;
            asking = Asking::plain(calls);
        }
        let scale = self.scale;
        asking.then = Box::new(move |answer, _| estimate(answer, scale));
        Ok(Plan::Archives(asking))
    }

    #[cfg(test)]
    fn check_rows() {
        table_question::Options::<Lbr>::check_rows();
    }
}

/// Makes estimates of counts.
fn estimate(answer: &mut Answer, scale: f64) {
    let Some(place) = answer.columns.iter().position(|column| column.key == "scaled") else { return };
    for row in answer.sections.iter_mut().flat_map(|section| &mut section.rows) {
        if let Some(Value::Int(count)) = row.get_mut(place) {
            // A cast saturates.
            *count = (*count as f64 * scale).round() as i64;
        }
    }
}
