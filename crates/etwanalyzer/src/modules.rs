//! Modules with their versions, and which process has them, from the part `Modules`.

use tracesift_trace::HealthKind;
use tracesift_trace::rows::{ModuleRow, ProcessModuleRow};
use tracesift_trace::{Health, ModuleId};

use crate::document::{Modules, ProcessReference};
use crate::identity::{Identities, shortened};
use crate::limits::TextBudget;

/// Rows of `modules` and `process_modules`.
#[derive(Debug, Default)]
pub(crate) struct ModuleRows {
    pub(crate) modules: Vec<ModuleRow>,
    pub(crate) process_modules: Vec<ProcessModuleRow>,
}

impl ModuleRows {
    /// Those of the part; `None` when their texts exceed the budget.
    pub(crate) fn read(
        part: &Modules,
        identities: &mut Identities,
        budget: &mut TextBudget,
        health: &mut Health,
    ) -> Option<Self> {
        let mut rows = Self::default();
        for module in &part.modules.0 {
            let mut fields = module.module_and_pid.split(' ').filter(|field| !field.is_empty()).peekable();
            let mut texts: [Option<String>; 7] = Default::default();
            for text in &mut texts {
                let Some(place) = fields.next_if(|field| !field.starts_with('#')) else { break };
                // A text that is null has the place -2.
                let shared =
                    place.parse::<usize>().ok().and_then(|place| part.shared_strings.0.0.get(place)?.as_deref());
                if let Some(shared) = shared.filter(|shared| !shared.is_empty()) {
                    budget.spend(shared)?;
                    *text = Some(shared.to_owned());
                }
            }
            let [directory, name, file_version, product_version, product_name, binary_file_version, description] =
                texts;
            let Some(name) = name else {
                health.count(HealthKind::UNREADABLE_MODULES, None, || shortened(&module.module_and_pid));
                continue;
            };
            let id = ModuleId::from_index(rows.modules.len());
            let path = directory.map_or_else(|| name.clone(), |directory| in_directory(&directory, &name));
            let pdb = module.pdb_idx.and_then(|place| part.unresolved_pdbs.0.get(usize::try_from(place).ok()?));
            let (mut pdb_name, mut pdb_guid, mut pdb_age) = (None, None, None);
            if let Some((guid, age, name)) = pdb.and_then(|pdb| split_pdb(&pdb.pdb)) {
                budget.spend(&name)?;
                (pdb_name, pdb_guid, pdb_age) = (Some(name), Some(guid), Some(age));
            }
            rows.modules.push(ModuleRow {
                module: id,
                name,
                path,
                // Unknown, as are the addresses below.
                size: 0,
                time_date_stamp: None,
                checksum: None,
                pdb_name,
                pdb_guid,
                pdb_age,
                managed_pdb_name: None,
                managed_pdb_guid: None,
                managed_pdb_age: None,
                original_file_name: None,
                file_version,
                binary_file_version,
                product_version,
                product_name,
                company: None,
                description,
                build_id: None,
            });
            for index in fields.filter_map(|field| field.strip_prefix('#')) {
                if let Some(process) = identities.find(&ProcessReference::parse(index), health) {
                    rows.process_modules.push(ProcessModuleRow {
                        process,
                        module: id,
                        base: 0,
                        size: 0,
                        load: None,
                        unload: None,
                    });
                }
            }
        }
        Some(rows)
    }
}

fn in_directory(directory: &str, name: &str) -> String {
    let separator = if directory.ends_with('\\') { "" } else { "\\" };
    format!("{directory}{separator}{name}")
}

/// `guid age name`.
fn split_pdb(text: &str) -> Option<(String, i32, String)> {
    let (guid, rest) = text.split_once(' ')?;
    let (age, name) = rest.split_once(' ')?;
    Some((guid.to_lowercase(), age.parse().ok()?, name.to_owned()))
}
