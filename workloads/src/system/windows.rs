//! Windows.
#![expect(unsafe_code, reason = "the system's functions are foreign ones")]

use std::fs::OpenOptions;
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::OnceLock;

use memmap2::MmapMut;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_NO_BUFFERING;
use windows_sys::Win32::System::Diagnostics::Etw::{EventRegister, EventWriteString, REGHANDLE};
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::ProcessStatus::{K32EmptyWorkingSet, K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetCurrentThreadId, GetProcessTimes, GetThreadTimes, SetThreadPriority,
    THREAD_PRIORITY_BELOW_NORMAL, THREAD_PRIORITY_LOWEST, THREAD_PRIORITY_NORMAL,
};
use windows_sys::core::GUID;

use super::Priority;

pub(super) const CLOCK: &str = "QueryPerformanceCounter";

/// The provider of the marks: `wpr` and `xperf` record it by this GUID, 8d1f4e5a-6f0b-4c52-9a3e-2b7c0d94e611.
static PROVIDER: GUID = GUID::from_u128(0x8d1f_4e5a_6f0b_4c52_9a3e_2b7c_0d94_e611);

pub(super) fn time_ns() -> i64 {
    static FREQUENCY: OnceLock<i64> = OnceLock::new();
    let frequency = *FREQUENCY.get_or_init(|| {
        let mut frequency = 0;
        // SAFETY: it writes one number, to where one lies.
        unsafe { QueryPerformanceFrequency(&raw mut frequency) };
        frequency.max(1)
    });
    let mut ticks = 0;
    // SAFETY: it writes one number, to where one lies.
    unsafe { QueryPerformanceCounter(&raw mut ticks) };
    (i128::from(ticks) * 1_000_000_000 / i128::from(frequency)) as i64
}

/// Kernel and user time together; times come in units of 100 ns.
fn sum(kernel: FILETIME, user: FILETIME) -> i64 {
    let ns = |time: FILETIME| (i64::from(time.dwHighDateTime) << 32 | i64::from(time.dwLowDateTime)) * 100;
    ns(kernel) + ns(user)
}

pub(super) fn thread_cpu_ns() -> i64 {
    let [mut created, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle stands for this thread, and each of the four times is written to where one lies.
    unsafe { GetThreadTimes(GetCurrentThread(), &raw mut created, &raw mut ended, &raw mut kernel, &raw mut user) };
    sum(kernel, user)
}

pub(super) fn process_cpu_ns() -> i64 {
    let [mut created, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle stands for this process, and each of the four times is written to where one lies.
    unsafe { GetProcessTimes(GetCurrentProcess(), &raw mut created, &raw mut ended, &raw mut kernel, &raw mut user) };
    sum(kernel, user)
}

pub(super) fn stolen_ns() -> Option<i64> {
    None
}

pub(super) fn run_delay_ns() -> Option<i64> {
    None
}

pub(super) fn switches() -> Option<[i64; 2]> {
    None
}

pub(super) fn thread_id() -> i64 {
    // SAFETY: it takes nothing and always succeeds.
    unsafe { GetCurrentThreadId() }.into()
}

pub(super) fn page_faults() -> Option<i64> {
    let mut counters = PROCESS_MEMORY_COUNTERS::default();
    let size = u32::try_from(size_of::<PROCESS_MEMORY_COUNTERS>()).ok()?;
    // SAFETY: the handle stands for this process, and the size is that of the counters.
    let done = unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), &raw mut counters, size) };
    (done != 0).then(|| counters.PageFaultCount.into())
}

/// What a function that returns 0 for a failure has to say.
fn checked(done: i32) -> io::Result<()> {
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

pub(super) fn set_priority(priority: Priority) -> io::Result<()> {
    let priority = match priority {
        Priority::Normal => THREAD_PRIORITY_NORMAL,
        Priority::Low => THREAD_PRIORITY_BELOW_NORMAL,
        Priority::Lower => THREAD_PRIORITY_LOWEST,
    };
    // SAFETY: the handle stands for this thread.
    checked(unsafe { SetThreadPriority(GetCurrentThread(), priority) })
}

/// Handles have no limit worth raising.
pub(super) fn raise_descriptor_limit(_count: u64) -> io::Result<()> {
    Ok(())
}

/// Who opens a file without buffering, while nobody else has it open, makes the cache let go of it.
pub(super) fn drop_from_cache(path: &Path) -> io::Result<()> {
    OpenOptions::new().read(true).custom_flags(FILE_FLAG_NO_BUFFERING).open(path).map(drop)
}

/// There is a function for the whole process only.
pub(super) fn trim(_memory: &mut MmapMut) -> io::Result<()> {
    // SAFETY: the handle stands for this process; nothing is lost but that memory is resident.
    checked(unsafe { K32EmptyWorkingSet(GetCurrentProcess()) })
}

pub(super) fn mark(text: &str) -> bool {
    static HANDLE: OnceLock<Option<REGHANDLE>> = OnceLock::new();
    let register = || {
        let mut handle = REGHANDLE::default();
        // SAFETY: the GUID lives as long as the program, nobody is called back, and the handle is written to where one lies.
        let status = unsafe { EventRegister(&raw const PROVIDER, None, std::ptr::null(), &raw mut handle) };
        (status == 0).then_some(handle)
    };
    let Some(handle) = *HANDLE.get_or_init(register) else { return false };
    let text: Vec<u16> = text.encode_utf16().chain([0]).collect();
    // SAFETY: the handle is a registered one, and the text ends with a NUL.
    unsafe { EventWriteString(handle, 4, 0, text.as_ptr()) == 0 }
}
