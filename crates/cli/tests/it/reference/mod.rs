//! ETWAnalyzer's own command lines, and what it does that ours must do too: the list is in `docs/etwanalyzer.md`.

mod behaviour;
mod csv;
mod quoting;
mod recording;
mod tables;
