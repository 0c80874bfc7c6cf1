//! The names behind ETWAnalyzer's `-extract`, and the tables of ours that they stand for.

use tracesift_extract::OPTIONAL_TABLES;

use crate::exit::UsageError;

/// What a name asks for.
#[derive(Clone, Copy)]
enum Asks {
    /// Everything.
    All,
    /// Everything but these tables.
    AllBut(&'static [&'static str]),
    /// These tables, beside those of processes, threads, modules and stacks, which are always written.
    Tables(&'static [&'static str]),
}

const EXTRACTORS: &[(&str, Asks)] = &[
    ("all", Asks::All),
    // There without files and TraceLogging, for their volume; ours keeps the events of one kind of provider with those of all.
    ("default", Asks::AllBut(&["file_io"])),
    ("cpu", Asks::Tables(&["cpu_samples", "context_switches"])),
    ("stacktag", Asks::Tables(&["cpu_samples", "context_switches"])),
    ("module", Asks::Tables(&[])),
    ("disk", Asks::Tables(&["disk_io"])),
    ("pmc", Asks::Tables(&["context_switches", "counter_samples", "counter_values"])),
    ("frequency", Asks::Tables(&["cpu_frequencies", "cpu_idle_states", "cpu_states", "events"])),
    // Events of providers, one by one.
    ("dns", Asks::Tables(&["dns_queries", "events"])),
    ("tcp", Asks::Tables(&["connections", "network_io", "events"])),
    ("memory", Asks::Tables(&["memory_processes", "memory_sessions", "memory_state", "process_counters", "reclaims"])),
    ("exception", Asks::Tables(&["exceptions", "events"])),
    ("threadpool", Asks::Tables(&["thread_pool", "events"])),
    ("power", Asks::Tables(&["power_settings", "energy", "events"])),
    ("tracelog", Asks::Tables(&["events"])),
    ("file", Asks::Tables(&["file_io"])),
    ("virtualalloc", Asks::Tables(&["allocations"])),
    ("objectref", Asks::Tables(&["handles", "mapped_views", "objects", "object_references", "events"])),
];

/// The tables that a command line asks for.
#[derive(Debug)]
pub(super) struct Tables {
    wanted: Vec<&'static str>,
}

impl Default for Tables {
    fn default() -> Self {
        Self { wanted: OPTIONAL_TABLES.to_vec() }
    }
}

impl Tables {
    /// Those behind a list of names; all without any.
    pub(super) fn of(names: &[String]) -> Result<Self, UsageError> {
        let mut tables = if names.is_empty() { Self::default() } else { Self { wanted: Vec::new() } };
        for name in names.iter().flat_map(|names| names.split([',', ';'])).filter(|name| !name.is_empty()) {
            let Some((_, asks)) = EXTRACTORS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)) else {
                let known: Vec<&str> = EXTRACTORS.iter().map(|(name, _)| *name).collect();
                return Err(UsageError::new(
                    format!("-extract has no extractor `{name}`"),
                    format!("one or more of {}", known.join(", ")),
                ));
            };
            match asks {
                Asks::All => tables.wanted.extend(OPTIONAL_TABLES),
                Asks::AllBut(left_out) => {
                    tables.wanted.extend(OPTIONAL_TABLES.iter().filter(|table| !left_out.contains(table)));
                }
                Asks::Tables(wanted) => tables.wanted.extend(*wanted),
            }
        }
        Ok(tables)
    }

    /// Takes a table out, whoever asks for it.
    pub(super) fn leave_out(&mut self, table: &str) {
        self.wanted.retain(|wanted| *wanted != table);
    }

    /// The option that says so; `None` where all are wanted.
    pub(super) fn option(&self) -> Option<String> {
        let (wanted, left_out): (Vec<&str>, Vec<&str>) =
            OPTIONAL_TABLES.iter().partition(|table| self.wanted.contains(table));
        let list = match (wanted.as_slice(), left_out.as_slice()) {
            (_, []) => return None,
            ([], _) => "!*".to_owned(),
            // The shorter list says it more clearly.
            (wanted, left_out) if wanted.len() <= left_out.len() => wanted.join(";"),
            (_, left_out) => left_out.iter().map(|table| format!("!{table}")).collect::<Vec<_>>().join(";"),
        };
        Some(format!("--tables={list}"))
    }
}

/// The table as the reference shows it: names, tables. Names of the same tables stand together.
#[cfg(test)]
pub(crate) fn described() -> Vec<[String; 2]> {
    let list = |tables: &[&str]| tables.iter().map(|table| format!("`{table}`")).collect::<Vec<_>>().join(", ");
    let mut rows: Vec<[String; 2]> = Vec::new();
    for (name, asks) in EXTRACTORS {
        let tables = match asks {
            Asks::All => "all".to_owned(),
            Asks::AllBut(left_out) => format!("all but {}", list(left_out)),
            Asks::Tables([]) => "no large table".to_owned(),
            Asks::Tables(tables) => list(tables),
        };
        match rows.iter_mut().find(|[_, known]| *known == tables) {
            Some([names, _]) => names.push_str(&format!(", `{name}`")),
            None => rows.push([format!("`{name}`"), tables]),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{Asks, EXTRACTORS, Tables};

    fn option(names: &str) -> Option<String> {
        let names: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
        Tables::of(&names).unwrap().option()
    }

    #[test]
    fn names_stand_for_tables() {
        assert_eq!(option(""), None);
        assert_eq!(option("All"), None);
        assert_eq!(option("DNS all"), None);
        assert_eq!(option("Default").as_deref(), Some("--tables=!file_io"));
        assert_eq!(
            option("CPU Disk,DNS").as_deref(),
            Some("--tables=cpu_samples;context_switches;disk_io;dns_queries;events")
        );
        assert_eq!(option("module").as_deref(), Some("--tables=!*"));
    }

    #[test]
    fn unknown_names_list_the_valid_ones() {
        let error = Tables::of(&["disks".to_owned()]).unwrap_err();
        assert_eq!(error.message, "-extract has no extractor `disks`");
        assert!(error.hint.unwrap().starts_with("one or more of all, default, cpu, stacktag, module, disk, pmc,"));
    }

    #[test]
    fn every_table_of_the_list_can_be_chosen() {
        for (name, asks) in EXTRACTORS {
            if let Asks::Tables(tables) | Asks::AllBut(tables) = asks {
                for table in *tables {
                    assert!(tracesift_extract::OPTIONAL_TABLES.contains(table), "{name}: {table}");
                }
            }
        }
    }
}
