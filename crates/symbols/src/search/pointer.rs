//! Pointers of stores: a `file.ptr` says where the file lies.

use std::path::Path;

use super::below::{Below, is_network, strip_prefix_ignoring_case};
use super::wanted::shown_name;

/// Where the text of a `file.ptr` leads below its own store.
pub(super) fn pointed_at(text: &str, root: &Path) -> Result<Below, String> {
    let text = text.trim();
    if let Some(message) = strip_prefix_ignoring_case(text, "MSG:") {
        return Err(format!("says {:?}", shown_name(message.trim())));
    }
    let path = strip_prefix_ignoring_case(text, "PATH:").unwrap_or(text).trim();
    if is_network(path) {
        return Err(format!("points to {:?}, a path of the network, which is never opened", shown_name(path)));
    }
    let root = root.display().to_string().replace('\\', "/");
    let slashed = path.replace('\\', "/");
    let below = match cfg!(windows) {
        true => strip_prefix_ignoring_case(&slashed, root.trim_end_matches('/')),
        false => slashed.strip_prefix(root.trim_end_matches('/')),
    };
    let parts = below.and_then(|below| below.strip_prefix('/')).map(|below| below.split('/'));
    parts
        .and_then(Below::of_parts)
        .ok_or_else(|| format!("points to {:?}, which is not below the same store", shown_name(path)))
}
