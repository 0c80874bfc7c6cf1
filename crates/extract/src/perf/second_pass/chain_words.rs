//! Words of call chains, leaf first: addresses, and marks that say whose addresses follow.

use tracesift_perf::{CpuMode, Words};

/// Words of a call chain from here on (as negative numbers) are no addresses but say whose addresses follow.
const CONTEXT_MAX: u64 = (-4095_i64).cast_unsigned();
/// User addresses follow.
pub(super) const CONTEXT_USER: u64 = (-512_i64).cast_unsigned();
/// Kernel addresses follow.
const CONTEXT_KERNEL: u64 = (-128_i64).cast_unsigned();

/// Whose addresses a stretch of a call chain has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Kernel,
    User,
    /// A virtual machine's.
    Other,
}

impl Side {
    pub(super) fn of(mode: CpuMode) -> Self {
        match mode {
            CpuMode::Kernel => Self::Kernel,
            CpuMode::User => Self::User,
            _ => Self::Other,
        }
    }
}

/// The addresses of one side of a call chain, leaf first.
pub(super) fn side_of(chain: Option<Words<'_>>, first: Side, wanted: Side) -> impl Iterator<Item = u64> + Clone {
    let mut side = first;
    chain.into_iter().flat_map(|chain| chain.iter()).filter(move |&word| {
        if word < CONTEXT_MAX {
            return side == wanted;
        }
        side = match word {
            CONTEXT_USER => Side::User,
            CONTEXT_KERNEL => Side::Kernel,
            _ => Side::Other,
        };
        false
    })
}
