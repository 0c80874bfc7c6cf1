//! What there is in a recording that the patterns of a dimension could let pass.

use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_trace::StackId;

use super::dimension::{self, Names, Of};
use super::stated::Stated;
use super::wanted::Wanted;
use crate::candidates::{self, Candidates};
use crate::recording::OpenRecording;

/// What there is in a recording that the patterns of a dimension could let pass.
pub(super) fn of(
    stated: &Stated,
    recording: &OpenRecording,
    place: usize,
    wanted: &Wanted,
) -> Result<Candidates, Error> {
    let dimension = stated.dimensions[place];
    let Some(filter) = dimension.filter else { return Ok(Candidates::default()) };
    let found = |names: Vec<(String, i64)>, passes: &dyn Fn(&str) -> bool| {
        Candidates::of(filter.option, filter.what, &wanted.to_string(), names, passes)
    };
    let without_figure = |names: Vec<(i64, String)>| names.into_iter().map(|(_, name)| (name, 0)).collect();
    let tally = || (stated.rows.tally)(recording.archive(), place);
    match (dimension.of, wanted) {
        (Of::Number { names: Names::Table(read), .. }, Wanted::Texts(patterns)) => {
            Ok(found(without_figure(read(recording.archive())?), &|name| patterns.matches(name)))
        }
        (Of::Number { names: Names::Rows(read), .. }, Wanted::Texts(patterns)) => {
            let names = read(recording.archive())?.all().collect();
            Ok(found(without_figure(names), &|name| patterns.matches(name)))
        }
        (Of::Number { names: Names::Paths(read), .. }, Wanted::Texts(patterns)) => {
            Ok(found(without_figure(read(recording, None)?), &|name| patterns.matches(name)))
        }
        (Of::Number { names: Names::Words(words), .. }, Wanted::Texts(patterns)) => {
            let numbers = tally()?.numbers;
            let passes = |number: &&i64| {
                let status = dimension::status(**number);
                patterns.matches_any(&[&words(**number), &number.to_string(), status.as_deref().unwrap_or_default()])
            };
            let passing = numbers.keys().filter(passes).count();
            let names = numbers.into_iter().map(|(number, count)| (words(number), count)).collect();
            Ok(Candidates { passing, figure: stated.most, ..found(names, &|_| false) })
        }
        (Of::Text { .. } | Of::Texts, Wanted::Texts(patterns)) => {
            let names = tally()?.into_texts();
            Ok(Candidates { figure: stated.most, ..found(names, &|name| patterns.matches(name)) })
        }
        (_, Wanted::Stacks(numbers)) => {
            let named = recording.named_stacks(Granularity::default())?;
            let is_known = |number: &&i64| {
                i32::try_from(**number).is_ok_and(|number| !named.stacks.stacks().of(StackId(number)).is_empty())
            };
            let passing = numbers.iter().filter(is_known).count();
            Ok(Candidates { passing, ..found(Vec::new(), &|_| false) })
        }
        (_, Wanted::Methods(patterns)) => {
            Ok(candidates::of_methods(recording, filter.option, patterns)?.pop().unwrap_or_default())
        }
        (Of::Process | Of::Thread | Of::Method | Of::Stack | Of::Module | Of::Tag, Wanted::Texts(_)) => {
            Ok(Candidates::default())
        }
    }
}
