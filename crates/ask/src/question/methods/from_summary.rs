//! Figures from the archive's `method_summary`, as far as it has all that the question needs.
//!
//! The summary keeps the largest methods of each process. What it leaves out is not larger, in any measure, than the smallest
//! of those that are kept for that measure: that tells when nothing that was left out could be in the answer.

mod chooser;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::{Archive, Error};
use tracesift_trace::ProcessId;
use tracesift_trace::rows::MethodSummaryRow;
use tracesift_trace::schema::ColumnSet;

use self::chooser::Chooser;
use super::order::{Kind, MEASURES, Method, Sort};
use super::{COLUMNS, KeptMethods, Question};
use crate::ask::Ask as _;
use crate::method_patterns::MethodPatterns;
use crate::needs::Needs;

/// What the summary says of some processes.
#[derive(Debug, Default)]
pub(super) struct FromSummary {
    /// The methods of the question, of processes of which the summary has all of them.
    pub(super) methods: Vec<Method>,
    /// The other processes.
    pub(super) incomplete: FxHashSet<ProcessId>,
}

/// What decides, beside the columns of an answer, which rows there are: their names, and the measures by which the summary was cut and that
/// are added up. Of methods no wait is known only as a sum.
const DECISIVE: Needs = Needs {
    method_summary: ColumnSet::of(&["process", "module", "function", "cpu", "exclusive_cpu", "wait", "ready"]),
    tag_summary: ColumnSet::of(&["process", "tag", "cpu", "exclusive_cpu", "wait", "wait_sum", "ready"]),
    ..Needs::NOTHING
};

impl Question {
    /// The stored columns of methods and tags that the answer is made of.
    pub(super) fn needs(&self) -> Needs {
        let decides = |column| self.sorted_by() == Some(column) || self.ranges.are_about(column);
        DECISIVE.and(COLUMNS.needs(|column| self.shown.has(column) || decides(column)))
    }
}

/// The smallest figure of each measure that was kept.
type Thresholds = [i64; MEASURES.len()];

impl FromSummary {
    /// Reads the summary.
    pub(super) fn read(
        archive: &Archive,
        question: &Question,
        patterns: &MethodPatterns,
        processes: &FxHashSet<ProcessId>,
        summaries: &[KeptMethods],
    ) -> Result<Self, Error> {
        // Of processes with methods that were not kept: the measures of those that were.
        let was_cut = |row: &&KeptMethods| row.methods_kept < row.methods && processes.contains(&row.process);
        let mut kept: FxHashMap<ProcessId, Vec<Thresholds>> =
            summaries.iter().filter(was_cut).map(|row| (row.process, Vec::new())).collect();
        let mut methods: Vec<Method> = Vec::new();
        let chooser =
            Chooser { patterns: patterns.clone(), processes: processes.clone(), cut: kept.keys().copied().collect() };
        chooser.scan(archive, question.needs().method_summary, |row| {
            if let Some(kept) = kept.get_mut(&row.process) {
                kept.push(MEASURES.map(|measure| measure.figure(row).unwrap_or(0)));
                // Of a process that was cut all rows come.
                if !patterns.matches(row.module.as_deref(), &row.function) {
                    return;
                }
            }
            let method = Method { kind: Kind::Method, figures: row.clone(), place: None, thread: None };
            if question.ranges.accept(&method) {
                methods.push(method);
            }
        })?;
        let cut = usize::try_from(archive.info().method_summary_cut).unwrap_or(usize::MAX);
        let incomplete: FxHashSet<ProcessId> = kept
            .into_iter()
            .filter(|(process, kept)| {
                let thresholds = thresholds(kept, cut);
                let of_process = methods.iter().filter(|method| method.figures.process == *process);
                !suffices(question, thresholds, of_process.map(|method| &method.figures))
            })
            .map(|(process, _)| process)
            .collect();
        methods.retain(|method| !incomplete.contains(&method.figures.process));
        Ok(Self { methods, incomplete })
    }
}

/// What methods that were not kept have at most.
fn thresholds(kept: &[Thresholds], cut: usize) -> Thresholds {
    std::array::from_fn(|measure| {
        let mut figures: Vec<i64> = kept.iter().filter_map(|row| row.get(measure).copied()).collect();
        match cut.checked_sub(1).filter(|last| *last < figures.len()) {
            Some(last) => *figures.select_nth_unstable_by(last, |a, b| b.cmp(a)).1,
            // Fewer than could be kept: the others have nothing of it.
            None => 0,
        }
    })
}

/// Whether no method that was not kept can be in the answer.
fn suffices<'a>(
    question: &Question,
    thresholds: Thresholds,
    methods: impl Iterator<Item = &'a MethodSummaryRow>,
) -> bool {
    let too_small =
        |(measure, threshold): (&Sort, &i64)| question.ranges.of(*measure).min.is_some_and(|min| min > *threshold);
    if MEASURES.iter().zip(&thresholds).any(too_small) {
        return true;
    }
    // Methods of other modules are taken out only later.
    let only_some_modules = question.modules.as_ref().is_some_and(|patterns| !patterns.is_empty());
    let threshold = MEASURES.iter().zip(&thresholds).find(|(measure, _)| **measure == question.sort);
    let (Some(take), Some((measure, threshold)), false) = (question.top_methods.take, threshold, only_some_modules)
    else {
        return false;
    };
    let larger = methods.filter(|row| measure.figure(row).is_some_and(|figure| figure > *threshold)).count();
    larger >= take.saturating_add(question.top_methods.skip)
}

#[cfg(test)]
mod tests {
    use super::thresholds;

    #[test]
    fn thresholds_are_the_smallest_that_were_kept() {
        let kept = [[5, 0, 9, 0], [7, 1, 0, 0], [6, 2, 8, 0]];
        assert_eq!(thresholds(&kept, 2), [6, 1, 8, 0]);
        assert_eq!(thresholds(&kept, 3), [5, 0, 0, 0]);
        assert_eq!(thresholds(&kept, 4), [0, 0, 0, 0]);
    }
}
