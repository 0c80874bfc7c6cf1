//! The end of a comparison: gates, the answer, reports for builds, and the exit code.

use std::path::Path;

use anyhow::Context as _;
use tracesift_ask::compare::gates::GateState;
use tracesift_ask::compare::stacks::cpu_trees;
use tracesift_ask::compare::{Compared, Settings};
use tracesift_ask::path::AccountQuery;
use tracesift_ask::recording::Source;

use crate::args::ReportFormat;
use crate::args::compare::GateArgs;
use crate::exit::{Exit, UsageError};
use crate::output::target::Target;
use crate::output::{
    comparison, comparison_github, comparison_json, comparison_junit, comparison_markdown, comparison_report,
};
use crate::terminal::Messages;
use crate::watching::answered;

/// What was compared, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured<'a> {
    /// The archives of all runs that are no baseline.
    pub(crate) sources: &'a [Source],
    pub(crate) accounts: &'a AccountQuery,
    pub(crate) settings: &'a Settings,
}

/// The form in which a comparison is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report<'a> {
    /// Its gates, and the files for builds.
    pub(crate) gates: &'a GateArgs,
    /// The format of the answer.
    pub(crate) format: ReportFormat,
    /// The file of the answer; `None`: standard output.
    pub(crate) out: Option<&'a Path>,
    /// Whether there is a line per run.
    pub(crate) details: bool,
    /// Whether JSON has the CPU time by stack, as a page has it.
    pub(crate) stacks: bool,
}

impl Report<'_> {
    /// Whether standard output can have all that goes there.
    ///
    /// # Errors
    /// When nothing can be added to an object or a page.
    pub(crate) fn check(&self) -> Result<(), UsageError> {
        if self.gates.github && self.out.is_none() && self.format != ReportFormat::Table {
            let hint = "name a file for the object with -o FILE.json";
            return Err(UsageError::new("--github prints lines to standard output, as does --format", hint));
        }
        Ok(())
    }

    /// Whether people read the answer where it is printed.
    pub(crate) fn is_for_people(&self) -> bool {
        self.out.is_none() && self.format == ReportFormat::Table
    }

    /// Decides the gates, prints everything, and says how the program ends. `failed` inputs could not be used.
    pub(crate) fn tell(
        &self,
        compared: &mut Compared,
        failed: usize,
        measured: &Measured<'_>,
        messages: &Messages,
    ) -> anyhow::Result<Exit> {
        if compared.cases.is_empty() {
            if failed == 0 && (!compared.unpaired.is_empty() || compared.neither > 0) {
                messages.error("no test case is in two sets");
                messages.hint(
                    compared.found.as_deref().unwrap_or(
                        "the case is the test that the name of the file begins with: tracesift dump testrun",
                    ),
                );
            }
            return Ok(Exit::NothingUsable);
        }
        compared.decide(&self.gates.fail_if, measured.settings)?;
        self.print(compared, measured)?;
        if !self.is_for_people() {
            say_gates(compared, messages);
        }
        Ok(exit(compared, failed, self.gates.strict))
    }

    /// The answer, and the files for builds.
    pub(crate) fn print(&self, compared: &Compared, measured: &Measured<'_>) -> anyhow::Result<()> {
        let target = match self.out {
            Some(path) => Target::File(path.to_owned()),
            None => Target::Stdout,
        };
        let is_seen_by_runner = self.gates.github && self.out.is_none();
        let has_stacks = self.format == ReportFormat::Html || self.format == ReportFormat::Json && self.stacks;
        let Measured { sources, accounts, settings } = measured;
        let trees = match has_stacks {
            true => answered(sources.len(), || cpu_trees(compared, sources, accounts, settings))?,
            false => Vec::new(),
        };
        let text = match self.format {
            ReportFormat::Table => comparison::text(compared, self.details),
            ReportFormat::Json => comparison_json::text(compared, &trees),
            ReportFormat::Html => comparison_report::text(compared, &trees),
        };
        let text = if is_seen_by_runner { comparison_github::shown(&text) } else { text };
        write(&target, &text)?;
        if self.gates.github {
            write(&Target::Stdout, &comparison_github::lines(compared))?;
        }
        self.write_files(compared)
    }

    /// The files for builds.
    pub(crate) fn write_files(&self, compared: &Compared) -> anyhow::Result<()> {
        if let Some(path) = &self.gates.junit {
            write(&Target::File(path.clone()), &comparison_junit::text(compared, &self.gates.fail_if))?;
        }
        if let Some(path) = &self.gates.markdown {
            write(&Target::File(path.clone()), &comparison_markdown::text(compared))?;
        }
        Ok(())
    }
}

/// Names inputs that cannot be used, cases without a counterpart, and runs that are left out.
pub(crate) fn say_what_is_left_out(compared: &Compared, messages: &Messages) {
    compared.failures.iter().for_each(|failure| messages.error(&failure.reason));
    for (case, label) in &compared.unpaired {
        messages.warning(&format!("{case} is in {label} only"));
    }
    let runs = |count: usize| if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
    if !compared.failed.is_empty() {
        let (count, first) = (compared.failed.len(), compared.failed.first().map_or("", String::as_str));
        messages.warning(&format!("{} left out because the test failed, such as {first}", runs(count)));
    }
    if compared.neither > 0 {
        let belong = if compared.neither == 1 { "belongs" } else { "belong" };
        messages.warning(&format!("{} left out that {belong} to neither set", runs(compared.neither)));
    }
}

/// Writes a text whole or not at all.
pub(crate) fn write(target: &Target, text: &str) -> anyhow::Result<()> {
    target.write(|out| Ok(out.write_all(text.as_bytes())?)).context("the comparison cannot be written")
}

/// Names the gates that were not kept where no table for people does.
fn say_gates(compared: &Compared, messages: &Messages) {
    for case in &compared.cases {
        for gate in &case.gates {
            let text = format!("{}: the gate '{}' {}: {}", case.name, gate.text, said(gate.state), gate.reason);
            match gate.state {
                GateState::Passed => {}
                GateState::Failed => messages.error(&text),
                GateState::Undecided => messages.warning(&text),
            }
        }
    }
}

fn said(state: GateState) -> &'static str {
    match state {
        GateState::Passed => "passed",
        GateState::Failed => "failed",
        GateState::Undecided => "is undecided",
    }
}

/// A gate that failed weighs most. Runs that cannot be compared are no answer.
fn exit(compared: &Compared, failed: usize, is_strict: bool) -> Exit {
    let usable = compared.cases.iter().filter(|case| case.result.is_some()).count();
    if compared.gates_in(GateState::Failed) > 0 {
        return Exit::GateFailed;
    }
    let is_undecided = compared.gates_in(GateState::Undecided) > 0 || usable < compared.cases.len();
    if is_strict && is_undecided { Exit::GateUndecided } else { Exit::of(usable, failed) }
}
