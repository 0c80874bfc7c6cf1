//! `dump handles`: which handles are open at the end, and which processes and functions make handles that nobody closes.

use std::ops::Range;

use tracesift_archive::{Archive, Error};
use tracesift_export::{Measure as Exported, Unit};
use tracesift_trace::rows::{HandleRow, handle_kinds, handle_origins};
use tracesift_trace::{ProcessId, view};

use crate::answer::{ColumnOf, Kind};
use crate::question::exit_stacks::ExitStacks;
use crate::recording_label::RowSource;
use crate::table_question::{
    self, Condition, Dimension, Exited, Imported, Limit, Measure, Needed, StackFigure, TableQuestion,
};

view! {
    /// A life of a handle.
    #[derive(Clone, Debug)]
    pub struct Handle of HandleRow {
        time, start, stack, owner, kind, handle, object, object_type, name, made_by, close_stack, by_exit, open,
    }
}

/// Lives of handles.
#[derive(Clone, Copy, Debug)]
pub struct Handles;

/// What is asked.
pub type Question = table_question::Question<Handles>;

/// The options.
pub type Options = table_question::Options<Handles>;

/// The figures of handles.
pub(super) const MEASURES: &[Measure<Handle>] = &[
    Measure::alive_first("open_first", "Open first", is_older)
        .meaning("Handles that are open when the time range begins.")
        .sorted(&["open-first"]),
    Measure::begun("made", "Made", is_older)
        .meaning("Handles that were made in the time range.")
        .sorted(&["made"])
        .total("handles made"),
    Measure::over("closed", "Closed", is_open)
        .meaning("Handles that ended in the time range: they were closed, or their process ended.")
        .sorted(&["closed"]),
    Measure::difference("diff", "Diff", Kind::Count, ["made", "closed"])
        .meaning("Handles made less handles closed: `open_last` less `open_first`.")
        .sorted(&["diff", "growth"])
        .limited(
            ["--min-diff", "--max-diff"],
            ["Only rows that grew by so many handles", "Only rows that did not grow by more handles"],
        ),
    Measure::alive_last("open_last", "Open last", is_open)
        .meaning("Handles that are open when the time range ends.")
        .sorted(&["open", "open-last"])
        .total("handles open at the end"),
    Measure::peak("peak", "Peak", is_open)
        .meaning("The largest number of handles that are open at once.")
        .sorted(&["peak"])
        .limited(
            ["--min-peak", "--max-peak"],
            ["Only rows with so many handles open at once", "Only rows with no more handles open at once"],
        ),
    Measure::tenths("growing_tenths", "Regular", is_open, |_| 1)
        .meaning("How regular the growth is: tenths of the time range in which the number of open handles grew. Empty: the range is shorter than 10 ns.")
        .sorted(&["regularity", "regular"])
        .details(),
    Measure::begun("leaked", "Leaked", is_no_leak)
        .meaning("Handles that were made in the time range and are open at the end of the recording.")
        .sorted(&["leaked", "leak"])
        .total("of them not closed"),
    Measure::rows_if("by_exit", "By exit", |row: &Handle| row.by_exit == Some(true))
        .meaning("Handles that the end of their process closed, in the time range or later.")
        .sorted(&["by-exit"])
        .details(),
];

/// The dimensions of handles of all kinds.
macro_rules! dimensions {
    ($($more:expr,)*) => {
        &[
            Dimension::process(),
            Dimension::text("type", "Type", |row: &Handle| row.object_type.as_deref())
                .meaning("Type of the object: `File`, `Event`, `Window`, `Bitmap`, …; `type N` where the recording does not name it. On Linux `file`, `socket`, `pipe`, `eventfd`, `anon_inode:timerfd`, ….")
                .filtered("--type", ["type", "types"], "Only handles of these types: File, Event, Bitmap"),
            Dimension::method(|row: &Handle| (row.stack, None))
                .meaning("Function that made the handle: the leaf of its stack."),
            Dimension::tag(|row: &Handle| row.stack).coarse(),
            Dimension::stack(|row: &Handle| row.stack).coarse().meaning("The functions of the stack that made the handle."),
            $($more,)*
            Dimension::words("made_by", "Made by", |row: &Handle| Some(i64::from(row.made_by)), made_by)
                .meaning("How the handle came to be: `created` (or opened), `duplicated`, `there` before the recording, `inherited`, `taken over` from another process.")
                .filtered("--made-by", ["origin", "origins"], "Only handles that came to be in these ways: created, duplicated, there, inherited"),
            Dimension::words("handle", "Handle", |row: &Handle| Some(row.handle), hexadecimal)
                .meaning("Value of the handle.")
                .filtered("--handle", ["handle", "handles"], "Only handles with these values: 0x1a4"),
        ]
    };
}
pub(super) use dimensions;

