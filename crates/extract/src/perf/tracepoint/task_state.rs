//! States in which threads leave the CPU, as `sched_switch` has them. Their bits depend on the kernel; the format that the
//! recording brings names them with the letters of `ps`.

use tracesift_trace::switches::Leave;

/// The bits with their letters, from the format of the event.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskStates {
    letters: Vec<(u64, u8)>,
}

/// Letters that are kept; kernels have about ten.
const MAX_LETTERS: usize = 64;

impl TaskStates {
    /// Reads pairs such as `{ 0x0001, "S" }`.
    pub(crate) fn of(print_format: &str) -> Self {
        let pair = |text: &str| {
            let (bit, rest) = text.split_once(',')?;
            let letter = rest.trim_start().strip_prefix('"')?.split('"').next()?;
            let bit = bit.trim();
            let bit = bit.strip_prefix("0x").map_or_else(|| bit.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok());
            let [letter] = letter.as_bytes() else { return None };
            Some((bit.filter(|bit: &u64| *bit != 0)?, *letter))
        };
        Self { letters: print_format.split('{').skip(1).filter_map(pair).take(MAX_LETTERS).collect() }
    }

    /// The letter of a state, `R` for one that has none: the thread could have run on.
    pub(crate) fn letter(&self, state: i64) -> u8 {
        let state = state.cast_unsigned();
        self.letters.iter().find(|(bit, _)| state & bit != 0).map_or(b'R', |(_, letter)| *letter)
    }

    /// How a thread leaves in the state of this letter.
    pub(crate) fn leave(letter: u8) -> Leave {
        match letter {
            b'R' => Leave::Runnable,
            b'X' | b'Z' | b'x' => Leave::Ended,
            _ => Leave::Blocked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_from_the_kernels_own_format() {
        let today = r#"(REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, "|", { 0x0001, "S" }, { 0x0002, "D" },
            { 0x0010, "X" }, { 0x0020, "Z" }, { 0x0080, "I" }) : "R", REC->prev_state & 0x100 ? "+" : """#;
        let states = TaskStates::of(today);
        let letters = [0, 1, 2, 0x10, 0x20, 0x80, 0x100].map(|state| states.letter(state) as char);
        assert_eq!(letters, ['R', 'S', 'D', 'X', 'Z', 'I', 'R']);
        // Until Linux 4.13 the dead and the zombie had each other's bits.
        let before = r#"__print_flags(REC->prev_state & (1024-1), "|", { 1, "S"} , { 2, "D" }, { 16, "Z" }, { 32, "X" }, { 64, "x" })"#;
        let states = TaskStates::of(before);
        assert_eq!([16, 32, 64, 1024].map(|state| states.letter(state) as char), ['Z', 'X', 'x', 'R']);
        assert_eq!([b'R', b'D', b'Z'].map(TaskStates::leave), [Leave::Runnable, Leave::Blocked, Leave::Ended]);
    }
}
