//! What explains a recording: for each rule one recording that has it, and one just below its threshold.

mod path_rules;
mod recorded_rules;
mod story;
mod whole;
