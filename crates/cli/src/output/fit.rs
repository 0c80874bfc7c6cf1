//! Chooses the columns of a table that fit into a terminal, and their widths.
//!
//! Figures are never cut. Words are, down to a width at which they still tell something; where that is not enough, columns are left out.

/// Words are cut to this width before any column is left out.
const TELLING: usize = 18;
/// Long words, such as command lines, to this one.
const TELLING_LONG: usize = 14;
/// Words are not cut below this width.
const SHORTEST: usize = 8;

/// A column that may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Its widest cell or its header.
    pub(super) width: usize,
    /// How it may be made smaller.
    pub(super) shape: Shape,
    /// The rank in which columns are left out, the smallest first; `None`: never.
    pub(super) rank: Option<u8>,
}

/// How a column may be made smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Not at all.
    Figure,
    /// Names.
    Words,
    /// Words of any length.
    LongWords,
}

impl Slot {
    fn telling(&self) -> usize {
        match self.shape {
            Shape::Figure => self.width,
            Shape::Words => self.width.min(TELLING),
            Shape::LongWords => self.width.min(TELLING_LONG),
        }
    }

    fn shortest(&self) -> usize {
        if self.shape == Shape::Figure { self.width } else { self.width.min(SHORTEST) }
    }
}

/// The width of each column in a terminal, where `room` is left for cells and the gaps between; `None`: it is left out.
pub(super) fn fit(slots: &[Slot], gap: usize, room: usize) -> Vec<Option<usize>> {
    let mut kept: Vec<usize> = (0..slots.len()).collect();
    let needs = |kept: &[usize], width: fn(&Slot) -> usize| {
        let cells: usize = kept.iter().filter_map(|&at| slots.get(at)).map(width).sum();
        cells + gap * kept.len().saturating_sub(1)
    };
    while needs(&kept, Slot::telling) > room {
        // Of equal ones the last goes first.
        let next = kept
            .iter()
            .enumerate()
            .filter_map(|(place, &at)| Some((slots.get(at)?.rank?, usize::MAX - place, place)))
            .min();
        let Some((.., place)) = next else { break };
        kept.remove(place);
    }
    let mut widths = vec![None; slots.len()];
    let floor: fn(&Slot) -> usize = if needs(&kept, Slot::telling) <= room { Slot::telling } else { Slot::shortest };
    let floors = needs(&kept, floor);
    let mut left = room.saturating_sub(floors);
    // What is left goes to the columns that want least first: then the widest are cut.
    let mut wanting: Vec<usize> = kept.clone();
    wanting.sort_by_key(|&at| slots.get(at).map_or(0, |slot| slot.width - floor(slot)));
    let mut waiting = wanting.iter().filter(|&&at| slots.get(at).is_some_and(|slot| slot.width > floor(slot))).count();
    for at in wanting {
        let Some(slot) = slots.get(at) else { continue };
        let more = slot.width - floor(slot);
        let given = if more == 0 { 0 } else { more.min(left / waiting.max(1)) };
        if more > 0 {
            waiting -= 1;
        }
        left -= given;
        if let Some(width) = widths.get_mut(at) {
            *width = Some(floor(slot) + given);
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::{Shape, Slot, fit};

    fn figure(width: usize, rank: Option<u8>) -> Slot {
        Slot { width, shape: Shape::Figure, rank }
    }

    fn words(width: usize) -> Slot {
        Slot { width, shape: Shape::Words, rank: None }
    }

    #[test]
    fn what_fits_is_left_alone() {
        let slots = [figure(8, None), words(60), figure(10, Some(0))];
        assert_eq!(fit(&slots, 2, 82), [Some(8), Some(60), Some(10)]);
    }

    #[test]
    fn the_widest_words_are_cut_before_columns_go() {
        let slots = [figure(8, Some(0)), words(30), words(90)];
        assert_eq!(fit(&slots, 2, 80), [Some(8), Some(30), Some(38)]);
        assert_eq!(fit(&slots, 2, 60), [Some(8), Some(24), Some(24)]);
        assert_eq!(fit(&slots, 2, 48), [Some(8), Some(18), Some(18)]);
        assert_eq!(fit(&slots, 2, 47), [None, Some(22), Some(23)]);
    }

    #[test]
    fn columns_go_by_rank_and_the_last_of_a_rank_first() {
        let slots = [figure(8, None), figure(8, Some(1)), figure(8, Some(0)), figure(8, Some(0)), words(40)];
        assert_eq!(fit(&slots, 2, 57), [Some(8), Some(8), Some(8), None, Some(27)]);
        assert_eq!(fit(&slots, 2, 45), [Some(8), Some(8), None, None, Some(25)]);
        assert_eq!(fit(&slots, 2, 37), [Some(8), None, None, None, Some(27)]);
        assert_eq!(fit(&slots, 2, 20), [Some(8), None, None, None, Some(10)]);
    }

    #[test]
    fn no_width_breaks_it() {
        let slots = [figure(8, None), words(3), words(400), figure(5, Some(3))];
        for room in 0..500 {
            let widths = fit(&slots, 2, room);
            let total: usize = widths.iter().flatten().sum::<usize>() + 2 * (widths.iter().flatten().count() - 1);
            assert!(total <= room.max(8 + 3 + 8 + 4), "{room}: {widths:?}");
        }
    }
}
