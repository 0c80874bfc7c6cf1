//! A stream on which a decoder goes round for ever, and work that is left to itself for that.

use std::convert::Infallible;
use std::io::{Cursor, Read};
use std::ops::ControlFlow;
use std::time::Duration;

use sevenz_rust2::{Archive, ArchiveEntry, ArchiveWriter, BlockDecoder, Password};

use crate::{LastingErrors, Unfinished, watched};

/// Where the properties stand in the header of the first LZMA2 chunk of a 7z file: behind the file's own header, a control byte and two sizes.
const PROPERTIES: usize = 32 + 5;

/// A 7z file of one member whose first chunk has properties that do not exist.
fn bent() -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Cursor::new(Vec::new())).expect("begun");
    writer.push_archive_entry(ArchiveEntry::new_file("x"), Some(&[7; 1000][..])).expect("packed");
    let mut bytes = writer.finish().expect("finished").into_inner();
    bytes[PROPERTIES] = 0xff;
    bytes
}

/// Reads the member again after it has failed, as buffers do, and gives both errors.
fn read_twice(wrapped: bool) -> (String, String) {
    let mut file = Cursor::new(bent());
    let password = Password::empty();
    let archive = Archive::read(&mut file, &password).expect("the table of contents is whole");
    let mut errors = None;
    let walked = BlockDecoder::new(1, 0, &archive, &password, &mut file).for_each_entries(&mut |_, reader| {
        let mut lasting = LastingErrors::new(&mut *reader);
        let mut read = |into: &mut [u8]| lasting.read(into).expect_err("a bent stream").to_string();
        let first = read(&mut [0; 100]);
        let second =
            if wrapped { read(&mut [0; 100]) } else { reader.read(&mut [0; 100]).expect_err("bent").to_string() };
        errors = Some((first, second));
        Ok(false)
    });
    walked.expect("walked");
    errors.expect("one member")
}

#[test]
fn a_decoder_that_failed_is_not_asked_again() {
    let (first, second) = read_twice(true);
    assert!(first == second && first.contains("corrupted"), "{first}, {second}");
}

/// The decoder really does go round here. Should this fail because it has learned to end, the test above may lose its reason.
#[test]
fn a_decoder_that_goes_round_is_left() {
    let listen = |never: Infallible| match never {};
    let result = watched(Duration::from_millis(100), listen, |_| read_twice(false));
    assert_eq!(result, Err(Unfinished::Silent));
}

#[test]
fn results_and_messages_arrive() {
    let mut heard = Vec::new();
    let listen = |message| {
        heard.push(message);
        ControlFlow::Continue(())
    };
    let count = watched(Duration::from_secs(600), listen, |reporter| {
        (0..5).take_while(|at| reporter.say(*at).is_continue()).count()
    });
    assert_eq!((count, heard), (Ok(5), vec![0, 1, 2, 3, 4]));
}

#[test]
fn whoever_listens_can_stop_it() {
    let listen = |at| if at < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    let result = watched(Duration::from_secs(600), listen, |reporter| while reporter.say(2).is_continue() {});
    assert_eq!(result, Err(Unfinished::Stopped));
}

#[test]
#[should_panic(expected = "as it would without a thread")]
fn a_panic_goes_on() {
    let listen = |(): ()| ControlFlow::Continue(());
    let _ = watched(Duration::from_secs(600), listen, |_| panic!("as it would without a thread"));
}
