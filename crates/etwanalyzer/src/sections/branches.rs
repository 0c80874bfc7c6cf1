//! Branches between two methods, as last branch records tell.

use serde::Deserialize;
use tracesift_trace::Health;
use tracesift_trace::rows::{BranchRow, branch_kinds};

use super::code::NamedCode;
use crate::bounded::List;
use crate::document::ProcessReference;
use crate::identity::Identities;
use crate::limits::METHODS;

/// `LBRData` of `PMC`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Branches {
    /// Names of methods.
    pub methods: List<String, METHODS>,
    /// `CALLER CALLED PROCESS COUNT`: places of methods and of the process, and number of branches.
    pub costs: List<String, METHODS>,
}

/// Table `branches`.
pub(super) fn rows(
    part: &Branches,
    code: &mut NamedCode,
    identities: &mut Identities,
    health: &mut Health,
) -> Vec<BranchRow> {
    let method = |index: i64| part.methods.0.get(usize::try_from(index).ok()?);
    let mut rows = Vec::with_capacity(part.costs.0.len());
    for cost in &part.costs.0 {
        let mut numbers = cost.split(' ').map(|number| number.parse::<i64>().ok());
        let fields = [numbers.next(), numbers.next(), numbers.next(), numbers.next()].map(Option::flatten);
        let found = match fields {
            [Some(from), Some(to), Some(process), Some(count)] if count >= 0 => {
                method(from).zip(method(to)).map(|methods| (methods, process, count))
            }
            _ => None,
        };
        let Some(((from, to), process, count)) = found else {
            super::unreadable(health, || format!("branches {cost:.40}"));
            continue;
        };
        rows.push(BranchRow {
            process: identities.find(&ProcessReference::Index(process), health),
            from: code.frame(from),
            to: code.frame(to),
            kind: branch_kinds::UNKNOWN,
            count,
            ..BranchRow::default()
        });
    }
    rows
}
