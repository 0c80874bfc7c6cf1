//! The lanes of stack tags: samples by the tag of their stack.

use tracesift_analysis::tags::{TagId, TagSource, Tagger};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_trace::rows::CpuSampleRow;
use tracesift_trace::view;

use super::Measure;
use super::lanes::{Asked, Collected};

view! {
    /// A sample, and its stack.
    #[derive(Clone, Copy, Debug)]
    struct Sample of CpuSampleRow { time, process, weight, stack }
}

/// Adds the samples to the lanes of their tags. Gives the names of the tags by lane.
pub(super) fn add_samples(asked: &Asked<'_>, lanes: &mut Collected) -> Result<Vec<String>, Error> {
    let Some(set) = &asked.question.tags else { return Ok(Vec::new()) };
    let named = asked.recording.named_stacks(Granularity::default())?;
    let mut tags = TagSource::new(&named.stacks, Tagger::new(set, &named.names));
    let mut names: Vec<String> = Vec::new();
    let mut lane_of: Vec<Option<i32>> = Vec::new();
    let range = lanes.grid.range();
    let time = (!asked.question.time.is_everything()).then_some(range.start..range.end);
    asked.recording.archive().scan(time, |row: &Sample| {
        if !asked.accepted.contains(&row.process) || !lanes.has_room() {
            return;
        }
        let tag = row.stack.map_or(TagId::NO_STACK, |stack| tags.tag(stack));
        let place = tag.0 as usize;
        if place >= lane_of.len() {
            lane_of.resize(place + 1, None);
        }
        let lane = *lane_of[place].get_or_insert_with(|| {
            names.push(tags.tagger().name(tag).to_owned());
            i32::try_from(names.len() - 1).unwrap_or(i32::MAX)
        });
        lanes.add_at(lane, row.time, if asked.measure == Measure::Cpu { row.weight } else { 1 });
    })?;
    Ok(names)
}
