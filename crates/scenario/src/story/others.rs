//! The smaller recordings of the demo, in directories of their own, so that questions to the story's recordings do not meet them.

use tracesift_etl::Guid;
use tracesift_etl::write::{PointerSize, SessionOptions, WriteError};

use crate::{dns, power, providers};

/// A recording beside those of the story.
pub(super) struct Other {
    /// Its path in the folder of the demo, with `/`.
    pub(super) path: &'static str,
    /// Its bytes.
    pub(super) bytes: fn() -> Result<Vec<u8>, WriteError>,
}

/// All of them.
pub(super) const OTHERS: &[Other] = &[
    Other { path: "browser/SlowBrowsing_Skyrmion.etl", bytes: slow_browsing },
    Other { path: "win10/Balanced.etl", bytes: || windows_10(0, &[]) },
    Other { path: "win10/FastCoresFirst.etl", bytes: || windows_10(1, &power::FAST_CORES_FIRST) },
];

/// 2022-10-02 15:47:00 UTC, 17:47 on the recorder's clock.
const SLOW_BROWSING: i64 = 133_091_992_200_000_000;

/// The post on slow browsing: three programs wait twelve seconds for names, since a server does not answer.
fn slow_browsing() -> Result<Vec<u8>, WriteError> {
    const HEADSET: (u32, u32) = (6624, 6628);
    const ACCOUNTS: (u32, u32) = (6692, 6700);
    const BROWSER: (u32, u32) = (13612, 13620);
    let mut events = Vec::new();
    for mut lookup in dns::slow_browser(BROWSER) {
        match lookup.name {
            "graph.oculus.com" => lookup.caller = HEADSET,
            "login.microsoftonline.com" => lookup.caller = ACCOUNTS,
            _ => {}
        }
        lookup.log(PointerSize::Eight, &mut events);
    }
    let processes = [
        (dns::SERVICE, "svchost.exe"),
        (HEADSET.0, "OVRServer_x64.exe"),
        (ACCOUNTS.0, "backgroundTaskHost.exe"),
        (BROWSER.0, "firefox.exe"),
    ];
    let options = SessionOptions { start_filetime: SLOW_BROWSING, utc_bias_minutes: -120, ..SessionOptions::default() };
    providers::write_session(options, 80, &processes, events)
}

/// 2024-03-24 10:00:00 UTC.
const HYBRID: i64 = 133_557_480_000_000_000;

/// The post about processors with two kinds of cores: the power settings of Windows 10 as they are, and changed so that work runs on
/// the fast cores first. `minute` is the time of the recording.
fn windows_10(minute: i64, changed: &[(Guid, u32)]) -> Result<Vec<u8>, WriteError> {
    const SECOND: i64 = 1_000_000_000;
    let options = SessionOptions { start_filetime: HYBRID + minute * 600_000_000, ..SessionOptions::default() };
    let events = power::windows_10(9 * SECOND, changed, options.pointer_size);
    providers::write_session(options, 10, &[(4, "System")], events)
}
