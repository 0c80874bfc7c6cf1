//! System calls that make, duplicate and close descriptors: which of their arguments are what.

use tracesift_trace::descriptors::Change;

/// A descriptor goes when the process starts another program (`O_CLOEXEC`, and with other names of most calls).
const CLOSE_ON_EXEC: u64 = 0o2_000_000;
/// The error of a call with a number that stands for nothing (`EBADF`).
const BAD_NUMBER: i64 = -9;

/// Commands of `fcntl`.
mod commands {
    pub(super) const DUPLICATE: u64 = 0;
    pub(super) const SET_FLAGS: u64 = 2;
    pub(super) const DUPLICATE_CLOSE_ON_EXEC: u64 = 1030;
}

/// Flags of `close_range`.
const RANGE_CLOSE_ON_EXEC: u64 = 4;

/// What a call does to descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DescriptorCall {
    /// The result is a new one.
    Make {
        /// Type of the object; `None` where the call does not tell.
        object: Option<&'static str>,
        flags: Flags,
    },
    /// As `Make`, unless the first argument is one already: then that one is changed.
    MakeUnless {
        object: &'static str,
        flags: Flags,
    },
    /// The result stands for what the first argument stands for.
    Duplicate {
        flags: Flags,
    },
    /// `fcntl`.
    Control,
    Close,
    CloseRange,
    /// The current directory becomes that of a path, which the call does not tell.
    Enter,
    /// The current directory becomes that of a descriptor.
    EnterDescriptor,
}

/// Where a call says that a descriptor goes when the process starts another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flags {
    Never,
    Always,
    /// A bit of an argument.
    Bit(usize, u64),
}

/// What a call changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A descriptor.
    On(Change),
    /// The current directory, to that of a descriptor.
    Directory(Option<i32>),
}

impl DescriptorCall {
    /// What the call with that name does.
    #[rustfmt::skip]
    pub(crate) fn of(name: &str) -> Option<Self> {
        use Flags::{Always, Bit, Never};
        let bit = |argument| Bit(argument, CLOSE_ON_EXEC);
        let (object, flags) = match name {
            "open" => (Some("file"), bit(1)),
            "openat" | "open_by_handle_at" => (Some("file"), bit(2)),
            // The flags of openat2 are in the memory of the program.
            "openat2" | "creat" => (Some("file"), Never),
            "memfd_create" => (Some("memfd"), Bit(1, 1)),
            "socket" => (Some("socket"), bit(1)),
            "accept" => (Some("socket"), Never),
            "accept4" => (Some("socket"), bit(3)),
            "eventfd" => (Some("eventfd"), Never),
            "eventfd2" => (Some("eventfd"), bit(1)),
            "epoll_create" => (Some("anon_inode:eventpoll"), Never),
            "epoll_create1" => (Some("anon_inode:eventpoll"), bit(0)),
            "timerfd_create" => (Some("anon_inode:timerfd"), bit(1)),
            "inotify_init" => (Some("anon_inode:inotify"), Never),
            "inotify_init1" => (Some("anon_inode:inotify"), bit(0)),
            "fanotify_init" => (Some("anon_inode:fanotify"), Bit(0, 1)),
            "userfaultfd" => (Some("anon_inode:userfaultfd"), bit(0)),
            "perf_event_open" => (Some("anon_inode:perf_event"), Bit(4, 8)),
            "io_uring_setup" => (Some("anon_inode:io_uring"), Always),
            "pidfd_open" => (Some("anon_inode:pidfd"), Always),
            "pidfd_getfd" => (None, Always),
            "signalfd" => return Some(Self::MakeUnless { object: "anon_inode:signalfd", flags: Never }),
            "signalfd4" => return Some(Self::MakeUnless { object: "anon_inode:signalfd", flags: bit(3) }),
            "dup" | "dup2" => return Some(Self::Duplicate { flags: Never }),
            "dup3" => return Some(Self::Duplicate { flags: bit(2) }),
            "fcntl" => return Some(Self::Control),
            "close" => return Some(Self::Close),
            "close_range" => return Some(Self::CloseRange),
            "chdir" => return Some(Self::Enter),
            "fchdir" => return Some(Self::EnterDescriptor),
            _ => return None,
        };
        Some(Self::Make { object, flags })
    }

