//! The cause of a wake-up from an interrupt: the device or the clock, and never the thread that was
//! interrupted.

use crate::names::MethodName;

/// Who woke a thread from a deferred procedure call, an interrupt or a softirq.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interrupt {
    /// A timer ran out: a sleep or a time-out ended.
    Timer,
    /// A disk or file system completed an operation.
    Disk,
    /// A network card or protocol.
    Network,
    /// Something else, or nothing is known of it.
    Other,
}

impl Interrupt {
    /// What the stack of a wake-up says, leaf first. The first method that names its purpose counts.
    #[must_use]
    pub fn of<'a>(stack: impl IntoIterator<Item = &'a MethodName>) -> Self {
        stack.into_iter().find_map(of_method).unwrap_or(Self::Other)
    }

    /// What ends a wait with this stack, leaf first, if the recording does not tell: a thread that sleeps for a time is woken by the
    /// timer. Recordings of idle CPUs leave some of these wake-ups out.
    #[must_use]
    pub fn of_sleep<'a>(stack: impl IntoIterator<Item = &'a MethodName>) -> Option<Self> {
        let sleeps = |method: &MethodName| {
            let function = method.function.to_lowercase();
            SLEEPS.iter().any(|name| function.starts_with(name))
        };
        stack.into_iter().any(sleeps).then_some(Self::Timer)
    }

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Timer => "timer",
            Self::Disk => "disk",
            Self::Network => "network",
            Self::Other => "interrupt",
        }
    }
}

/// Starts of module names in lower case: drivers of Windows, modules of Linux in brackets.
const DISK_MODULES: [&str; 19] = [
    "storport",
    "stornvme",
    "storahci",
    "iastor",
    "ataport",
    "atapi",
    "disk.sys",
    "classpnp",
    "partmgr",
    "volmgr",
    "volsnap",
    "fvevol",
    "nvme",
    "[nvme",
    "[ahci",
    "[libahci",
    "[libata",
    "[scsi_mod",
    "[virtio_blk",
];
const NETWORK_MODULES: [&str; 14] = [
    "ndis",
    "tcpip",
    "afd.sys",
    "netio",
    "netvsc",
    "fwpkclnt",
    "e1d",
    "e1i",
    "rt640",
    "mlx",
    "[virtio_net",
    "[e1000",
    "[ixgbe",
    "[igb",
];
/// Starts of function names in lower case: these wait for their timer and for nothing else.
const SLEEPS: [&str; 4] = ["ntdelayexecution", "kedelayexecutionthread", "hrtimer_nanosleep", "do_nanosleep"];
/// Parts of function names in lower case.
const TIMER_FUNCTIONS: [&str; 7] = [
    "kitimerexpiration",
    "kiexpiretimer",
    "kiprocessexpiredtimer",
    "hrtimer",
    "run_timer_softirq",
    "call_timer_fn",
    "tick_",
];
const DISK_FUNCTIONS: [&str; 8] = ["blk_", "end_bio", "bio_endio", "scsi_", "nvme_", "ata_", "virtblk_", "folio_end_"];
const NETWORK_FUNCTIONS: [&str; 6] = ["net_rx_action", "napi_", "tcp_", "udp_", "ip_rcv", "netif_"];

fn of_method(method: &MethodName) -> Option<Interrupt> {
    let module = method.module.as_deref().unwrap_or_default().to_lowercase();
    let function = method.function.to_lowercase();
    let module_is = |names: &[&str]| names.iter().any(|name| module.starts_with(name));
    // At the start of a word: `tcp_data_ready` is not of `ata_`.
    let starts_word =
        |at: usize| !function.get(..at).unwrap_or_default().ends_with(|c: char| c.is_ascii_alphanumeric());
    let function_has =
        |names: &[&str]| names.iter().any(|name| function.match_indices(name).any(|(at, _)| starts_word(at)));
    if function_has(&TIMER_FUNCTIONS) {
        Some(Interrupt::Timer)
    } else if module_is(&DISK_MODULES) || function_has(&DISK_FUNCTIONS) {
        Some(Interrupt::Disk)
    } else if module_is(&NETWORK_MODULES) || function_has(&NETWORK_FUNCTIONS) {
        Some(Interrupt::Network)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Interrupt;
    use crate::names::MethodName;

    #[test]
    fn the_stack_names_the_device() {
        let of = |stack: &[(&str, &str)]| {
            let stack: Vec<MethodName> = stack
                .iter()
                .map(|(module, function)| MethodName {
                    module: Some((*module).to_owned()),
                    function: (*function).to_owned(),
                })
                .collect();
            Interrupt::of(&stack)
        };
        assert_eq!(of(&[("ntoskrnl.exe", "KeSetEvent"), ("storport.sys", "storport.sys+0x12")]), Interrupt::Disk);
        assert_eq!(of(&[("ntoskrnl.exe", "KiTimerExpiration"), ("ntoskrnl.exe", "KiRetireDpcList")]), Interrupt::Timer);
        assert_eq!(
            of(&[("[kernel.kallsyms]", "try_to_wake_up"), ("[kernel.kallsyms]", "hrtimer_wakeup")]),
            Interrupt::Timer
        );
        assert_eq!(of(&[("[kernel.kallsyms]", "blk_mq_complete_request")]), Interrupt::Disk);
        assert_eq!(of(&[("tcpip.sys", "TcpReceive")]), Interrupt::Network);
        let kernel = |function| ("[kernel.kallsyms]", function);
        let received =
            [kernel("try_to_wake_up"), kernel("sock_def_readable"), kernel("tcp_data_ready"), kernel("__napi_poll")];
        assert_eq!(of(&received), Interrupt::Network);
        assert_eq!(of(&[kernel("ata_sff_hsm_move")]), Interrupt::Disk);
        assert_eq!(of(&[("ntoskrnl.exe", "KiDpcInterrupt")]), Interrupt::Other);
        assert_eq!(of(&[]), Interrupt::Other);
    }

    #[test]
    fn only_a_timer_ends_a_sleep() {
        let of = |function: &str| {
            let method = |function: &str| MethodName { module: None, function: function.to_owned() };
            Interrupt::of_sleep(&[method("schedule"), method(function), method("main")])
        };
        for function in ["do_nanosleep", "hrtimer_nanosleep", "NtDelayExecution"] {
            assert_eq!(of(function), Some(Interrupt::Timer), "{function}");
        }
        // Others can end a wait that has a time limit.
        for function in ["schedule_hrtimeout_range", "ep_poll", "NtWaitForSingleObject", "futex_wait_queue"] {
            assert_eq!(of(function), None, "{function}");
        }
    }
}
