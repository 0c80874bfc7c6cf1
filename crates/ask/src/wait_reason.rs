//! The reason why a thread left the CPU, in the recorder's words.

use tracesift_etl::payload::wait_reason_name;
use tracesift_trace::rows::ContextSwitchRow;
use tracesift_trace::view;

/// States of Windows threads are small numbers, those of Linux ASCII letters.
const FIRST_LETTER: u8 = b'A';

view! {
    /// The state and the wait reason with which a thread left the CPU.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct StateOfWait of ContextSwitchRow { off_state, wait_reason }
}

/// The wait reason of Windows, or the letter of the Linux state.
pub(crate) fn of(row: impl Into<StateOfWait>) -> Option<String> {
    let row = row.into();
    let number = |value: i8| u8::try_from(value).ok();
    if let Some(state) = row.off_state.and_then(number).filter(|state| *state >= FIRST_LETTER) {
        return Some(char::from(state).to_string());
    }
    row.wait_reason
        .and_then(number)
        .map(|reason| wait_reason_name(reason).map_or_else(|| format!("reason {reason}"), str::to_owned))
}
