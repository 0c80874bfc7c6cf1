//! The built program, as users run it.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does: by panicking")]

mod answers;
mod comparing;
mod crate_table;
mod demo;
mod dependencies;
mod events;
mod explaining;
mod extracting;
mod formats;
mod gates;
mod help;
mod histories;
mod imported_parts;
mod imported_sections;
mod importing;
#[cfg(target_os = "linux")]
mod interrupting;
mod junit;
#[cfg(target_os = "linux")]
mod lines;
mod loops;
mod mistakes;
mod old_switches;
mod overview;
mod perf;
mod planned_runs;
mod prose;
mod raw_answers;
mod recorded_files;
mod recorded_heap;
mod recorded_memory;
mod recorded_names;
mod recorded_stacks;
mod recording;
mod recordings;
mod reference;
mod reference_tags;
mod reports;
// On Windows `c:\temp` is a place of the machine and not of a test.
#[cfg(not(windows))]
mod seed_lines;
mod stats;
mod support;
mod symbol_lookup;
mod symbols;
mod viewing;
mod widths;
