//! Stacks of which an extract has the names of the functions alone.

use serde::Deserialize;
use tracesift_trace::rows::StackRow;
use tracesift_trace::{FrameId, StackId};

use super::code::NamedCode;
use crate::bounded::List;
use crate::limits::STACKS;
use crate::values::Integer;

/// Stacks to which events refer by place.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct StackList {
    /// A text per stack: a function per line, the leaf first.
    pub stack_list: List<Option<String>, STACKS>,
}

/// Stands for a stack that was not recorded.
const NO_STACK: &str = "No Stack";

/// The stacks of all sections.
#[derive(Debug, Default)]
pub(crate) struct NamedStacks {
    /// Table `stacks`.
    pub(crate) rows: Vec<StackRow>,
}

impl NamedStacks {
    /// The stack of a text with a function per line.
    pub(super) fn of(&mut self, text: &str, code: &mut NamedCode) -> Option<StackId> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && *line != NO_STACK);
        let frames: Vec<FrameId> = lines.map(|line| code.frame(line)).collect();
        let stack = StackId::from_index(self.rows.len());
        (!frames.is_empty()).then(|| {
            self.rows.push(StackRow { stack, frames });
            stack
        })
    }

    /// The stacks of a list.
    pub(super) fn places(&mut self, list: Option<StackList>, code: &mut NamedCode) -> StackPlaces {
        let list = list.map(|list| list.stack_list.0).unwrap_or_default();
        StackPlaces(list.into_iter().map(|text| self.of(&text?, code)).collect())
    }
}

/// The stacks of a section by their place in its list.
#[derive(Debug, Default)]
pub(super) struct StackPlaces(Vec<Option<StackId>>);

impl StackPlaces {
    /// The stack at a place; none where the place is negative.
    pub(super) fn at(&self, place: Integer) -> Option<StackId> {
        let place = usize::try_from(place.0?).ok()?;
        self.0.get(place).copied().flatten()
    }
}
