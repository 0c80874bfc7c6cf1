//! The options of `dump exceptions`, and what they cut off.

use clap::Args;

use super::{Exceptions, Question};
use crate::answer::{Answer, Column, Value};
use crate::ask::When;
use crate::etwanalyzer::{Legacy, To, switch};
use crate::label_cut::LabelCut;
use crate::options::{Form, Plan, QuestionOptions};
use crate::table_question::{self, TableQuestion as _};
use crate::usage_error::UsageError;

/// The options.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    rows: table_question::Options<Exceptions>,
    /// Characters of a message that are shown; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 500, help_heading = "Rows")]
    max_message: usize,
    /// Part of each stack: 2-10 leaves out 2 functions and shows 10, -10 shows the last 10
    #[arg(long, value_name = "A-B", allow_hyphen_values = true, help_heading = "Rows")]
    cut_stack: Option<LabelCut>,
}

/// The same question of ETWAnalyzer.
pub(super) const LEGACY: Legacy = Legacy {
    name: "exception",
    switches: &[
        switch(&["type"], To::Value("--type")),
        switch(&["message"], To::Value("--message")),
        switch(&["stackfilter", "sf"], To::Value("--stack")),
        switch(&["showstack", "ss"], To::Flag("--stacks")),
        switch(&["showtime"], To::Flag("--top-details=all")),
        switch(&["cutstack"], To::Value("--cut-stack")),
        switch(&["maxmessage"], To::Value("--max-message")),
        switch(&["minmaxextime"], To::Range("--min-time", "--max-time", "s")),
        switch(&["sortby"], To::Choice(&[("time", "--list --sort=time"), ("default", "")])),
        switch(
            &["smi", "showmoduleinfo"],
            To::Left(1, "facts of modules are left out; `dump version --per-process` has them"),
        ),
    ],
};

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form::usual("exceptions", Question::all_columns),
        Form {
            with: &[&["--list"]],
            title: "With `--list` a row is a single exception or signal:\n\n",
            ..Form::usual("exceptions", Question::list_columns)
        },
    ];
    const SHORT: &'static [&'static str] = Exceptions::SHORT;
    const EXAMPLES: &'static [(&'static str, &'static str)] = Exceptions::EXAMPLES;
    const VARIANTS: &'static [&'static [&'static str]] = Exceptions::VARIANTS;
    const LEGACY: Option<Legacy> = Exceptions::LEGACY;

    fn when(&self) -> When {
        self.rows.when()
    }

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let Plan::Archives(mut asking) = self.rows.plan(warn)? else {
            return Err(UsageError::new("exceptions are in archives", "name an archive"));
        };
        let cut = Cut { message: self.max_message, stack: self.cut_stack.unwrap_or_default() };
        asking.then = Box::new(move |answer, _| cut.apply(answer));
        Ok(Plan::Archives(asking))
    }

    #[cfg(test)]
    fn check_rows() {
        table_question::Options::<Exceptions>::check_rows();
    }
}

/// What is left of long texts.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// Characters of a message; 0: all.
    message: usize,
    /// Functions of a stack.
    stack: LabelCut,
}

impl Cut {
    fn apply(self, answer: &mut Answer) {
        let columns = &answer.columns;
        answer.sections.iter_mut().for_each(|section| self.of_rows(columns, &mut section.rows));
    }

    fn of_rows(self, columns: &[Column], rows: &mut [Vec<Value>]) {
        for (value, column) in rows.iter_mut().flat_map(|row| row.iter_mut().zip(columns)) {
            match value {
                Value::Text(text) if column.key == "message" => self.of_message(text),
                Value::List(functions) if column.key == "stack" => self.of_stack(functions),
                Value::Table(table) => self.of_rows(&table.columns, &mut table.rows),
                _ => {}
            }
        }
    }

    fn of_message(self, text: &mut String) {
        let end = text.char_indices().nth(self.message).map(|(at, _)| at);
        if let Some(end) = end.filter(|_| self.message > 0) {
            text.truncate(end);
            text.push_str("...");
        }
    }

    fn of_stack(self, functions: &mut Vec<String>) {
        match self.stack {
            LabelCut::Whole => {}
            LabelCut::Part { skip, take } => {
                functions.truncate(skip.saturating_add(take));
                functions.drain(..skip.min(functions.len()));
            }
            LabelCut::End(take) => {
                let before = functions.len().saturating_sub(take);
                functions.drain(..before);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(message: usize, stack: &str) -> Cut {
        Cut { message, stack: stack.parse().unwrap_or_default() }
    }

    #[test]
    fn messages_are_cut_between_characters() {
        let message = |length: usize, text: &str| {
            let mut text = text.to_owned();
            cut(length, "").of_message(&mut text);
            text
        };
        assert_eq!(message(3, "äöüx"), "äöü...");
        assert_eq!(message(4, "äöüx"), "äöüx");
        assert_eq!(message(0, "äöüx"), "äöüx");
    }

    #[test]
    fn stacks_are_cut_at_both_ends() {
        let stack = |part: &str| {
            let mut functions = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
            cut(0, part).of_stack(&mut functions);
            functions.concat()
        };
        assert_eq!(
            ["", "0-2", "1-2", "3-9", "9-9", "-3", "-9"].map(stack),
            ["abcd", "ab", "bc", "d", "", "bcd", "abcd"]
        );
    }
}
