//! A file name: test, duration, machine and time, and the names it goes by.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_extract::input::{file_kind, test_name};

fuzz_target!(|name: &str| {
    for spelling in file_kind::spellings(name) {
        assert!(name.starts_with(spelling));
    }
    assert!(name.starts_with(file_kind::stem(name)));
    let _ = (file_kind::is_recording_name(name), file_kind::is_extract_name(name));
    let Some(test) = test_name(name) else { return };
    assert!(!test.test.is_empty() && !test.machine.is_empty());
    // A name written anew from what was read of it says the same.
    if let (Some(tier), Some(status), Some(time)) = (test.tier, test.status, test.performed_at) {
        let time: String = time.to_string().replace(' ', "-").chars().filter(|c| !":".contains(*c)).collect();
        let (date, clock) = time.split_at(10);
        let again = format!(
            "{}_{}ms_{}_{}_TestStatus-{}_{}{clock}",
            test.test,
            test.duration_ms,
            test.machine,
            tier.as_str(),
            status.as_str(),
            date.replace('-', ""),
        );
        assert_eq!(test_name(&again).as_ref(), Some(&test), "{again}");
    }
});
