//! Files of stack tags that the user names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracesift_analysis::tags::{BUILT_IN, Nesting, TagFile, TagSet};

use crate::usage_error::UsageError;

/// What stands for our own file.
const OWN: &str = "builtin";
/// More than any tool would write.
const LARGEST: u64 = 64 << 20;

/// The rules of these files, or of our own without any. `warn` takes what is wrong in the files and does no harm.
///
/// # Errors
/// When a file cannot be read, or is no file of stack tags.
pub fn load(files: &[PathBuf], nested: bool, warn: &mut dyn FnMut(&str)) -> Result<Arc<TagSet>, UsageError> {
    let nesting = if nested { Nesting::Children } else { Nesting::Names };
    let own = [PathBuf::from(OWN)];
    let mut read: Vec<(String, Vec<u8>)> = Vec::new();
    for file in if files.is_empty() { &own } else { files } {
        let content = if file == Path::new(OWN) { BUILT_IN.as_bytes().to_vec() } else { content_of(file)? };
        read.push((file.display().to_string(), content));
    }
    let files: Vec<TagFile<'_>> = read.iter().map(|(name, content)| TagFile { name, content }).collect();
    let set = TagSet::read(&files, nesting).map_err(|error| UsageError { message: error.to_string(), hint: None })?;
    for warning in set.warnings() {
        warn(&format!("{}:{}:{}: {}", warning.file, warning.line, warning.column, warning.text));
    }
    Ok(Arc::new(set))
}

fn content_of(file: &Path) -> Result<Vec<u8>, UsageError> {
    let cannot = |why: &str| {
        UsageError::new(format!("{}: {why}", file.display()), "--tag-file takes a .stacktags file, or `builtin`")
    };
    match std::fs::metadata(file) {
        Ok(facts) if !facts.is_file() => Err(cannot("is no file")),
        Ok(facts) if facts.len() > LARGEST => Err(cannot("is too large")),
        Ok(_) => std::fs::read(file).map_err(|error| cannot(&error.to_string())),
        Err(error) => Err(cannot(&error.to_string())),
    }
}
