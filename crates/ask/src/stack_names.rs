//! The names on single stacks, for answers that show stacks.

use std::sync::Arc;

use tracesift_analysis::{MethodId, MethodName, MethodSource as _};
use tracesift_extract::stack_methods::NamedStacks;
use tracesift_trace::StackId;

/// Modules in which every wait ends, whoever waits: what they are called tells nothing about it.
const EVERYBODYS: [&str; 14] = [
    "ntoskrnl.exe",
    "ntkrnlmp.exe",
    "ntdll.dll",
    "kernelbase.dll",
    "kernel32.dll",
    "win32u.dll",
    "wow64.dll",
    "wow64cpu.dll",
    "wow64win.dll",
    "[kernel.kallsyms]",
    "[kernel]",
    "[vdso]",
    "libc",
    "libpthread",
];

/// Beginnings of functions through which everybody waits wherever they lie: standard libraries are linked into programs.
const STANDARD_LIBRARIES: [&str; 9] = [
    "std::",
    "core::",
    "alloc::",
    "<std::",
    "<core::",
    "<alloc::",
    "__gthread",
    "System.Threading.",
    "System::Threading::",
];

/// How every wait and every wake-up ends, in lower case: the way from a call of the kernel to the switch, or to the thread that is woken.
const SWITCHING: [&str; 24] = [
    "__schedule",
    "schedule",
    "preempt_schedule",
    "io_schedule",
    "schedule_timeout",
    "schedule_hrtimeout_range",
    "schedule_hrtimeout_range_clock",
    "swapcontext",
    "kiswapcontext",
    "kiswapthread",
    "kicommitthreadwait",
    "kewaitforsingleobject",
    "kewaitformultipleobjects",
    "obwaitforsingleobject",
    "try_to_wake_up",
    "wake_up_process",
    "wake_up_q",
    "default_wake_function",
    "autoremove_wake_function",
    "__wake_up_common",
    "__wake_up_common_lock",
    "__wake_up",
    "__wake_up_sync_key",
    "kiunwaitthread",
];

/// Through which every call enters the kernel, whatever it is.
const ENTRIES: [&str; 6] = [
    "entry_SYSCALL_64_after_hwframe",
    "do_syscall_64",
    "x64_sys_call",
    "el0t_64_sync",
    "el0t_64_sync_handler",
    "KiSystemServiceCopyEnd",
];

/// Names of stacks; without any where there are no stacks.
#[derive(Debug, Default)]
pub(crate) struct StackNames {
    named: Arc<NamedStacks>,
    scratch: Vec<MethodId>,
}

impl StackNames {
    pub(crate) fn new(named: Arc<NamedStacks>) -> Self {
        Self { named, scratch: Vec::new() }
    }

    /// The methods of all stacks.
    pub(crate) fn methods(&self) -> Arc<NamedStacks> {
        Arc::clone(&self.named)
    }

    /// The methods of a stack, leaf first.
    pub(crate) fn of(&mut self, stack: StackId) -> Vec<MethodName> {
        self.scratch.clear();
        (&self.named.stacks).stack(stack, &mut self.scratch);
        self.scratch.iter().map(|method| self.named.names.name(*method)).collect()
    }

    /// The method of a stack that says most about who waits there: the first that is neither of the operating system nor of a standard
    /// library, else the first that is not of the operating system, else the first behind the switch itself.
    pub(crate) fn telling(stack: &[MethodName]) -> Option<&MethodName> {
        // What lies in no module has no name.
        let named = || stack.iter().filter(|method| method.module.is_some());
        let switches = |method: &MethodName| SWITCHING.contains(&method.function.to_lowercase().as_str());
        let is_everybodys = |method: &MethodName| {
            let module = method.module.as_deref().unwrap_or_default().to_lowercase();
            // `libc.so.6`, `libc-2.31.so`
            let starts = |name: &str| {
                module.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
            };
            EVERYBODYS.into_iter().any(starts)
        };
        let is_standard = |method: &MethodName| {
            // Functions made of templates begin with what they return.
            let function = ["void ", "bool "].iter().find_map(|kind| method.function.strip_prefix(kind));
            let function = function.unwrap_or(&method.function);
            STANDARD_LIBRARIES.into_iter().any(|library| function.starts_with(library))
        };
        let outside = || named().filter(|method| !is_everybodys(method));
        let own = outside().find(|method| !is_standard(method));
        own.or_else(|| outside().next()).or_else(|| named().find(|method| !switches(method))).or(stack.first())
    }

