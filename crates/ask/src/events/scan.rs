//! Walks a recording and hands out the events that pass the filter.

use std::io;
use std::ops::ControlFlow;

use tracesift_extract::{Files, survey, survey_linux};

use super::EventFilter;
use super::line::{EventLine, Scanned};
use super::scan_etl::scan_etl;
use super::scan_linux::scan_linux;

/// Hands the events that pass to `visit`, in order of time, until it breaks off. Stacks are not known yet while a recording is
/// walked: the filter's choice by stack is left out here.
///
/// # Errors
/// None that a recording can cause.
pub fn scan(
    files: &Files,
    filter: &EventFilter,
    visit: &mut dyn FnMut(&EventLine<'_>) -> ControlFlow<()>,
) -> io::Result<Scanned> {
    Ok(match files {
        Files::Etl(files) => scan_etl(files, &mut survey(files), filter, visit),
        Files::Perf(file) => scan_linux(file, &survey_linux(file), filter, visit),
    })
}
