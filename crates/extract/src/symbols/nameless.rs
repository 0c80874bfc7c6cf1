//! The entry of the health table about modules without symbols.

use super::names::Named;
use tracesift_trace::HealthKind;

/// The kind of the entry.
pub(crate) const NAMELESS: HealthKind = HealthKind::MODULES_WITHOUT_SYMBOLS;

/// The number of modules without symbols, and the module with most frames without a name. `None` if
/// all modules have symbols.
pub(crate) fn nameless(named: &Named) -> Option<(i64, String)> {
    let worst = named.nameless.last()?;
    let reason = worst.reason.as_deref().unwrap_or("its symbols do not know the code");
    Some((i64::try_from(named.nameless.len()).unwrap_or(i64::MAX), format!("{}: {reason}", worst.module)))
}
