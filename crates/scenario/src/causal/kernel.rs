//! The kernel's part of the stacks: what it shows while a thread waits, wakes another one or is taken from
//! its CPU.

use super::history::{Device, Leave};
use super::world::{DiskOp, WaitKind};

/// Functions of Windows, `module!function`, leaf first.
pub(super) mod windows {
    use super::{Device, DiskOp, Leave, WaitKind};

    pub(in super::super) const IDLE: &[&str] = &["ntoskrnl.exe!KiIdleLoop"];
    pub(in super::super) const READY: &[&str] = &["ntoskrnl.exe!KeSetEvent", "ntoskrnl.exe!KiSystemServiceCopyEnd"];

    pub(in super::super) fn interrupt(device: Device) -> &'static [&'static str] {
        match device {
            Device::Timer => &["ntoskrnl.exe!KiTimerExpiration", "ntoskrnl.exe!KiRetireDpcList"],
            Device::Disk => {
                &["storport.sys!StorPortNotification", "ntoskrnl.exe!KiExecuteAllDpcs", "ntoskrnl.exe!KiRetireDpcList"]
            }
        }
    }

    pub(in super::super) fn leaving(leave: Leave) -> &'static [&'static str] {
        match leave {
            Leave::Waits(WaitKind::Sleep) => &[
                "ntoskrnl.exe!KiSwapContext",
                "ntoskrnl.exe!KeDelayExecutionThread",
                "ntoskrnl.exe!NtDelayExecution",
                "ntoskrnl.exe!KiSystemServiceCopyEnd",
            ],
            Leave::Waits(WaitKind::Disk(DiskOp::Fault)) => &[
                "ntoskrnl.exe!KiSwapContext",
                "ntoskrnl.exe!MiIssueHardFault",
                "ntoskrnl.exe!MmAccessFault",
                "ntoskrnl.exe!KiPageFault",
            ],
            Leave::Waits(WaitKind::Disk(DiskOp::Read)) => &[
                "ntoskrnl.exe!KiSwapContext",
                "Ntfs.sys!NtfsFsdRead",
                "ntoskrnl.exe!NtReadFile",
                "ntoskrnl.exe!KiSystemServiceCopyEnd",
            ],
            Leave::Waits(WaitKind::Disk(DiskOp::Write)) => &[
                "ntoskrnl.exe!KiSwapContext",
                "Ntfs.sys!NtfsFsdWrite",
                "ntoskrnl.exe!NtWriteFile",
                "ntoskrnl.exe!KiSystemServiceCopyEnd",
            ],
            Leave::Waits(WaitKind::Gate) => &[
                "ntoskrnl.exe!KiSwapContext",
                "ntoskrnl.exe!ExpWaitForResource",
                "Ntfs.sys!NtfsAcquireSharedVcb",
                "ntoskrnl.exe!KiSystemServiceCopyEnd",
            ],
            Leave::Waits(WaitKind::Reply) => &[
                "ntoskrnl.exe!KiSwapContext",
                "WdFilter.sys!MpAsyncFileScan",
                "FLTMGR.SYS!FltpPerformPostCallbacks",
                "ntoskrnl.exe!KiSystemServiceCopyEnd",
            ],
            Leave::Waits(WaitKind::Stopped) => &["ntoskrnl.exe!KiSwapContext", "ntoskrnl.exe!KiSchedulerApc"],
            Leave::Waits(WaitKind::Queue) => {
                &["ntoskrnl.exe!KiSwapContext", "ntoskrnl.exe!KeRemovePriQueue", "ntoskrnl.exe!KiSystemServiceCopyEnd"]
            }
            Leave::Waits(WaitKind::Lock | WaitKind::Event | WaitKind::Join) => &[
                "ntoskrnl.exe!KiSwapContext",
                "ntoskrnl.exe!KeWaitForSingleObject",
                "ntoskrnl.exe!NtWaitForSingleObject",
                "ntoskrnl.exe!KiSystemServiceCopyEnd",
            ],
            Leave::Preempted => &["ntoskrnl.exe!KiSwapContext", "ntoskrnl.exe!KiDispatchInterrupt"],
            Leave::Ends | Leave::Idle => &["ntoskrnl.exe!KiSwapContext"],
        }
    }
}

/// Functions of the Linux kernel, leaf first.
pub(super) mod linux {
    use super::{Device, DiskOp, Leave, WaitKind};

    pub(in super::super) const READY: &[&str] = &["try_to_wake_up", "do_syscall_64"];

    pub(in super::super) fn interrupt(device: Device) -> &'static [&'static str] {
        match device {
            Device::Timer => &["try_to_wake_up", "hrtimer_wakeup", "hrtimer_interrupt"],
            Device::Disk => &["try_to_wake_up", "blk_mq_complete_request", "nvme_irq"],
        }
    }

    pub(in super::super) fn leaving(leave: Leave) -> &'static [&'static str] {
        match leave {
            Leave::Waits(WaitKind::Sleep) => &["schedule", "do_nanosleep", "do_syscall_64"],
            Leave::Waits(WaitKind::Disk(DiskOp::Fault)) => {
                &["schedule", "io_schedule", "folio_wait_bit_common", "filemap_fault", "exc_page_fault"]
            }
            Leave::Waits(WaitKind::Disk(DiskOp::Read)) => {
                &["schedule", "io_schedule", "folio_wait_bit_common", "vfs_read", "do_syscall_64"]
            }
            Leave::Waits(WaitKind::Disk(DiskOp::Write)) => {
                &["schedule", "io_schedule", "submit_bio_wait", "vfs_write", "do_syscall_64"]
            }
            Leave::Waits(WaitKind::Gate) => &["schedule", "wait_transaction_locked", "vfs_write", "do_syscall_64"],
            Leave::Waits(WaitKind::Reply) => &["schedule", "fanotify_get_response", "vfs_open", "do_syscall_64"],
            Leave::Waits(WaitKind::Stopped) => &["schedule", "get_signal", "exit_to_user_mode_loop"],
            Leave::Waits(WaitKind::Queue) => &["schedule", "ep_poll", "do_syscall_64"],
            Leave::Waits(WaitKind::Lock | WaitKind::Event | WaitKind::Join) => {
                &["schedule", "futex_wait", "do_syscall_64"]
            }
            Leave::Preempted => &["preempt_schedule_irq", "exit_to_user_mode_loop"],
            Leave::Ends => &["schedule", "do_exit"],
            Leave::Idle => &["schedule_idle", "do_idle"],
        }
    }
}
