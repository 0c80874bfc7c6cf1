//! Stacks in the order of a walk: a stack, then all that it calls. In that order whatever is below a stack is one stretch, so weights
//! sorted by it are summed by two look-ups, and nothing has to be hashed.

use crate::profile::{Catalog, StackId};

/// The parent of stacks that have none, and the stack that all of them are below.
pub(super) const ABOVE_ALL: u32 = u32::MAX;

/// The stacks of a catalog in the order of a walk.
pub(super) struct Order {
    /// By stack: its place in the walk.
    places: Vec<u32>,
    /// By stack: how many stacks there are in its stretch, itself included.
    sizes: Vec<u32>,
    /// By place: its stack.
    stacks: Vec<u32>,
    /// By stack: its caller.
    parents: Vec<u32>,
}

impl Order {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let parents: Vec<u32> =
            catalog.stacks().map(|stack| catalog.caller(stack).map_or(ABOVE_ALL, |caller| caller.0)).collect();
        // A caller stands before what it calls, so one pass in each direction is enough.
        let mut sizes = vec![1_u32; parents.len()];
        for (stack, &parent) in parents.iter().enumerate().rev() {
            if parent != ABOVE_ALL {
                sizes[parent as usize] += sizes[stack];
            }
        }
        let mut places = vec![0_u32; parents.len()];
        let mut free = vec![0_u32; parents.len()];
        let mut free_above_all = 0;
        for (stack, &parent) in parents.iter().enumerate() {
            let free_in = if parent == ABOVE_ALL { &mut free_above_all } else { &mut free[parent as usize] };
            let place = *free_in;
            *free_in += sizes[stack];
            places[stack] = place;
            free[stack] = place + 1;
        }
        let mut stacks = free;
        for (stack, &place) in places.iter().enumerate() {
            stacks[place as usize] = stack as u32;
        }
        Self { places, sizes, stacks, parents }
    }

    pub(super) fn place(&self, stack: StackId) -> u32 {
        self.places[stack.row()]
    }

    /// The place behind the stretch of a stack.
    pub(super) fn end(&self, stack: u32) -> u32 {
        self.places[stack as usize] + self.sizes[stack as usize]
    }

    /// What `above` calls on the way to the stack at `place`, which is in its stretch. `from` is the place of a stack that `above` calls,
    /// at `place` or before.
    pub(super) fn child(&self, above: u32, mut from: u32, place: u32) -> u32 {
        // From callee to callee, or up from the stack: whichever is shorter.
        let mut stack = self.stacks[place as usize];
        loop {
            let callee = self.stacks[from as usize];
            if place < self.end(callee) {
                return callee;
            }
            if self.parents[stack as usize] == above {
                return stack;
            }
            from = self.end(callee);
            stack = self.parents[stack as usize];
        }
    }
}
