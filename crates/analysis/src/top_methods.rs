//! Chooses the rows of the method summary: few per process, among them all that are large by some
//! measure.

use std::cmp::Reverse;

use tracesift_trace::ProcessId;

use crate::method_total::MethodCount;
use crate::owner::Owner;

/// Counts the methods of each owner. `order` must be sorted by owner.
pub(crate) fn count<O: Owner>(order: &[u32], owner: impl Fn(u32) -> O) -> Vec<MethodCount<O>> {
    let groups = order.chunk_by(|&a, &b| owner(a) == owner(b));
    groups.map(|group| MethodCount { owner: owner(group[0]), methods: group.len(), kept: group.len() }).collect()
}

/// Keeps per process the slots that are among the `per_process` largest by any of the measures. Of
/// equal slots the first by name is kept, so that the choice does not depend on the numbers of the
/// slots. A measure of 0 keeps no slot. `order` must be sorted by process and stays sorted.
pub(crate) fn keep_largest<N: Ord>(
    order: &mut Vec<u32>,
    process: impl Fn(u32) -> ProcessId,
    measures: &[&dyn Fn(u32) -> i64],
    per_process: usize,
    mut name: impl FnMut(u32) -> N,
) -> Vec<MethodCount> {
    let mut counts = count(order, process);
    let mut keep = vec![false; order.len()];
    let mut start = 0;
    for count in &mut counts {
        let range = start..start + count.methods;
        start = range.end;
        if count.methods <= per_process {
            // All that are large in any respect are among the largest.
            for index in range.clone() {
                keep[index] = measures.iter().any(|measure| measure(order[index]) > 0);
            }
        } else {
            for measure in measures {
                let mut ranked: Vec<_> = range.clone().map(|index| (Reverse(measure(order[index])), index)).collect();
                ranked.retain(|(Reverse(size), _)| *size > 0);
                if per_process == 0 {
                    ranked.clear();
                } else if ranked.len() > per_process {
                    let (_, &mut (smallest, _), _) = ranked.select_nth_unstable(per_process - 1);
                    let mut equals: Vec<_> = ranked.extract_if(.., |(size, _)| *size == smallest).collect();
                    ranked.retain(|(size, _)| *size < smallest);
                    equals.sort_by_cached_key(|(_, index)| name(order[*index]));
                    equals.truncate(per_process.saturating_sub(ranked.len()));
                    ranked.append(&mut equals);
                }
                ranked.into_iter().for_each(|(_, index)| keep[index] = true);
            }
        }
        count.kept = keep[range].iter().filter(|&&kept| kept).count();
    }
    let mut keep = keep.into_iter();
    order.retain(|_| keep.next().unwrap_or(false));
    counts
}

#[cfg(test)]
mod tests {
    use super::keep_largest;
    use crate::method_total::MethodCount;
    use tracesift_trace::ProcessId;

    fn cut(rows: &[(i32, [i64; 4])], per_process: usize) -> (Vec<u32>, Vec<MethodCount>) {
        let row = |slot: u32| rows[slot as usize];
        let mut order = (0..rows.len() as u32).collect();
        let measures: [&dyn Fn(u32) -> i64; 4] =
            [&|slot| row(slot).1[0], &|slot| row(slot).1[1], &|slot| row(slot).1[2], &|slot| row(slot).1[3]];
        // Names in the other order than the slots.
        let name = std::cmp::Reverse;
        let counts = keep_largest(&mut order, |slot| ProcessId(row(slot).0), &measures, per_process, name);
        (order, counts)
    }

    #[test]
    fn a_method_stays_that_is_large_in_any_measure() {
        let rows = [
            (1, [9, 0, 0, 0]),
            (1, [8, 7, 0, 0]),
            (1, [1, 1, 6, 0]),
            (1, [1, 1, 1, 5]),
            (1, [1, 1, 1, 1]),
            (2, [1, 0, 0, 0]),
        ];
        let (order, counts) = cut(&rows, 1);
        assert_eq!(order, [0, 1, 2, 3, 5]);
        let count = |process, methods, kept| MethodCount { owner: ProcessId(process), methods, kept };
        assert_eq!(counts, [count(1, 5, 4), count(2, 1, 1)]);
    }

    #[test]
    fn the_first_of_equals_by_name_are_kept_and_zeros_not_at_all() {
        let mut rows = vec![(1, [5, 0, 0, 0]); 10];
        rows.push((1, [0, 0, 0, 0]));
        assert_eq!(cut(&rows, 100).1[0].kept, 10);
        assert_eq!(cut(&rows, 3).0, [7, 8, 9]);
        assert_eq!(cut(&rows, 0).0, [0_u32; 0]);
    }
}
