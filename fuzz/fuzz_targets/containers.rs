//! A packed input: zip, 7z, cabinet, gzip or xz, as its first bytes say, with archives inside.

#![no_main]

mod scratch;

use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use tracesift_etl::ReadAt as _;
use tracesift_extract::input::container::{Limits, OpenOptions, open_file};

const MAX_UNPACKED: u64 = 4 << 20;

fuzz_target!(|bytes: &[u8]| {
    let folder = scratch::folder();
    // What has no signature is read as what its name says.
    let path = folder.join("x.zip");
    std::fs::write(&path, bytes).expect("written");
    let limits = Limits { max_unpacked: MAX_UNPACKED, max_dictionary: 64 << 20, ..Limits::default() };
    match open_file(&path, &OpenOptions { limits, ..OpenOptions::default() }, &mut |_| ControlFlow::Continue(())) {
        Ok(opened) => {
            let mut unpacked = 0;
            for member in &opened.members {
                let mut content = vec![0; usize::try_from(member.len()).expect("limited")];
                member.read_at(0, &mut content).expect("a member can be read");
                unpacked += member.len();
                assert!(member.name().is_none_or(|name| !name.contains(char::is_control) && !name.contains("..")));
            }
            assert!(unpacked <= MAX_UNPACKED);
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
