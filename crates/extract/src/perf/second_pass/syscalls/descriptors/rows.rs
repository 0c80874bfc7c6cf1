//! Rows of descriptors whose life ends.

use tracesift_trace::file_names::PathId;
use tracesift_trace::handles::End;
use tracesift_trace::rows::{FileRow, HandleRow, handle_kinds};
use tracesift_trace::{HealthKind, ProcessId, RowSink};

use super::{DescriptorLives, Life};
use crate::perf::second_pass::rows::Rows;

impl DescriptorLives {
    /// Processes that ended up to a time close what they have.
    pub(super) fn ends_until<Sink: RowSink>(&mut self, time: i64, rows: &mut Rows<'_, Sink>) {
        let ends = self.ends.get_or_insert_with(|| {
            let ends = rows.population.processes().filter_map(|row| Some((row.end?, row.process)));
            let mut ends: Vec<(i64, ProcessId)> = ends.collect();
            ends.sort_unstable();
            ends.into()
        });
        let mut ended = Vec::new();
        while let Some(end) = ends.pop_front_if(|(end, _)| *end <= time) {
            ended.push(end);
        }
        for (end, process) in ended {
            let lives = self.open.end(process);
            self.put_all(process, lives, (end, End::Exit), rows);
            self.directories.remove(&process);
            self.ended.insert(process);
        }
    }

    /// Writes the rows of descriptors that end.
    pub(super) fn put_all<Sink: RowSink>(
        &mut self,
        owner: ProcessId,
        lives: impl IntoIterator<Item = (i32, Life)>,
        (time, end): (i64, End),
        rows: &mut Rows<'_, Sink>,
    ) {
        if !self.have_rows {
            return;
        }
        let (close_thread, close_stack) = match end {
            End::Closed(thread, stack) | End::Moved(thread, stack) => (thread, stack),
            End::Exit | End::Lost | End::Open => (None, None),
        };
        for (number, life) in lives {
            let mut row = std::mem::take(&mut self.row);
            let [object_type, name] = [(&mut row.object_type, life.what.object), (&mut row.name, life.what.name)]
                .map(|(text, id)| self.text_of(text.take(), id));
            row = HandleRow {
                time: time.max(life.start),
                start: life.start,
                process: life.maker.process,
                thread: life.maker.thread,
                stack: life.maker.stack,
                owner,
                kind: handle_kinds::DESCRIPTOR,
                handle: number.into(),
                object: None,
                object_type,
                name,
                made_by: life.made_by,
                source_process: life.source.process,
                source_handle: life.source.handle.map(u64::cast_signed),
                close_thread,
                close_stack,
                by_exit: Some(end == End::Exit),
                open: Some(end == End::Open),
            };
            rows.sink.handle(&row);
            self.row = row;
        }
    }

    fn text_of(&self, text: Option<String>, id: Option<PathId>) -> Option<String> {
        let mut text = text.unwrap_or_default();
        text.clear();
        text.push_str(self.paths.name(id?));
        Some(text)
    }

    /// The end of the recording, in ns: what is open, and the files that rows name.
    pub(in super::super) fn finish<Sink: RowSink>(&mut self, end: i64, rows: &mut Rows<'_, Sink>) -> Vec<FileRow> {
        self.latest = Some(end);
        self.looks_until(i64::MAX, rows);
        if self.ends.is_some() {
            self.ends_until(end, rows);
        }
        let mut open: Vec<(ProcessId, i32, Life)> = self.open.finish().collect();
        open.sort_unstable_by_key(|(process, number, life)| (life.start, *process, *number));
        for (process, number, life) in open {
            self.put_all(process, [(number, life)], (end, End::Open), rows);
        }
        let lost = self.replaced.saturating_add(i64::try_from(self.open.left_out()).unwrap_or(i64::MAX));
        rows.health.add(HealthKind::HANDLES_WITHOUT_END, lost, None, || format!("{} descriptors", self.replaced));
        let (files, left_out) = self.paths.finish();
        rows.health.add(HealthKind::FILE_NAMES_OVER_BUDGET, left_out, None, || "names of descriptors".to_owned());
        files
    }
}
