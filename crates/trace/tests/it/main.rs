//! The trackers of the neutral model, on short stories.

mod methods;
mod switches;
