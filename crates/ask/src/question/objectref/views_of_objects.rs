//! The mapped views of objects: those of a section that has no file behind it are known by its address.

use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::MappedViewRow;

use super::Texts;
use super::lives::Life;

/// Gives views to the objects at whose address they are and in whose lives they begin. `lives` are those of all objects.
///
/// # Errors
/// When the table cannot be read.
pub(super) fn add(archive: &Archive, texts: &Texts, lives: &mut [Life]) -> Result<(), Error> {
    if archive.row_count::<MappedViewRow>() == 0 {
        return Ok(());
    }
    // At an address that is free again another object can be: only sections have views.
    let is_section = |life: &Life| texts.text(life.object_type).is_none_or(|name| name == "Section");
    let mut order: Vec<usize> = (0..lives.len()).filter(|at| is_section(&lives[*at])).collect();
    order.sort_by_key(|at| (lives[*at].address, lives[*at].start));
    archive.scan(None, |view: &MappedViewRow| {
        let after = order.partition_point(|at| (lives[*at].address, lives[*at].start) <= (view.object, view.start));
        let Some(life) = after.checked_sub(1).and_then(|before| lives.get_mut(order[before])) else { return };
        if life.address == view.object && view.start <= life.until() {
            life.views.push(*view);
        }
    })?;
    lives.iter_mut().for_each(|life| life.views.sort_by_key(|view| (view.start, view.base)));
    Ok(())
}
