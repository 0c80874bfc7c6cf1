//! Names of the scheduler's numbers.

/// Thread state: waiting for a CPU. A thread that is switched out in this state was pre-empted.
pub const THREAD_STATE_READY: u8 = 1;
/// Thread state: chosen to run next on a CPU.
pub const THREAD_STATE_STANDBY: u8 = 3;
/// Thread state: ended.
pub const THREAD_STATE_TERMINATED: u8 = 4;
/// Thread state: waiting for an object, a time or another thread; only here the wait reason means something.
pub const THREAD_STATE_WAITING: u8 = 5;
/// Thread state: ready, but not yet placed on a CPU.
pub const THREAD_STATE_DEFERRED_READY: u8 = 7;

const THREAD_STATES: [&str; 9] = [
    "Initialized",
    "Ready",
    "Running",
    "Standby",
    "Terminated",
    "Waiting",
    "Transition",
    "DeferredReady",
    // Windows Vista only.
    "GateWait",
];

const WAIT_REASONS: [&str; 40] = [
    "Executive",
    "FreePage",
    "PageIn",
    "PoolAllocation",
    "DelayExecution",
    "Suspended",
    "UserRequest",
    "WrExecutive",
    "WrFreePage",
    "WrPageIn",
    "WrPoolAllocation",
    "WrDelayExecution",
    "WrSuspended",
    "WrUserRequest",
    // Named WrSpare0 by newer systems.
    "WrEventPair",
    "WrQueue",
    "WrLpcReceive",
    "WrLpcReply",
    "WrVirtualMemory",
    "WrPageOut",
    "WrRendezvous",
    "WrKeyedEvent",
    "WrTerminated",
    "WrProcessInSwap",
    "WrCpuRateControl",
    "WrCalloutStack",
    "WrKernel",
    "WrResource",
    "WrPushLock",
    "WrMutex",
    "WrQuantumEnd",
    "WrDispatchInt",
    "WrPreempted",
    "WrYieldExecution",
    "WrFastMutex",
    "WrGuardedMutex",
    "WrRundown",
    "WrAlertByThreadId",
    "WrDeferredPreempt",
    "WrPhysicalFault",
];

/// Name of a thread state (KTHREAD_STATE); `None` for numbers of newer systems, which are shown as numbers.
pub fn thread_state_name(state: u8) -> Option<&'static str> {
    THREAD_STATES.get(usize::from(state)).copied()
}

/// Name of a wait reason (KWAIT_REASON); `None` for numbers of newer systems, which are shown as numbers.
pub fn wait_reason_name(reason: u8) -> Option<&'static str> {
    WAIT_REASONS.get(usize::from(reason)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_at_their_numbers() {
        assert_eq!(thread_state_name(THREAD_STATE_WAITING), Some("Waiting"));
        assert_eq!(thread_state_name(THREAD_STATE_DEFERRED_READY), Some("DeferredReady"));
        assert_eq!(thread_state_name(9), None);
        let known = [(0, "Executive"), (6, "UserRequest"), (15, "WrQueue"), (30, "WrQuantumEnd"), (32, "WrPreempted")];
        for (number, name) in known {
            assert_eq!(wait_reason_name(number), Some(name));
        }
        assert_eq!(wait_reason_name(37), Some("WrAlertByThreadId"));
        assert_eq!(wait_reason_name(39), Some("WrPhysicalFault"));
        assert_eq!(wait_reason_name(40), None);
    }
}
