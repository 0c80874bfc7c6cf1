//! Members of a zip file, `.diagsession` included.

use std::borrow::Cow;
use std::io::{BufReader, Read, Seek};

use zip::result::ZipError;
use zip::{SUPPORTED_COMPRESSION_METHODS, ZipArchive};

use super::names::Want;
use super::run::Run;
use crate::input::error::InputError;

pub(super) fn unpack(source: impl Read + Seek, run: &mut Run<'_>) -> Result<(), InputError> {
    let mut archive = ZipArchive::new(BufReader::new(source)).map_err(|error| explain(run, None, error))?;
    let mut names = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index).map_err(|error| explain(run, None, error))?;
        // A name that is not in the encoding it claims is still a name.
        let name = entry.name().unwrap_or_else(|_| String::from_utf8_lossy(entry.name_raw()).into_owned().into());
        names.push(Cow::into_owned(name));
    }
    let plan = run.plan(names.iter().map(String::as_str))?;
    for (index, name) in names.iter().enumerate() {
        let want = plan.want(name);
        let entry = archive.by_index_data(index).map_err(|error| explain(run, Some(name), error))?;
        if want == Want::Nothing || entry.is_dir() || entry.is_symlink() {
            continue;
        }
        if entry.encrypted() {
            return Err(run.encrypted(Some(name)));
        }
        // Otherwise the first read fails, and looks like damage.
        if !SUPPORTED_COMPRESSION_METHODS.contains(&entry.compression()) {
            return Err(run.unknown_method(Some(name), entry.compression()));
        }
        let mut member = archive.by_index(index).map_err(|error| explain(run, Some(name), error))?;
        let size = member.size();
        run.take(want, name, size, &mut member)?;
    }
    Ok(())
}

fn explain(run: &Run<'_>, name: Option<&str>, error: ZipError) -> InputError {
    match error {
        ZipError::Io(error) => run.failed(name, error),
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword => run.encrypted(name),
        ZipError::UnsupportedArchive(method) => run.unknown_method(name, method),
        error => run.damaged(name, error),
    }
}
