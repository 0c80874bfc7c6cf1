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

/// Whether a number is the known status of an operation.
#[must_use]
pub fn is_of_operation(number: i64) -> bool {
    u32::try_from(number).is_ok_and(|status| of_operation(status).is_some())
}

/// The status with which an operation ended, as a text: its name, else its number as headers write it.
#[must_use]
pub fn text(number: i64) -> String {
    let Ok(status) = u32::try_from(number) else { return number.to_string() };
    of_operation(status).map_or_else(|| format!("{status:#x}"), str::to_owned)
}

/// The name of the status with which an operation of the system ended; `None` for a number without a known name.
fn of_operation(status: u32) -> Option<&'static str> {
    let place = OPERATIONS.binary_search_by_key(&status, |(value, _)| *value).ok()?;
    OPERATIONS.get(place).map(|(_, name)| *name)
}

/// Statuses of operations on files, in their order.
const OPERATIONS: &[(u32, &str)] = &[
    (0x0000_0000, "STATUS_SUCCESS"),
    (0x0000_0102, "STATUS_TIMEOUT"),
    (0x0000_0103, "STATUS_PENDING"),
    (0x0000_0104, "STATUS_REPARSE"),
    (0x0000_0108, "STATUS_OPLOCK_BREAK_IN_PROGRESS"),
    (0x0000_010B, "STATUS_NOTIFY_CLEANUP"),
    (0x0000_010C, "STATUS_NOTIFY_ENUM_DIR"),
    (0x8000_0005, "STATUS_BUFFER_OVERFLOW"),
    (0x8000_0006, "STATUS_NO_MORE_FILES"),
    (0x8000_001A, "STATUS_NO_MORE_ENTRIES"),
    (0x8000_002D, "STATUS_STOPPED_ON_SYMLINK"),
    (0xC000_0001, "STATUS_UNSUCCESSFUL"),
    (0xC000_0002, "STATUS_NOT_IMPLEMENTED"),
    (0xC000_0003, "STATUS_INVALID_INFO_CLASS"),
    (0xC000_0004, "STATUS_INFO_LENGTH_MISMATCH"),
    (0xC000_0008, "STATUS_INVALID_HANDLE"),
    (0xC000_000D, "STATUS_INVALID_PARAMETER"),
    (0xC000_000E, "STATUS_NO_SUCH_DEVICE"),
    (0xC000_000F, "STATUS_NO_SUCH_FILE"),
    (0xC000_0010, "STATUS_INVALID_DEVICE_REQUEST"),
    (0xC000_0011, "STATUS_END_OF_FILE"),
    (0xC000_0012, "STATUS_WRONG_VOLUME"),
    (0xC000_0013, "STATUS_NO_MEDIA_IN_DEVICE"),
    (0xC000_0022, "STATUS_ACCESS_DENIED"),
    (0xC000_0023, "STATUS_BUFFER_TOO_SMALL"),
    (0xC000_0024, "STATUS_OBJECT_TYPE_MISMATCH"),
    (0xC000_002A, "STATUS_NOT_LOCKED"),
    (0xC000_0033, "STATUS_OBJECT_NAME_INVALID"),
    (0xC000_0034, "STATUS_OBJECT_NAME_NOT_FOUND"),
    (0xC000_0035, "STATUS_OBJECT_NAME_COLLISION"),
    (0xC000_0039, "STATUS_OBJECT_PATH_INVALID"),
    (0xC000_003A, "STATUS_OBJECT_PATH_NOT_FOUND"),
    (0xC000_003B, "STATUS_OBJECT_PATH_SYNTAX_BAD"),
    (0xC000_003E, "STATUS_DATA_ERROR"),
    (0xC000_003F, "STATUS_CRC_ERROR"),
    (0xC000_0043, "STATUS_SHARING_VIOLATION"),
    (0xC000_0044, "STATUS_QUOTA_EXCEEDED"),
    (0xC000_004F, "STATUS_EAS_NOT_SUPPORTED"),
    (0xC000_0050, "STATUS_EA_TOO_LARGE"),
    (0xC000_0051, "STATUS_NONEXISTENT_EA_ENTRY"),
    (0xC000_0052, "STATUS_NO_EAS_ON_FILE"),
    (0xC000_0053, "STATUS_EA_CORRUPT_ERROR"),
    (0xC000_0054, "STATUS_FILE_LOCK_CONFLICT"),
    (0xC000_0055, "STATUS_LOCK_NOT_GRANTED"),
    (0xC000_0056, "STATUS_DELETE_PENDING"),
    (0xC000_0061, "STATUS_PRIVILEGE_NOT_HELD"),
    (0xC000_007E, "STATUS_RANGE_NOT_LOCKED"),
    (0xC000_007F, "STATUS_DISK_FULL"),
    (0xC000_0098, "STATUS_FILE_INVALID"),
    (0xC000_009A, "STATUS_INSUFFICIENT_RESOURCES"),
    (0xC000_00A2, "STATUS_MEDIA_WRITE_PROTECTED"),
    (0xC000_00A3, "STATUS_DEVICE_NOT_READY"),
    (0xC000_00AB, "STATUS_INSTANCE_NOT_AVAILABLE"),
    (0xC000_00AC, "STATUS_PIPE_NOT_AVAILABLE"),
    (0xC000_00AD, "STATUS_INVALID_PIPE_STATE"),
    (0xC000_00AE, "STATUS_PIPE_BUSY"),
    (0xC000_00B0, "STATUS_PIPE_DISCONNECTED"),
    (0xC000_00B1, "STATUS_PIPE_CLOSING"),
    (0xC000_00B5, "STATUS_IO_TIMEOUT"),
    (0xC000_00B6, "STATUS_FILE_FORCED_CLOSED"),
    (0xC000_00BA, "STATUS_FILE_IS_A_DIRECTORY"),
    (0xC000_00BB, "STATUS_NOT_SUPPORTED"),
    (0xC000_00BE, "STATUS_BAD_NETWORK_PATH"),
    (0xC000_00C9, "STATUS_NETWORK_NAME_DELETED"),
    (0xC000_00CA, "STATUS_NETWORK_ACCESS_DENIED"),
    (0xC000_00CC, "STATUS_BAD_NETWORK_NAME"),
    (0xC000_00D0, "STATUS_REQUEST_NOT_ACCEPTED"),
    (0xC000_00D4, "STATUS_NOT_SAME_DEVICE"),
    (0xC000_00D5, "STATUS_FILE_RENAMED"),
    (0xC000_00D9, "STATUS_PIPE_EMPTY"),
    (0xC000_00E2, "STATUS_OPLOCK_NOT_GRANTED"),
    (0xC000_00E3, "STATUS_INVALID_OPLOCK_PROTOCOL"),
    (0xC000_0101, "STATUS_DIRECTORY_NOT_EMPTY"),
    (0xC000_0102, "STATUS_FILE_CORRUPT_ERROR"),
    (0xC000_0103, "STATUS_NOT_A_DIRECTORY"),
    (0xC000_0106, "STATUS_NAME_TOO_LONG"),
    (0xC000_0120, "STATUS_CANCELLED"),
    (0xC000_0121, "STATUS_CANNOT_DELETE"),
    (0xC000_0123, "STATUS_FILE_DELETED"),
    (0xC000_0128, "STATUS_FILE_CLOSED"),
    (0xC000_014B, "STATUS_PIPE_BROKEN"),
    (0xC000_014F, "STATUS_UNRECOGNIZED_VOLUME"),
    (0xC000_0185, "STATUS_IO_DEVICE_ERROR"),
    (0xC000_019C, "STATUS_FS_DRIVER_REQUIRED"),
    (0xC000_01A1, "STATUS_INVALID_LOCK_RANGE"),
    (0xC000_0225, "STATUS_NOT_FOUND"),
    (0xC000_026E, "STATUS_VOLUME_DISMOUNTED"),
    (0xC000_0275, "STATUS_NOT_A_REPARSE_POINT"),
    (0xC000_0279, "STATUS_IO_REPARSE_TAG_NOT_HANDLED"),
    (0xC000_0904, "STATUS_FILE_NOT_AVAILABLE"),
    (0xC000_0906, "STATUS_VIRUS_INFECTED"),
    (0xC000_0907, "STATUS_VIRUS_DELETED"),
];

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

    #[test]
    fn statuses_of_operations_are_in_order() {
        assert!(super::OPERATIONS.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(super::of_operation(0xC000_0043), Some("STATUS_SHARING_VIOLATION"));
        assert_eq!(super::of_operation(0xC000_0007), None);
        // Both lists call a status the same.
        for (value, known) in super::STATUSES {
            assert!(super::of_operation(*value).is_none_or(|name| name == *known), "{value:#x}");
        }
    }
}
