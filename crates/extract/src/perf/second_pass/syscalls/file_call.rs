//! System calls that are file operations: which of their arguments are what.

use tracesift_trace::rows::file_operations as operation;

/// What a call does to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileCall {
    /// See [`tracesift_trace::rows::file_operations`].
    pub(super) operation: i8,
    handle: Handle,
    /// The argument with the offset in the file.
    offset: Option<usize>,
    /// The argument with the bytes.
    size: Option<usize>,
    /// The argument with the flags of an open.
    flags: Option<usize>,
    /// The argument with the descriptor to which the kernel moves what it reads.
    target: Option<usize>,
}

/// Where the descriptor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handle {
    /// The call names a path, which is not in the recording.
    None,
    Argument(usize),
    /// As [`Self::Argument`]; without one it has nothing to do with a file.
    Required(usize),
    Result,
}

/// What a call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) handle: Option<i64>,
    pub(super) offset: Option<i64>,
    pub(super) size: Option<i64>,
    pub(super) transferred: Option<i64>,
    /// How a file is opened.
    pub(super) flags: Option<i64>,
}

impl FileCall {
    /// The file operation of a call with that name.
    #[rustfmt::skip]
    pub(super) fn of(name: &str) -> Option<Self> {
        use Handle::{Argument, None as Path, Required, Result};
        let (operation, handle, offset, size) = match name {
            "open" | "openat" | "openat2" | "creat" | "open_by_handle_at" => (operation::OPEN, Result, None, None),
            "close" => (operation::CLOSE, Argument(0), None, None),
            "read" => (operation::READ, Argument(0), None, Some(2)),
            "pread64" => (operation::READ, Argument(0), Some(3), Some(2)),
            "readv" => (operation::READ, Argument(0), None, None),
            "preadv" | "preadv2" => (operation::READ, Argument(0), Some(3), None),
            // Their offsets are in the memory of the program.
            "copy_file_range" | "splice" => (operation::READ, Argument(0), None, Some(4)),
            "sendfile" => (operation::READ, Argument(1), None, Some(3)),
            "write" => (operation::WRITE, Argument(0), None, Some(2)),
            "pwrite64" => (operation::WRITE, Argument(0), Some(3), Some(2)),
            "writev" => (operation::WRITE, Argument(0), None, None),
            "pwritev" | "pwritev2" => (operation::WRITE, Argument(0), Some(3), None),
            "fsync" | "fdatasync" | "syncfs" => (operation::FLUSH, Argument(0), None, None),
            "sync_file_range" => (operation::FLUSH, Argument(0), Some(1), Some(2)),
            "sync" => (operation::FLUSH, Path, None, None),
            "fstat" | "fstatfs" | "fgetxattr" | "flistxattr" => (operation::QUERY, Argument(0), None, None),
            "stat" | "lstat" | "newfstatat" | "statx" | "statfs" | "access" | "faccessat" | "faccessat2" | "readlink"
            | "readlinkat" | "getxattr" | "lgetxattr" | "listxattr" | "llistxattr" => (operation::QUERY, Path, None, None),
            "ftruncate" => (operation::SET, Argument(0), None, Some(1)),
            "truncate" => (operation::SET, Path, None, Some(1)),
            "fallocate" => (operation::SET, Argument(0), Some(2), Some(3)),
            "fsetxattr" | "fremovexattr" => (operation::SET, Argument(0), None, None),
            "utime" | "utimes" | "futimesat" | "utimensat" | "setxattr" | "lsetxattr" | "removexattr" | "lremovexattr" =>
                (operation::SET, Path, None, None),
            "fchmod" | "fchown" => (operation::SET_SECURITY, Argument(0), None, None),
            "chmod" | "fchmodat" | "fchmodat2" | "chown" | "lchown" | "fchownat" =>
                (operation::SET_SECURITY, Path, None, None),
            "unlink" | "unlinkat" | "rmdir" => (operation::DELETE, Path, None, None),
            "rename" | "renameat" | "renameat2" => (operation::RENAME, Path, None, None),
            "getdents" | "getdents64" => (operation::LIST, Argument(0), None, Some(2)),
            "mmap" => (operation::MAP, Required(4), Some(5), Some(1)),
            "mkdir" | "mkdirat" | "mknod" | "mknodat" | "link" | "linkat" | "symlink" | "symlinkat" =>
                (operation::CREATE, Path, None, None),
            _ => return None,
        };
        let flags = match name {
            "open" => Some(1),
            "openat" | "open_by_handle_at" => Some(2),
            // openat2 has them in memory.
            _ => None,
        };
        let target = match name {
            "copy_file_range" | "splice" => Some(2),
            "sendfile" => Some(0),
            _ => None,
        };
        Some(Self { operation, handle, offset, size, flags, target })
    }