    /// [`Self::telling`] as answers show it. Where that has no name of its own, the function that it called says more than an address.
    pub(crate) fn telling_label(stack: &[MethodName]) -> Option<String> {
        let method = Self::telling(stack)?;
        let is_named = |method: &MethodName| {
            let module = method.module.as_deref().unwrap_or_default();
            let rest = method.function.strip_prefix(module);
            !module.is_empty() && !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("+0x"))
        };
        if is_named(method) {
            return Some(method.to_string());
        }
        let place = stack.iter().position(|other| std::ptr::eq(other, method)).unwrap_or(0);
        let tells = |method: &&MethodName| is_named(method) && !ENTRIES.contains(&method.function.as_str());
        let called = stack.get(..place).unwrap_or_default().iter().rev().find(tells);
        // How the C library calls its own functions inside.
        let name = |called: &MethodName| called.function.strip_prefix("__GI_").unwrap_or(&called.function).to_owned();
        let called = called.map(|called| format!(" ({})", name(called))).unwrap_or_default();
        Some(format!("{method}{called}"))
    }
}

#[cfg(test)]
mod tests {
    use tracesift_analysis::MethodName;

    use super::StackNames;

    #[test]
    fn the_first_method_outside_of_the_operating_system() {
        let method = |module: &str, function: &str| MethodName {
            module: Some(module.to_owned()),
            function: function.to_owned(),
        };
        let stack = [
            method("ntoskrnl.exe", "KiSwapContext"),
            method("ntdll.dll", "NtWaitForSingleObject"),
            method("KERNELBASE.dll", "WaitForSingleObjectEx"),
            method("App.exe", "Load"),
            method("App.exe", "Main"),
        ];
        assert_eq!(StackNames::telling(&stack).map(ToString::to_string).as_deref(), Some("App.exe!Load"));
        let function = |stack: &[MethodName]| StackNames::telling(stack).map(|method| method.function.clone());
        assert_eq!(function(&stack[..2]).as_deref(), Some("NtWaitForSingleObject"));
        assert_eq!(function(&stack[..1]).as_deref(), Some("KiSwapContext"));
        let linux =
            [method("[kernel.kallsyms]", "schedule"), method("libc.so.6", "read"), method("libcurl.so", "poll")];
        assert_eq!(StackNames::telling(&linux).map(|method| &*method.function), Some("poll"));
        assert!(StackNames::telling(&[]).is_none());
    }

    #[test]
    fn everybody_waits_through_standard_libraries() {
        let method = |module: &str, function: &str| MethodName {
            module: Some(module.to_owned()),
            function: function.to_owned(),
        };
        for library in [
            "std::sys::pal::unix::futex::futex_wait",
            "<std::fs::File as std::io::Read>::read",
            "core::ops::function::FnOnce::call_once",
            "<alloc::boxed::Box<F> as core::ops::function::FnOnce<A>>::call_once",
            "std::__1::condition_variable::wait(std::__1::unique_lock<std::__1::mutex>&)",
            "void std::this_thread::sleep_for<long, std::ratio<1l, 1000l> >(std::chrono::duration<long> const&)",
            "__gthread_mutex_lock(pthread_mutex_t*)",
            "System.Threading.WaitHandle.WaitOneNoCheck",
        ] {
            let stack = [
                method("[kernel.kallsyms]", "futex_do_wait"),
                method("libc.so.6", "syscall"),
                method("program", library),
                method("program", "program::wait_for_lock"),
                method("program", "std::rt::lang_start"),
            ];
            let told = |stack: &[MethodName]| StackNames::telling(stack).map(|method| method.function.clone());
            assert_eq!(told(&stack).as_deref(), Some("program::wait_for_lock"));
            // Where there is nothing else, it is more than the kernel's own.
            assert_eq!(told(&stack[..3]).as_deref(), Some(library));
        }
        // Begins alike and is none.
        let own = [method("program", "standard::wait"), method("program", "main")];
        assert_eq!(StackNames::telling(&own).map(|method| &*method.function), Some("standard::wait"));
    }

    #[test]
    fn a_program_without_names_is_told_by_what_it_called() {
        let method = |module: &str, function: &str| MethodName {
            module: Some(module.to_owned()),
            function: function.to_owned(),
        };
        let label = |stack: &[MethodName]| StackNames::telling_label(stack);
        let stack = [
            method("[kernel.kallsyms]", "io_schedule"),
            method("[kernel.kallsyms]", "__x64_sys_fsync"),
            method("[kernel.kallsyms]", "do_syscall_64"),
            method("libc.so.6", "__GI_fsync"),
            method("dd", "dd+0x5d69"),
            method("dd", "dd+0x2345"),
        ];
        assert_eq!(label(&stack).as_deref(), Some("dd!dd+0x5d69 (fsync)"));
        // Where the library has no names either, the kernel has.
        let stripped = [stack[1].clone(), stack[2].clone(), method("libc.so.6", "libc.so.6+0xf00"), stack[4].clone()];
        assert_eq!(label(&stripped).as_deref(), Some("dd!dd+0x5d69 (__x64_sys_fsync)"));
        assert_eq!(label(&stack[4..]).as_deref(), Some("dd!dd+0x5d69"));
        assert_eq!(label(&[stack[3].clone(), method("dd", "flush")]).as_deref(), Some("dd!flush"));
        assert_eq!(label(&[]), None);
    }
}
