//! What the health table says of modules without symbols.

use super::names::Named;
use tracesift_trace::HealthKind;

/// What it calls them.
pub(crate) const NAMELESS: HealthKind = HealthKind::MODULES_WITHOUT_SYMBOLS;

/// How many there are, and the one that most frames without a name are in; `None` where there is none.
pub(crate) fn nameless(named: &Named) -> Option<(i64, String)> {
    let worst = named.nameless.last()?;
    let reason = worst.reason.as_deref().unwrap_or("its symbols do not know the code");
    Some((i64::try_from(named.nameless.len()).unwrap_or(i64::MAX), format!("{}: {reason}", worst.module)))
}