/// A handle that the end of its process closed, as if it were open.
pub(super) const EXITED: Option<Exited<Handle>> = Some(Exited {
    row: |row| (row.by_exit == Some(true)).then(|| Handle { open: Some(true), ..row.clone() }),
    help: "Handles that the end of their process closed count as open, and as leaks",
});

/// The rules that keep single handles.
pub(super) const CONDITIONS: &[Condition<Handle>] = &[Condition {
    option: "--leak",
    holds: |row| !is_no_leak(row),
    help: "Only handles that were made in the recording and are open at its end",
}];

/// Limits of the time between creation and close.
pub(super) const LIMITS: &[Limit<Handle>] = &[Limit::time(
    ["--min-duration", "--max-duration"],
    |row| Some(row.time.saturating_sub(row.start)),
    ["Only handles that were open so long (ms without unit)", "Only handles that were not open longer"],
)];

/// The columns of single handles.
pub(super) const LIST: &[ColumnOf<Handle>] = &[
    ColumnOf::always(
        "open",
        "Open",
        Kind::Bool,
        |row| row.open.into(),
        "Whether the handle is open at the end of the recording.",
    ),
    ColumnOf::details(
        "closed_by_exit",
        "Closed by exit",
        Kind::Bool,
        |row| row.by_exit.into(),
        "Whether the end of the process closed it.",
    ),
];

impl TableQuestion for Handles {
    type Row = Handle;

    const NAME: &'static str = "handles";
    const WHAT: [&'static str; 2] = ["handle", "handles"];
    const SOURCE: RowSource = RowSource::both("Handle", "Handle");
    const MOST: &'static str = "most handles";
    const DIMENSIONS: &'static [Dimension<Handle>] = dimensions![
        Dimension::words("kind", "Kind", |row: &Handle| Some(i64::from(row.kind)), kind)
            .meaning("`kernel` object, `user` (window manager), `gdi` or file `descriptor`.")
            .coarse()
            .filtered("--kind", ["kind", "kinds"], "Only handles of these kinds: kernel, user, gdi, descriptor"),
        Dimension::text("name", "Name", |row: &Handle| row.name.as_deref())
            .meaning("Name of the object, where the recording has it.")
            .filtered("--name", ["name", "names"], "Only handles of objects with these names"),
        Dimension::words("object", "Object", |row: &Handle| row.object, hexadecimal)
            .meaning("Address of the object.")
            .filtered("--object", ["object", "objects"], "Only handles of the objects at these addresses"),
    ];
    const STACKS: &'static [StackFigure] = &[StackFigure {
        column: "open_last",
        measure: Exported { key: "handles", label: "Open handles", unit: Unit::Count, counted: "handles" },
        help: "Handles that are open when the time range ends",
    }];
    const MEASURES: &'static [Measure<Handle>] = MEASURES;
    const LIMITS: &'static [Limit<Handle>] = LIMITS;
    const EXITED: Option<Exited<Handle>> = EXITED;
    const CONDITIONS: &'static [Condition<Handle>] = CONDITIONS;
    const LIST: &'static [ColumnOf<Handle>] = LIST;
    const BY: &'static [&'static str] = &["process", "type"];
    const SORT: &'static str = "open";
    const IMPORTED: Imported = Imported::Rows;
    const GROWS: bool = true;
    const SHORT: &'static [&'static str] = &["process", "time", "top", "type", "by", "leak", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump handles X.sift --top 10", "the processes and types with most open handles"),
        ("tracesift dump handles X.sift --leak --by process,type,method", "the functions whose handles nobody closed"),
        ("tracesift dump handles X.sift --sort diff --time 10s..60s", "the types that grew in this time"),
        ("tracesift dump handles X.sift -p app.exe --type file --by name", "the names of open files"),
        ("tracesift dump handles X.sift --by type --list --min-duration 10s", "single handles that were open long"),
    ];

    fn process(row: &Handle) -> Option<ProcessId> {
        Some(row.owner)
    }

    fn times(row: &Handle) -> (i64, i64) {
        (row.start, row.time)
    }

    fn scan(
        archive: &Archive,
        time: Option<Range<i64>>,
        _: Needed<Handle>,
        visit: impl FnMut(&Handle),
    ) -> Result<(), Error> {
        scan(archive, time, visit)
    }
}

/// Reads handles. The stack of a close tells that the end of the process closed the handle, where its frames have names.
pub(super) fn scan(archive: &Archive, time: Option<Range<i64>>, mut visit: impl FnMut(&Handle)) -> Result<(), Error> {
    let stacks = ExitStacks::of(archive)?;
    archive.scan(time, |row: &Handle| {
        if row.by_exit != Some(true) && stacks.has(row.close_stack) {
            visit(&Handle { by_exit: Some(true), ..row.clone() });
        } else {
            visit(row);
        }
    })
}

