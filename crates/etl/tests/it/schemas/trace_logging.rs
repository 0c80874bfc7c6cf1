//! TraceLogging.

use crate::schemas::build::{described, event};
use crate::schemas::shown;

fn text(fields: &[u8], payload: &[u8]) -> String {
    shown(&[event(0, 0, &described("Happened", fields), payload)])
}

#[test]
fn out_types_have_a_numbering_of_their_own() {
    let fields = [
        &b"Text\0\x01"[..],
        b"Utf8\0\x02",
        b"Char\0\x86\x02",
        b"Yes\0\x84\x03",
        b"Bool\0\x0d",
        b"Hex\0\x88\x04",
        b"Pid\0\x88\x05",
        b"Port\0\x86\x07",
        b"Time\0\x89\x10",
        b"Signed\0\x88\x11",
        b"Code\0\x15",
        b"Counted\0\x17",
        b"Bytes\0\x0e",
        b"Status\0\x87\x0e",
    ]
    .concat();
    let mut payload = b"a\0b\0\0\0\xc3\xa9\0M\0\x01\x01\0\0\0".to_vec();
    payload.extend(255u32.to_le_bytes());
    payload.extend(4711u32.to_le_bytes());
    payload.extend([0x1f, 0x90]);
    payload.extend(132_000_000_000_000_000i64.to_le_bytes());
    payload.extend((-1i32).to_le_bytes());
    payload.extend(0x1000u64.to_le_bytes());
    payload.extend(b"\x02\0hi");
    payload.extend(b"\x02\0\xbe\xef");
    payload.extend(0xc000_0005u32.to_le_bytes());
    assert_eq!(
        text(&fields, &payload),
        "Described/Happened Text=ab Utf8=é Char=M Yes=true Bool=true Hex=0xff Pid=4711 Port=8080 \
         Time=2019-04-17T18:40:00.0000000Z Signed=-1 Code=0x1000 Counted=hi Bytes=beef Status=0xc0000005"
    );
}

#[test]
fn arrays_and_structures() {
    let fields = [
        &b"Three\0\x24\x03\0"[..],
        b"Some\0\x46",
        // Two members; as many of it as the payload says; with tags behind the out type.
        b"Pairs\0\xd8\x82\x81\x01",
        b"Key\0\x04",
        b"Inner\0\x98\x01",
        b"Value\0\x06",
        b"Last\0\x04",
    ]
    .concat();
    let payload = [1, 2, 3, 2, 0, 4, 0, 5, 0, 2, 0, 6, 7, 0, 8, 9, 0, 10];
    assert_eq!(
        text(&fields, &payload),
        "Described/Happened Three=[1, 2, 3] Some=[4, 5] \
         Pairs=[{Key=6, Inner={Value=7}}, {Key=8, Inner={Value=9}}] Last=10"
    );
}

#[test]
fn the_description_counts_and_not_the_id() {
    let first = event(3, 0, &described("First", b"A\0\x04"), &[1]);
    let second = event(3, 0, &described("Second", b"B\0\x04"), &[2]);
    assert_eq!(shown(&[first, second]), "Described/Second B=2");
}

#[test]
fn what_cannot_be_described_stays_raw() {
    // An unknown type, a structure whose members are missing, a name without end.
    for fields in [&b"A\0\x1f"[..], b"S\0\x98\x02A\0\x04", b"Name"] {
        assert_eq!(text(fields, &[1, 2, 3]), "raw");
    }
}
