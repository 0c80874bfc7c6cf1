//! `dump gdi`: which windows, menus, fonts and bitmaps are made and not freed.

use tracesift_trace::ProcessId;
use tracesift_trace::rows::handle_kinds;

use super::handles::{CONDITIONS, Handle, LIMITS, LIST, MEASURES, dimensions, hexadecimal, kind, made_by};
use crate::answer::ColumnOf;
use crate::recording_label::RowSource;
use crate::table_question::{self, Condition, Dimension, Limit, Measure, TableQuestion};

/// Lives of handles of the window manager and of GDI.
#[derive(Clone, Copy, Debug)]
pub struct Gdi;

/// What is asked.
pub type Question = table_question::Question<Gdi>;

/// The options.
pub type Options = table_question::Options<Gdi>;

impl TableQuestion for Gdi {
    type Row = Handle;

    const NAME: &'static str = "gdi";
    const WHAT: [&'static str; 2] =
        ["handle of GDI or of the window manager", "handles of GDI and of the window manager"];
    const SOURCE: RowSource = RowSource::windows("UserGDILeaks");
    const MOST: &'static str = "most handles";
    const DIMENSIONS: &'static [Dimension<Handle>] = dimensions![
        Dimension::words("kind", "Kind", |row: &Handle| Some(i64::from(row.kind)), kind)
            .meaning("`user` (windows, menus, hooks) or `gdi` (fonts, brushes, bitmaps). A process can have 10,000 handles of each.")
            .filtered("--kind", ["kind", "kinds"], "Only handles of these kinds: user, gdi"),
    ];
    const MEASURES: &'static [Measure<Handle>] = MEASURES;
    const LIMITS: &'static [Limit<Handle>] = LIMITS;
    const CONDITIONS: &'static [Condition<Handle>] = CONDITIONS;
    const LIST: &'static [ColumnOf<Handle>] = LIST;
    const BY: &'static [&'static str] = &["process", "type"];
    const SORT: &'static str = "diff";
    const GROWS: bool = true;
    const SHORT: &'static [&'static str] = &["process", "time", "top", "type", "by", "leak", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump gdi X.sift --top 10", "the processes and types that grew most"),
        (
            "tracesift dump gdi X.sift --by process,kind --min-peak 8000",
            "the processes near the limit of 10,000 handles",
        ),
        ("tracesift dump gdi X.sift --leak --by type,method", "the functions whose handles nobody freed"),
    ];

    fn process(row: &Handle) -> Option<ProcessId> {
        Some(row.owner)
    }

    fn times(row: &Handle) -> (i64, i64) {
        (row.start, row.time)
    }

    fn is_asked(row: &Handle) -> bool {
        matches!(row.kind, handle_kinds::USER | handle_kinds::GDI)
    }
}
