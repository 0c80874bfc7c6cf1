//! Texts of a row of the table `events`, which keep their memory from one row to the next.

use std::fmt::Write as _;

use tracesift_etl::schema::write_hex;

/// Writes into the text that is there already.
pub(crate) fn set_text(text: &mut Option<String>, value: Option<impl std::fmt::Display>) {
    let Some(value) = value else {
        *text = None;
        return;
    };
    let text = text.get_or_insert_default();
    text.clear();
    let _ = write!(text, "{value}");
}

/// Writes bytes into the text that is there already.
pub(crate) fn set_raw(text: &mut Option<String>, bytes: &[u8]) {
    if bytes.is_empty() {
        *text = None;
        return;
    }
    let text = text.get_or_insert_default();
    text.clear();
    let _ = write_hex(text, bytes);
}
