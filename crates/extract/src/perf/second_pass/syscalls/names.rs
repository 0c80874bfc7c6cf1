//! Names of system calls by their numbers, which every architecture has its own of: the kernel's public tables
//! (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).

use super::descriptor_call::DescriptorCall;
use super::file_call::FileCall;
use super::memory_call::MemoryCall;
use super::socket_call::SocketCall;

/// What is known of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) name: &'static str,
    /// What it does to a file.
    pub(super) file: Option<FileCall>,
    /// What it does to the memory of its process.
    pub(super) memory: Option<MemoryCall>,
    /// What it does to a socket.
    pub(super) socket: Option<SocketCall>,
    /// What it does to the descriptors of its process.
    pub(super) descriptor: Option<DescriptorCall>,
    /// Its thread or process ends.
    pub(super) never_returns: bool,
    /// It returns a second time, in the new thread.
    pub(super) starts_threads: bool,
}

impl Call {
    /// The call with a name; `name` of the result is empty, where nothing but a tracepoint has it.
    pub(super) fn named(name: &str) -> Self {
        Self {
            name: "",
            file: FileCall::of(name),
            memory: MemoryCall::of(name),
            socket: SocketCall::of(name),
            descriptor: DescriptorCall::of(name),
            never_returns: matches!(name, "exit" | "exit_group"),
            starts_threads: matches!(name, "fork" | "vfork" | "clone" | "clone3"),
        }
    }
}

/// The calls of an architecture, by number.
pub(super) struct Names(Vec<Option<Call>>);

impl Names {
    /// Those of a machine as `uname -m` names it. Calls of 32-bit programs on it have other numbers, which do not differ from
    /// these in a recording.
    pub(super) fn of(arch: Option<&str>) -> Self {
        let table = match arch {
            Some("x86_64") => include_str!("x86_64.txt"),
            Some("aarch64") => include_str!("aarch64.txt"),
            _ => "",
        };
        let mut calls = Vec::new();
        for (number, name) in table.lines().filter_map(|line| line.split_once(' ')) {
            let Ok(number) = number.parse::<usize>() else { continue };
            calls.resize(calls.len().max(number + 1), None);
            if let Some(call) = calls.get_mut(number) {
                *call = Some(Call { name, ..Call::named(name) });
            }
        }
        Self(calls)
    }

    /// The call with a number.
    #[inline]
    pub(super) fn get(&self, number: i32) -> Option<Call> {
        self.0.get(usize::try_from(number).ok()?).copied().flatten()
    }
}

/// The tables that have rows of a call, by the name that its tracepoint has.
pub(crate) fn tables_of(tracepoint: &str) -> Vec<&'static str> {
    let Call { file, memory, socket, .. } = Call::named(of_tracepoint(tracepoint));
    let of = |is_there: bool, table| is_there.then_some(table);
    let more = [
        of(file.is_some(), "file_io"),
        of(socket.is_some(), "socket_calls"),
        of(memory.is_some(), "allocations"),
        of(memory == Some(MemoryCall::Map), "mapped_views"),
    ];
    std::iter::once("syscalls").chain(more.into_iter().flatten()).collect()
}

/// The name of a call whose tracepoint has that of the kernel's function.
pub(super) fn of_tracepoint(name: &str) -> &str {
    match name {
        "newstat" => "stat",
        "newlstat" => "lstat",
        "newfstat" => "fstat",
        "newuname" => "uname",
        "sendfile64" => "sendfile",
        "umount" => "umount2",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_names_of_their_architecture() {
        let name = |arch, number| Names::of(Some(arch)).get(number).map(|call| call.name);
        assert_eq!(
            [0, 59, 202, 257, 449].map(|number| name("x86_64", number)),
            [Some("read"), Some("execve"), Some("futex"), Some("openat"), Some("futex_waitv")]
        );
        assert_eq!(
            [56, 63, 98, 221, 449].map(|number| name("aarch64", number)),
            [Some("openat"), Some("read"), Some("futex"), Some("execve"), Some("futex_waitv")]
        );
        assert_eq!((name("x86_64", -1), name("x86_64", i32::MAX), name("riscv64", 63)), (None, None, None));
    }

    /// What is read as a file operation exists: a name that is spelled wrong would never be met.
    #[test]
    fn the_kernel_here_has_the_same_names() {
        let Ok(events) = std::fs::read_dir("/sys/kernel/tracing/events/syscalls") else {
            return tracesift_fixtures::skipped("tracefs cannot be read");
        };
        let known: Vec<&str> = include_str!("x86_64.txt")
            .lines()
            .chain(include_str!("aarch64.txt").lines())
            .filter_map(|line| line.split_once(' ').map(|(_, name)| name))
            .collect();
        for event in events.flatten() {
            let name = event.file_name().into_string().unwrap_or_default();
            if let Some(name) = name.strip_prefix("sys_enter_") {
                assert!(known.contains(&of_tracepoint(name)), "{name}");
            }
        }
    }
}
