//! The trackers of the neutral model, on short stories.

mod methods;
mod switch_slices;
mod switches;
