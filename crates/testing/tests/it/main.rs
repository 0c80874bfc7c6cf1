//! Rules that hold for the workspace as a whole.

mod test_programs;
