//! The kind of core of each CPU, for processors that have several kinds, its package, for machines that have several, and its clock rates.

use std::collections::BTreeMap;

use tracesift_trace::cpu_list;
use tracesift_trace::rows::CpuRow;

use super::cpu_limits::CpuLimits;

/// Kinds of cores of one processor, the most efficient first.
const BY_EFFICIENCY: [&str; 3] = ["cpu_lowpower", "cpu_atom", "cpu_core"];

/// Table `cpus`. `types`: names of kinds, with lists of their CPUs such as `0-15,18`; `packages`: numbers of packages by CPU.
pub(super) fn rows(
    types: &[(String, String)],
    packages: impl Iterator<Item = i32> + Clone,
    limits: &[CpuLimits],
) -> Vec<CpuRow> {
    let mut rows: BTreeMap<i16, CpuRow> = BTreeMap::new();
    for (name, cpus) in types {
        for cpu in cpu_list::numbers(cpus) {
            let row = CpuRow {
                cpu,
                core_type: Some(name.clone()),
                efficiency_class: efficiency_class(name, types),
                ..CpuRow::default()
            };
            rows.entry(cpu).or_insert(row);
        }
    }
    // A CPU that is off has the package −1.
    let mut known = packages.clone().filter(|package| *package >= 0);
    let first = known.next();
    if known.any(|package| Some(package) != first) {
        for (cpu, package) in (0..=i16::MAX).zip(packages).filter(|(_, package)| *package >= 0) {
            rows.entry(cpu).or_insert_with(|| CpuRow { cpu, ..CpuRow::default() }).package = Some(package);
        }
    }
    for of_cpus in limits.iter().filter(|of_cpus| of_cpus.nominal.is_some() || of_cpus.highest.is_some()) {
        for cpu in of_cpus.cpus() {
            let row = rows.entry(cpu).or_insert_with(|| CpuRow { cpu, ..CpuRow::default() });
            (row.nominal_khz, row.max_khz) = (of_cpus.nominal, of_cpus.highest);
        }
    }
    rows.into_values().collect()
}

/// The place of a kind among those that there are; `None` where not all of them are known.
fn efficiency_class(name: &str, types: &[(String, String)]) -> Option<i8> {
    let place = |name: &str| BY_EFFICIENCY.iter().position(|known| *known == name);
    if types.iter().any(|(name, _)| place(name).is_none()) {
        return None;
    }
    let below = BY_EFFICIENCY.iter().take(place(name)?).filter(|known| types.iter().any(|(name, _)| name == **known));
    i8::try_from(below.count()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(types: &[(&str, &str)]) -> Vec<(i16, String, Option<i8>)> {
        let types: Vec<_> = types.iter().map(|(name, cpus)| ((*name).to_owned(), (*cpus).to_owned())).collect();
        let rows = rows(&types, std::iter::empty(), &[]).into_iter();
        rows.map(|row| (row.cpu, row.core_type.unwrap_or_default(), row.efficiency_class)).collect()
    }

    #[test]
    fn classes_are_those_that_are_there() {
        let row = |cpu, name: &str, class| (cpu, name.to_owned(), class);
        assert_eq!(
            of(&[("cpu_core", "0-1,4"), ("cpu_atom", "2,3")]),
            [
                row(0, "cpu_core", Some(1)),
                row(1, "cpu_core", Some(1)),
                row(2, "cpu_atom", Some(0)),
                row(3, "cpu_atom", Some(0)),
                row(4, "cpu_core", Some(1)),
            ]
        );
        assert_eq!(
            of(&[("cpu_core", "0"), ("cpu_atom", "1"), ("cpu_lowpower", "2")]),
            [row(0, "cpu_core", Some(2)), row(1, "cpu_atom", Some(1)), row(2, "cpu_lowpower", Some(0))]
        );
        assert_eq!(of(&[("cpu_core", "0"), ("other", "1")]), [row(0, "cpu_core", None), row(1, "other", None)]);
    }

    #[test]
    fn packages_are_told_apart_where_there_are_several() {
        let of = |packages: &[i32]| {
            let types = [("cpu_core".to_owned(), "1".to_owned())];
            let rows = rows(&types, packages.iter().copied(), &[]).into_iter();
            rows.map(|row| (row.cpu, row.core_type.is_some(), row.package)).collect::<Vec<_>>()
        };
        assert_eq!(of(&[0, 0, -1, 0]), [(1, true, None)]);
        assert_eq!(of(&[0, 3, -1, 0]), [(0, false, Some(0)), (1, true, Some(3)), (3, false, Some(0))]);
    }

    #[test]
    fn lists_that_make_no_sense() {
        for list in ["", ",", "a", "-1", "3-1", "99999", "-", "1-99999", "1--2"] {
            assert_eq!(of(&[("cpu_core", list)]), [], "{list}");
        }
        assert_eq!(of(&[("cpu_core", "0"), ("cpu_atom", "0-1")]).len(), 2, "a CPU is of one kind");
        assert_eq!(of(&[("cpu_core", "0-32767,0-32767")]).len(), 32_768);
    }
}