    /// Type of the object that the call makes.
    pub(crate) fn object(self) -> Option<&'static str> {
        match self {
            Self::Make { object, .. } => object,
            Self::MakeUnless { object, .. } => Some(object),
            _ => None,
        }
    }

    /// What a call with these arguments and this result changed.
    pub(crate) fn effect(self, arguments: &[u64; 6], result: i64) -> Option<Effect> {
        // Registers are wider than descriptors, and what stands in the upper half is nobody's.
        let descriptor = |index: usize| arguments.get(index).map(|value| (*value as u32).cast_signed());
        let new = || i32::try_from(result).ok().filter(|number| *number >= 0);
        let goes = |flags: Flags| match flags {
            Flags::Never => false,
            Flags::Always => true,
            Flags::Bit(argument, bit) => arguments.get(argument).is_some_and(|value| value & bit != 0),
        };
        let first = descriptor(0)?;
        let change = match self {
            Self::Make { flags, .. } => Change::Made { number: new()?, close_on_exec: goes(flags) },
            Self::MakeUnless { flags, .. } if first == -1 => {
                Change::Made { number: new()?, close_on_exec: goes(flags) }
            }
            Self::MakeUnless { .. } => return None,
            // dup2 of a number to itself does nothing.
            Self::Duplicate { .. } if new()? == first => return None,
            Self::Duplicate { flags } => Change::Duplicated { from: first, to: new()?, close_on_exec: goes(flags) },
            Self::Control => match arguments.get(1)? & 0xffff_ffff {
                command @ (commands::DUPLICATE | commands::DUPLICATE_CLOSE_ON_EXEC) => {
                    let close_on_exec = command == commands::DUPLICATE_CLOSE_ON_EXEC;
                    Change::Duplicated { from: first, to: new()?, close_on_exec }
                }
                commands::SET_FLAGS if result == 0 => {
                    Change::Marked { first, last: first, close_on_exec: arguments.get(2)? & 1 != 0 }
                }
                _ => return None,
            },
            // After every other error the number stands for nothing, too.
            Self::Close if result == BAD_NUMBER || first < 0 => return None,
            Self::Close => Change::Closed { number: first },
            Self::CloseRange if result != 0 => return None,
            Self::CloseRange => {
                let number =
                    |index: usize| arguments.get(index).map(|value| i32::try_from(*value as u32).unwrap_or(i32::MAX));
                let (first, last) = (number(0)?, number(1)?);
                match arguments.get(2)? & RANGE_CLOSE_ON_EXEC {
                    0 => Change::ClosedRange { first, last },
                    _ => Change::Marked { first, last, close_on_exec: true },
                }
            }
            Self::Enter if result == 0 => return Some(Effect::Directory(None)),
            Self::EnterDescriptor if result == 0 => return Some(Effect::Directory(Some(first))),
            Self::Enter | Self::EnterDescriptor => return None,
        };
        Some(Effect::On(change))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(name: &str, arguments: [u64; 6], result: i64) -> Option<Change> {
        match DescriptorCall::of(name)?.effect(&arguments, result)? {
            Effect::On(change) => Some(change),
            Effect::Directory(_) => None,
        }
    }

    #[test]
    fn results_and_arguments_are_what_the_call_takes_them_for() {
        let made = |number, close_on_exec| Some(Change::Made { number, close_on_exec });
        let duplicated = |from, to, close_on_exec| Some(Change::Duplicated { from, to, close_on_exec });
        assert_eq!(change("openat", [(-100_i64).cast_unsigned(), 0xdead, 0o2_000_000, 0, 0, 0], 5), made(5, true));
        assert_eq!(change("openat", [(-100_i64).cast_unsigned(), 0xdead, 0, 0, 0, 0], 5), made(5, false));
        assert_eq!(change("openat", [0; 6], -2), None);
        assert_eq!(change("socket", [2, 1 | 0o2_000_000, 0, 0, 0, 0], 4), made(4, true));
        assert_eq!(change("memfd_create", [0xdead, 1, 0, 0, 0, 0], 4), made(4, true));
        assert_eq!(change("perf_event_open", [0, 0, 0, 0, 8, 0], 4), made(4, true));
        assert_eq!(change("pidfd_open", [7, 0, 0, 0, 0, 0], 4), made(4, true));
        assert_eq!(change("signalfd4", [0xffff_ffff, 0, 8, 0, 0, 0], 4), made(4, false));
        assert_eq!(change("signalfd4", [4, 0, 8, 0, 0, 0], 4), None);
        assert_eq!(change("dup", [3, 0, 0, 0, 0, 0], 7), duplicated(3, 7, false));
        assert_eq!(change("dup2", [3, 1, 0, 0, 0, 0], 1), duplicated(3, 1, false));
        assert_eq!(change("dup2", [3, 3, 0, 0, 0, 0], 3), None);
        assert_eq!(change("dup3", [3, 1, 0o2_000_000, 0, 0, 0], 1), duplicated(3, 1, true));
        assert_eq!(change("fcntl", [3, 0, 10, 0, 0, 0], 10), duplicated(3, 10, false));
        assert_eq!(change("fcntl", [3, 1030, 10, 0, 0, 0], 11), duplicated(3, 11, true));
        // F_GETFD, F_GETFL, and F_DUPFD_QUERY, which duplicates nothing.
        for command in [1, 3, 1027] {
            assert_eq!(change("fcntl", [3, command, 4, 0, 0, 0], 1), None, "{command}");
        }
        let marked = |first, last, close_on_exec| Some(Change::Marked { first, last, close_on_exec });
        assert_eq!(change("fcntl", [3, 2, 1, 0, 0, 0], 0), marked(3, 3, true));
        assert_eq!(change("fcntl", [3, 2, 0, 0, 0, 0], 0), marked(3, 3, false));
        assert_eq!(change("close", [0xffff_ffff_0000_0003, 0, 0, 0, 0, 0], 0), Some(Change::Closed { number: 3 }));
        assert_eq!(change("close", [3, 0, 0, 0, 0, 0], -5), Some(Change::Closed { number: 3 }));
        assert_eq!(change("close", [3, 0, 0, 0, 0, 0], -9), None);
        let range = [3, 0xffff_ffff, 0, 0, 0, 0];
        assert_eq!(change("close_range", range, 0), Some(Change::ClosedRange { first: 3, last: i32::MAX }));
        assert_eq!(change("close_range", [3, 9, 4, 0, 0, 0], 0), marked(3, 9, true));
        assert_eq!(change("close_range", range, -22), None);
        assert_eq!(change("read", [3, 0, 0, 0, 0, 0], 0), None);
        let fchdir = DescriptorCall::of("fchdir").and_then(|call| call.effect(&[3, 0, 0, 0, 0, 0], 0));
        assert_eq!(fchdir, Some(Effect::Directory(Some(3))));
        assert_eq!(DescriptorCall::of("chdir").and_then(|call| call.effect(&[1, 0, 0, 0, 0, 0], -2)), None);
    }
}
