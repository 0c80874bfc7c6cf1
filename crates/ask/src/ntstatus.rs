//! Names of the NTSTATUS values with which processes end.

/// The name of an exit status; `None` for a number without a known name, which then is the program's own exit code.
#[must_use]
pub fn name(status: i32) -> Option<&'static str> {
    // The bits are what the constants are written in.
    let bits = u32::from_ne_bytes(status.to_ne_bytes());
    STATUSES.iter().find(|(value, _)| *value == bits).map(|(_, name)| *name)
}

/// Whether a process that ended so was ended by an error of the system's: a known status above success.
#[must_use]
pub fn is_crash(status: i32) -> bool {
    let bits = u32::from_ne_bytes(status.to_ne_bytes());
    // Severity warning (0x8) or error (0xC). Small numbers are exit codes that a program chose, whatever status shares the value.
    bits >= 0x8000_0000 && name(status).is_some()
}

const STATUSES: &[(u32, &str)] = &[
    (0x0000_0000, "STATUS_SUCCESS"),
    (0x0000_0102, "STATUS_TIMEOUT"),
    (0x0000_0103, "STATUS_PENDING"),
    (0x4000_0015, "STATUS_FATAL_APP_EXIT"),
    (0x4001_0004, "DBG_TERMINATE_PROCESS"),
    (0x4001_0005, "DBG_CONTROL_C"),
    (0x8000_0001, "STATUS_GUARD_PAGE_VIOLATION"),
    (0x8000_0002, "STATUS_DATATYPE_MISALIGNMENT"),
    (0x8000_0003, "STATUS_BREAKPOINT"),
    (0x8000_0004, "STATUS_SINGLE_STEP"),
    (0xC000_0001, "STATUS_UNSUCCESSFUL"),
    (0xC000_0002, "STATUS_NOT_IMPLEMENTED"),
    (0xC000_0005, "STATUS_ACCESS_VIOLATION"),
    (0xC000_0006, "STATUS_IN_PAGE_ERROR"),
    (0xC000_0008, "STATUS_INVALID_HANDLE"),
    (0xC000_000D, "STATUS_INVALID_PARAMETER"),
    (0xC000_000F, "STATUS_NO_SUCH_FILE"),
    (0xC000_0017, "STATUS_NO_MEMORY"),
    (0xC000_001C, "STATUS_INVALID_SYSTEM_SERVICE"),
    (0xC000_001D, "STATUS_ILLEGAL_INSTRUCTION"),
    (0xC000_0022, "STATUS_ACCESS_DENIED"),
    (0xC000_0023, "STATUS_BUFFER_TOO_SMALL"),
    (0xC000_0025, "STATUS_NONCONTINUABLE_EXCEPTION"),
    (0xC000_0026, "STATUS_INVALID_DISPOSITION"),
    (0xC000_0034, "STATUS_OBJECT_NAME_NOT_FOUND"),
    (0xC000_0035, "STATUS_OBJECT_NAME_COLLISION"),
    (0xC000_003A, "STATUS_OBJECT_PATH_NOT_FOUND"),
    (0xC000_0043, "STATUS_SHARING_VIOLATION"),
    (0xC000_004A, "STATUS_SUSPEND_COUNT_EXCEEDED"),
    (0xC000_004B, "STATUS_THREAD_IS_TERMINATING"),
    (0xC000_007B, "STATUS_INVALID_IMAGE_FORMAT"),
    (0xC000_0094, "STATUS_INTEGER_DIVIDE_BY_ZERO"),
    (0xC000_0095, "STATUS_INTEGER_OVERFLOW"),
    (0xC000_0096, "STATUS_PRIVILEGED_INSTRUCTION"),
    (0xC000_009A, "STATUS_INSUFFICIENT_RESOURCES"),
    (0xC000_00BB, "STATUS_NOT_SUPPORTED"),
    (0xC000_00FD, "STATUS_STACK_OVERFLOW"),
    (0xC000_010A, "STATUS_PROCESS_IS_TERMINATING"),
    (0xC000_0120, "STATUS_CANCELLED"),
    (0xC000_0135, "STATUS_DLL_NOT_FOUND"),
    (0xC000_0138, "STATUS_ORDINAL_NOT_FOUND"),
    (0xC000_0139, "STATUS_ENTRYPOINT_NOT_FOUND"),
    (0xC000_013A, "STATUS_CONTROL_C_EXIT"),
    (0xC000_0142, "STATUS_DLL_INIT_FAILED"),
    (0xC000_0144, "STATUS_UNHANDLED_EXCEPTION"),
    (0xC000_0194, "STATUS_POSSIBLE_DEADLOCK"),
    (0xC000_01AB, "STATUS_DRIVER_PROCESS_TERMINATED"),
    (0xC000_0221, "STATUS_IMAGE_CHECKSUM_MISMATCH"),
    (0xC000_022D, "STATUS_RETRY"),
    (0xC000_026B, "STATUS_DLL_INIT_FAILED_LOGOFF"),
    (0xC000_02C9, "STATUS_REG_NAT_CONSUMPTION"),
    (0xC000_0354, "STATUS_DEBUGGER_INACTIVE"),
    (0xC000_0374, "STATUS_HEAP_CORRUPTION"),
    (0xC000_0409, "STATUS_STACK_BUFFER_OVERRUN"),
    (0xC000_0417, "STATUS_INVALID_CRUNTIME_PARAMETER"),
    (0xC000_041D, "STATUS_FATAL_USER_CALLBACK_EXCEPTION"),
    (0xC000_0420, "STATUS_ASSERTION_FAILURE"),
    (0xC000_0602, "STATUS_FAIL_FAST_EXCEPTION"),
    (0xE043_4352, "EXCEPTION_COMPLUS"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_crashes() {
        assert_eq!(name(0), Some("STATUS_SUCCESS"));
        assert_eq!(name(-1_073_741_819), Some("STATUS_ACCESS_VIOLATION"));
        assert_eq!(name(1), None);
        assert!(is_crash(-1_073_741_819) && !is_crash(0) && !is_crash(0x102) && !is_crash(-1));
    }
}
