//! What looks at `/proc` tell of descriptors.

use tracesift_trace::RowSink;
use tracesift_trace::descriptors::Seen;
use tracesift_trace::file_names::PathId;
use tracesift_trace::handles::End;

use super::super::object::Object;
use super::{DescriptorLives, Directory, Life, unrecorded, unseen};
use crate::perf::second_pass::rows::Rows;
use crate::recorder_facts::ProcessDescriptors;

impl DescriptorLives {
    /// Applies the looks up to a time.
    #[inline]
    pub(crate) fn looks_until<Sink: RowSink>(&mut self, ticks: i64, rows: &mut Rows<'_, Sink>) {
        while let Some(look) = self.looks.pop_front_if(|look| look.to <= ticks) {
            self.look(&look, rows);
        }
    }

    fn look<Sink: RowSink>(&mut self, look: &ProcessDescriptors, rows: &mut Rows<'_, Sink>) {
        let time = self.latest.unwrap_or(i64::MAX).min(rows.clock.ns(look.to));
        self.ends_until(time, rows);
        // A process of which nothing is recorded has no rows.
        let Some(process) = rows.population.known_process_at(look.pid, look.to) else { return };
        if self.ended.contains(&process) {
            return;
        }
        let is_complete = self.open.is_complete(process);
        for (number, target) in &look.open {
            let what = self.of_link(target);
            let goes = look.close_on_exec.binary_search(number).is_ok();
            let losses = self.losses;
            let life = match self.open.seen(process, *number, look.from) {
                Seen::Life(life) => life,
                Seen::Changed => continue,
                Seen::New { closed } => {
                    let life = if closed || is_complete { unrecorded(time) } else { unseen(process, rows) };
                    self.open.set(process, *number, goes, Life { what, losses, ..life }, look.from);
                    continue;
                }
            };
            let name = |id: Option<PathId>| id.map(|id| self.paths.name(id));
            let before = life.what;
            let is_same = name(before.object)
                .is_none_or(|kind| Object::of_link(target).can_be(kind, name(before.name), before.of_link));
            if is_same {
                life.what = if life.losses == losses { before.or(what) } else { what };
                life.losses = losses;
                continue;
            }
            // It was closed, and the number was used for something else, without calls that are recorded.
            let life = Life { what, losses, ..unrecorded(time) };
            let before = self.open.set(process, *number, goes, life, look.from);
            self.replaced += 1;
            self.put_all(process, before.map(|life| (*number, life)), (time, End::Lost), rows);
        }
        let numbers: Vec<i32> = look.open.iter().map(|(number, _)| *number).collect();
        let closed = self.open.only(process, &numbers, look.from);
        self.replaced += i64::try_from(closed.len()).unwrap_or(i64::MAX);
        self.put_all(process, closed, (time, End::Lost), rows);
        if self.directories.get(&process).is_none_or(|directory| directory.since < look.from)
            && let Some(directory) = &look.directory
        {
            let path = self.paths.id(directory);
            self.directories.insert(process, Directory { since: look.from, path });
        }
    }
}
