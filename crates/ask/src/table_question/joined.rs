//! Rows with what another table tells of them.

use std::ops::Deref;

use tracesift_trace::schema::{FieldList, View};

/// A row of a table, with what another table tells of it. It is read as a row of its own table; [`super::TableQuestion::scan`] adds the
/// other table.
#[derive(Clone, Copy, Debug)]
pub struct Joined<V, O> {
    pub(crate) own: V,
    pub(crate) other: Option<O>,
}

impl<V, O> Deref for Joined<V, O> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.own
    }
}

impl<V: View, O: 'static> View for Joined<V, O> {
    type Row = V::Row;
    type Fields = V::Fields;
    const NAMES: &'static [&'static str] = V::NAMES;

    fn fields(&self) -> <Self::Fields as FieldList>::Refs<'_> {
        self.own.fields()
    }

    fn fields_mut(&mut self) -> <Self::Fields as FieldList>::Mut<'_> {
        self.own.fields_mut()
    }

    #[inline]
    fn from_fields(fields: Self::Fields) -> Self {
        Self { own: V::from_fields(fields), other: None }
    }
}