fn is_older(row: &Handle) -> bool {
    row.made_by == handle_origins::THERE
}

fn is_open(row: &Handle) -> bool {
    row.open == Some(true)
}

fn is_no_leak(row: &Handle) -> bool {
    is_older(row) || !is_open(row)
}

pub(super) fn made_by(number: i64) -> String {
    let word = match i8::try_from(number).unwrap_or(-1) {
        handle_origins::CREATED => "created",
        handle_origins::DUPLICATED => "duplicated",
        handle_origins::THERE => "there",
        handle_origins::INHERITED => "inherited",
        handle_origins::CHANGED_OWNER => "taken over",
        _ => return number.to_string(),
    };
    word.to_owned()
}

pub(super) fn kind(number: i64) -> String {
    let word = match i8::try_from(number).unwrap_or(-1) {
        handle_kinds::KERNEL => "kernel",
        handle_kinds::USER => "user",
        handle_kinds::GDI => "gdi",
        handle_kinds::DESCRIPTOR => "descriptor",
        _ => return number.to_string(),
    };
    word.to_owned()
}

pub(super) fn hexadecimal(number: i64) -> String {
    format!("{number:#x}")
}

#[cfg(test)]
mod tests {
    use tracesift_scenario::PointerSize;
    use tracesift_scenario::handles::{Ends, LEAKER, SECONDS, story};
    use tracesift_testing::recording::Recording;

    use super::Question;
    use crate::answer::{Answer, Value};
    use crate::ask::{When, ask};
    use crate::recording::Source;

    fn answer(question: &Question, size: PointerSize) -> Answer {
        let extracted = Recording::of("handles.etl", &story().write(size).expect("a recording")).extract();
        let source = Source::archive(extracted.report.archive.clone());
        ask(&[source], question, &When::default()).answer
    }

    fn figure(answer: &Answer, process: &str, object_type: &str, key: &str) -> i64 {
        let place = |key: &str| answer.columns.iter().position(|column| column.key == key).expect("a column");
        let text = |row: &[Value], key: &str| match &row[place(key)] {
            Value::Text(text) => text.to_string(),
            _ => String::new(),
        };
        let is_it = |row: &&Vec<Value>| text(row, "process") == process && text(row, "type") == object_type;
        let row = answer.rows().find(is_it).unwrap_or_else(|| panic!("no row of {process}, {object_type}"));
        match row[place(key)] {
            Value::Int(number) => number,
            ref other => panic!("{key} is {other:?}"),
        }
    }

    /// The figures from the lives of the story, one after the other.
    #[test]
    fn a_leaking_process_has_its_open_handles() {
        for size in [PointerSize::Four, PointerSize::Eight] {
            let answer = answer(&Question::default(), size);
            let story = story();
            let events: Vec<_> =
                story.kernel.iter().filter(|handle| handle.owner == LEAKER && handle.object_type == 16).collect();
            let end = SECONDS * 1_000_000_000;
            let span = |ends| match ends {
                Ends::Closed(time, _) | Ends::Exit(time) => time,
                Ends::Open => end,
            };
            let alive = |time: i64| events.iter().filter(|life| life.start <= time && time < span(life.ends)).count();
            let peak = events.iter().map(|life| alive(life.start)).max().expect("handles");
            let open = events.iter().filter(|life| life.ends == Ends::Open).count();
            let is = |key: &str, expected: usize| {
                assert_eq!(figure(&answer, "leaker.exe", "Event", key), expected as i64, "{key}");
            };
            is("made", 100);
            is("closed", 60);
            is("open_last", open);
            is("leaked", open);
            is("diff", 40);
            is("peak", peak);
            is("open_first", 0);
            // Two that were there: one is closed.
            assert_eq!(figure(&answer, "leaker.exe", "File", "open_first"), 2);
            assert_eq!(figure(&answer, "leaker.exe", "File", "open_last"), 2);
            assert_eq!(figure(&answer, "leaker.exe", "File", "made"), 1);
            assert_eq!(figure(&answer, "leaker.exe", "File", "leaked"), 1);
            // Two inherited and a duplicated one; the process ends.
            assert_eq!(figure(&answer, "child.exe", "File", "made"), 3);
            assert_eq!(figure(&answer, "child.exe", "File", "closed"), 3);
            assert_eq!(figure(&answer, "child.exe", "Section", "by_exit"), 1);
            assert_eq!(figure(&answer, "painter.exe", "Bitmap", "closed"), 12);
        }
    }
}
