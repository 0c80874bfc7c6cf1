//! The modules of methods, for `--show-modules`.

use rustc_hash::FxHashMap;
use tracesift_archive::Error;
use tracesift_grammar::Patterns;
use tracesift_trace::rows::{ModuleRow, ProcessModuleRow};
use tracesift_trace::{ModuleId, ProcessId};

use super::order::Method;
use crate::module_columns as of_module;
use crate::recording::OpenRecording;

/// Modules by process and name in lower case.
#[derive(Debug, Default)]
pub(super) struct MethodModules(FxHashMap<(ProcessId, String), ModuleRow>);

impl MethodModules {
    /// Finds the modules of the methods, and keeps only methods whose module the patterns accept.
    pub(super) fn keep(opened: &OpenRecording, patterns: &Patterns, methods: &mut Vec<Method>) -> Result<Self, Error> {
        let archive = opened.archive();
        let modules: Vec<ModuleRow> = archive.rows()?;
        let by_id: FxHashMap<ModuleId, &ModuleRow> = modules.iter().map(|row| (row.module, row)).collect();
        let mut anywhere: FxHashMap<String, &ModuleRow> = FxHashMap::default();
        for row in &modules {
            anywhere.entry(row.name.to_lowercase()).or_insert(row);
        }
        let mut loaded: FxHashMap<(ProcessId, String), &ModuleRow> = FxHashMap::default();
        for load in archive.rows::<ProcessModuleRow>()? {
            if let Some(module) = by_id.get(&load.module) {
                loaded.entry((load.process, module.name.to_lowercase())).or_insert(module);
            }
        }
        let mut found = Self::default();
        methods.retain(|method| {
            let key = Self::key(method);
            // Those of the kernel are mapped in one process and run in all.
            let module = loaded.get(&key).or_else(|| anywhere.get(&key.1)).copied();
            let accepted = patterns.is_empty() || module.is_some_and(|module| of_module::matches(module, patterns));
            if let Some(module) = module.filter(|_| accepted) {
                found.0.entry(key).or_insert_with(|| module.clone());
            }
            accepted
        });
        Ok(found)
    }

    /// The module of a method.
    pub(super) fn of(&self, method: &Method) -> Option<&ModuleRow> {
        if self.0.is_empty() { None } else { self.0.get(&Self::key(method)) }
    }

    fn key(method: &Method) -> (ProcessId, String) {
        (method.figures.process, method.figures.module.as_deref().unwrap_or_default().to_lowercase())
    }
}