    /// The write that a call is beside its read; `None` where it is one operation.
    pub(super) fn write(&self) -> Option<Self> {
        let handle = Handle::Argument(self.target?);
        Some(Self { operation: operation::WRITE, handle, target: None, ..*self })
    }

    /// What a call with these arguments and this result did; `None` where it has nothing to do with a file.
    pub(super) fn done(&self, arguments: &[u64; 6], result: i64) -> Option<Done> {
        let argument = |index: usize| arguments.get(index).copied();
        // Registers are wider than descriptors, and what stands in the upper half is nobody's.
        let descriptor = |index| argument(index).map(|value| i64::from((value as u32).cast_signed()));
        let handle = match self.handle {
            Handle::None => None,
            Handle::Argument(index) => descriptor(index),
            Handle::Required(index) => Some(descriptor(index).filter(|descriptor| *descriptor >= 0)?),
            Handle::Result => Some(result).filter(|result| *result >= 0),
        };
        let moves = matches!(self.operation, operation::READ | operation::WRITE | operation::LIST);
        Some(Done {
            handle,
            offset: self.offset.and_then(argument).map(u64::cast_signed),
            size: self.size.and_then(argument).map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX)),
            transferred: (moves && result >= 0).then_some(result),
            // The kernel takes 32 bits of the register.
            flags: self.flags.and_then(argument).map(|flags| i64::from(flags as u32)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operation, handle, offset, bytes asked for, bytes transferred.
    type Told = (i8, Option<i64>, Option<i64>, Option<i64>, Option<i64>);

    fn done(name: &str, arguments: [u64; 6], result: i64) -> Option<Told> {
        let call = FileCall::of(name)?;
        let Done { handle, offset, size, transferred, .. } = call.done(&arguments, result)?;
        Some((call.operation, handle, offset, size, transferred))
    }

    #[test]
    fn flags_of_an_open_are_where_the_call_takes_them() {
        let flags = |name: &str| {
            let call = FileCall::of(name).unwrap();
            call.done(&[0xffff_ffff_ffff_ff9c, 0x8_0000, 0xffff_ffff_0008_0241, 0o644, 0, 0], 3).unwrap().flags
        };
        assert_eq!(
            (flags("open"), flags("openat"), flags("open_by_handle_at")),
            (Some(0x8_0000), Some(0x8_0241), Some(0x8_0241))
        );
        assert_eq!(["openat2", "creat", "read", "close"].map(flags), [None; 4]);
    }

    #[test]
    fn arguments_are_what_the_call_takes_them_for() {
        let pread = done("pread64", [7, 0xdead, 4096, 8192, 0, 0], 100);
        assert_eq!(pread, Some((operation::READ, Some(7), Some(8192), Some(4096), Some(100))));
        let failed = done("write", [0xffff_ffff_0000_0003, 0, 10, 0, 0, 0], -28);
        assert_eq!(failed, Some((operation::WRITE, Some(3), None, Some(10), None)));
        assert_eq!(done("openat", [0; 6], 5), Some((operation::OPEN, Some(5), None, None, None)));
        assert_eq!(done("openat", [0; 6], -2), Some((operation::OPEN, None, None, None, None)));
        let mapped = done("mmap", [0, 4096, 1, 2, 3, 8192], 0x7f00_0000_0000);
        assert_eq!(mapped, Some((operation::MAP, Some(3), Some(8192), Some(4096), None)));
        assert_eq!(done("mmap", [0, 4096, 1, 0x22, 0xffff_ffff_ffff_ffff, 0], 0x7f00_0000_0000), None);
        assert_eq!(done("futex", [0; 6], 0), None);
    }

    #[test]
    fn a_copy_is_a_read_and_a_write() {
        let both = |name: &str, arguments: [u64; 6], result: i64| {
            let call = FileCall::of(name).unwrap();
            [Some(call), call.write()].map(|call| {
                let call = call.unwrap();
                let Done { handle, offset, size, transferred, .. } = call.done(&arguments, result).unwrap();
                (call.operation, handle, offset, size, transferred)
            })
        };
        for (name, arguments, result) in [
            ("copy_file_range", [3, 0xdead, 4, 0xbeef, 1000, 0], 700),
            ("splice", [3, 0xdead, 4, 0, 1000, 1], 700),
            ("sendfile", [4, 3, 0xdead, 1000, 0, 0], 700),
        ] {
            let expected = [
                (operation::READ, Some(3), None, Some(1000), Some(700)),
                (operation::WRITE, Some(4), None, Some(1000), Some(700)),
            ];
            assert_eq!(both(name, arguments, result), expected, "{name}");
            assert!(both(name, arguments, -18).iter().all(|told| told.4.is_none()), "{name}");
        }
        assert_eq!(FileCall::of("read").and_then(|call| call.write()), None);
    }
}
