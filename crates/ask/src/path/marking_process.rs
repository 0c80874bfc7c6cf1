//! The process that wrote the marks of a recording: what was tested, where no recorder started a program.

use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::MarkRow;
use tracesift_trace::{ProcessId, view};

view! {
    /// Who wrote a mark.
    #[derive(Clone, Copy, Debug)]
    struct WrittenMark of MarkRow { process }
}

/// The process that wrote all marks of an archive, if they are two or more.
///
/// A test marks its start and its end. A tool that sets marks for others, such as `wpr -marker`, is a new process for each mark.
///
/// # Errors
/// When the table cannot be read.
pub(super) fn marking_process(archive: &Archive) -> Result<Option<ProcessId>, Error> {
    let mut writers: Vec<Option<ProcessId>> = Vec::new();
    archive.scan(None, |row: &WrittenMark| writers.push(row.process))?;
    Ok(only_writer(&writers))
}

fn only_writer(writers: &[Option<ProcessId>]) -> Option<ProcessId> {
    let (first, others) = writers.split_first()?;
    first.filter(|_| !others.is_empty() && others.iter().all(|other| other == first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_that_wrote_several_marks_is_tested() {
        for (writers, expected) in [
            (&[][..], None),
            (&[Some(1)], None),
            (&[Some(1), Some(1)], Some(1)),
            (&[Some(1), Some(1), Some(2)], None),
            (&[Some(1), None], None),
            (&[None, None], None),
        ] {
            let writers: Vec<_> = writers.iter().map(|id: &Option<i32>| id.map(ProcessId)).collect();
            assert_eq!(only_writer(&writers), expected.map(ProcessId), "{writers:?}");
        }
    }
}
