//! What counters count, by their names: recorders call the same thing by several names.

/// Instructions that were executed to the end.
pub const INSTRUCTIONS: i8 = 1;
/// Cycles of the core while it was not halted.
pub const CYCLES: i8 = 2;
/// Branches that were executed to the end.
pub const BRANCHES: i8 = 3;
/// Branches that were predicted wrongly.
pub const MISPREDICTS: i8 = 4;
/// Misses of the last cache.
pub const CACHE_MISSES: i8 = 5;
/// Accesses to the last cache.
pub const CACHE_REFERENCES: i8 = 6;

/// Names without case, dashes and underscores. The first ones are those of Windows, the last ones those of Linux.
const NAMES: &[(i8, &[&str])] = &[
    (
        INSTRUCTIONS,
        &["totalissues", "instructionretired", "instructionsretired", "instructionsretiredfixed", "instructions"],
    ),
    (CYCLES, &["totalcycles", "unhaltedcorecycles", "unhaltedcorecyclesfixed", "cycles", "cpucycles"]),
    (BRANCHES, &["branchinstructions", "branchinstructionretired", "branchinstructionsretired", "branches"]),
    (MISPREDICTS, &["branchmispredictions", "branchmispredictsretired", "branchmisses"]),
    (CACHE_MISSES, &["cachemisses", "llcmisses"]),
    (CACHE_REFERENCES, &["llcreference", "llcreferences", "cachereferences"]),
];

/// The role of each of the counters that were read together; `None`: another thing, or what a counter before it counts already.
///
/// `cpu_core/cycles/` and `cpu_atom/cycles/` count on different CPUs, so both have the role.
#[must_use]
pub fn roles<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Option<i8>> {
    let mut taken: Vec<(i8, &str)> = Vec::new();
    let mut role = |name: &'a str| {
        let (unit, role) = role(name)?;
        // A counter without a unit counts on all CPUs.
        let is_taken =
            taken.iter().any(|(known, of)| *known == role && (of.is_empty() || unit.is_empty() || *of == unit));
        if is_taken {
            return None;
        }
        taken.push((role, unit));
        Some(role)
    };
    names.into_iter().map(&mut role).collect()
}

/// The unit that has a counter, and the role of the counter: `cpu_core/cycles/u`, `cycles:u`, `cycles/period=100003/`.
fn role(name: &str) -> Option<(&str, i8)> {
    let (first, rest) = name.split_once('/').unwrap_or((name, ""));
    let known = |text: &str| {
        let plain = text.split([':', ',', '/']).next().unwrap_or_default();
        let letters: String = plain.chars().filter(|letter| !matches!(letter, '-' | '_' | '.')).collect();
        let letters = letters.to_ascii_lowercase();
        NAMES.iter().find(|(_, names)| names.contains(&&*letters)).map(|(role, _)| *role)
    };
    known(first).map(|role| ("", role)).or_else(|| known(rest).map(|role| (first, role)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_has_one_counter_on_each_cpu() {
        let of = |names: &[&str]| roles(names.iter().copied());
        assert_eq!(
            of(&["InstructionRetired", "InstructionsRetiredFixed", "TotalCycles", "LLCMisses", "page-faults"]),
            [Some(INSTRUCTIONS), None, Some(CYCLES), Some(CACHE_MISSES), None]
        );
        assert_eq!(
            of(&["cpu_core/cycles/", "cpu_atom/cycles/u", "cpu_atom/cycles/k", "cycles:u"]),
            [Some(CYCLES), Some(CYCLES), None, None]
        );
        assert_eq!(of(&["branch-misses/period=100003/", "branches", ""]), [Some(MISPREDICTS), Some(BRANCHES), None]);
    }
}
