//! Handles, objects and views: bytes that Windows wrote, as another program's comments have them with the values beside, and the
//! same structures by hand with pointers of four bytes and in older versions.

use tracesift_etl::payload::{
    HandleDuplication, HandleOperation, HandleRundown, MappedView, ObjectOperation, ObjectReference, ObjectTypeName,
    Payload,
};
use tracesift_etl::write::PointerSize;
use tracesift_etl::write::payload::Bytes;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |digit: u8| char::from(digit).to_digit(16).expect("a digit") as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
}

#[test]
fn handles_that_windows_wrote() {
    let handle = |bytes: &str| {
        let bytes = hex(bytes);
        let event = HandleOperation::parse(&bytes, 2, 8).expect("a handle");
        assert!(event.name.is_some_and(|name| name.is_empty()));
        (event.object, event.handle, event.object_type)
    };
    assert_eq!(handle("e033c59481c2ffff a0070000 1000 0000"), (0xFFFF_C281_94C5_33E0, 0x7A0, 16));
    assert_eq!(handle("60cde8ae83c2ffff 783a0000 1000 0000"), (0xFFFF_C283_AEE8_CD60, 0x3A78, 16));
    assert_eq!(handle("6002f9ae83c2ffff 44490000 1000 0000"), (0xFFFF_C283_AEF9_0260, 0x4944, 16));
    let bytes = hex("603eeaae83c2ffff 48560000 dc1d0080 04000000 1000 a8500000");
    let duplicate = HandleDuplication {
        object: 0xFFFF_C283_AEEA_3E60,
        source_handle: 0x5648,
        target_handle: 0x8000_1DDC,
        target_process_id: 4,
        object_type: 16,
        source_process_id: Some(20_648),
    };
    assert_eq!(HandleDuplication::parse(&bytes, 3, 8), Ok(duplicate));
    let bytes = [hex("a0092e860c81ffff 04000000 44000080 1300"), wide(r"\KernelObjects\HighMemoryCondition")].concat();
    let open = HandleRundown::parse(&bytes, 2, 8).expect("an open handle");
    assert_eq!((open.object, open.process_id, open.handle), (0xFFFF_810C_862E_09A0, 4, 0x8000_0044));
    assert_eq!(open.object_type, 19);
    assert!(open.name.is_some_and(|name| name == r"\KernelObjects\HighMemoryCondition"));
}

#[test]
fn objects_types_and_views_that_windows_wrote() {
    let bytes = [hex("0800 0000"), wide("Thread")].concat();
    let named = ObjectTypeName::parse(&bytes, 2, 8).expect("a type");
    assert!(named.object_type == 8 && named.name == "Thread");
    for (bytes, object) in [
        ("00c813a689a8ffff 3000 0000 00000000", 0xFFFF_A889_A613_C800),
        ("809d13a689a8ffff 30000000 00000000", 0xFFFF_A889_A613_9D80),
    ] {
        let expected = ObjectOperation { object, object_type: 48 };
        assert_eq!(ObjectOperation::parse(&hex(bytes), 2, 8), Ok(expected));
    }
    for (bytes, object) in [
        ("b0243db389a8ffff 44666c74 01000000", 0xFFFF_A889_B33D_24B0),
        ("50a0e5ef89a8ffff 44666c74 01000000", 0xFFFF_A889_EFE5_A050),
    ] {
        let expected = ObjectReference { object, tag: *b"Dflt", count: 1 };
        assert_eq!(ObjectReference::parse(&hex(bytes), 2, 8), Ok(expected));
    }
    let bytes = hex("00007e3eb9020000 70fb3f2c0882ffff 000000000000c100 0010000000000000 0000000000000000 80190000");
    let view = MappedView {
        base: 0x2B9_3E7E_0000,
        file_key: 0xFFFF_8208_2C3F_FB70,
        misc: 0xC1_0000_0000_0000,
        size: 0x1000,
        offset: Some(0),
        process_id: 6528,
    };
    assert_eq!(MappedView::parse(&bytes, 3, 8), Ok(view));
}

/// A pointer, then 32-bit numbers.
fn numbers(pointer_size: PointerSize, pointer: u64, numbers: &[u32]) -> Bytes {
    let mut bytes = Bytes::new(pointer_size);
    bytes.pointer(pointer);
    numbers.iter().for_each(|number| bytes.u32(*number));
    bytes
}

#[test]
fn both_pointer_sizes_and_older_versions() {
    for (size, pointer_size) in [(PointerSize::Four, 4), (PointerSize::Eight, 8)] {
        let mut bytes = numbers(size, 0x8123_4560, &[0x44]);
        bytes.u16(3);
        let unnamed = HandleOperation::parse(bytes.as_slice(), 0, pointer_size).expect("a handle without a name");
        assert_eq!((unnamed.object, unnamed.handle, unnamed.object_type), (0x8123_4560, 0x44, 3));
        assert_eq!(unnamed.name, None);
        bytes.utf16(r"\Sessions\1\Lock");
        let named = HandleOperation::parse(bytes.as_slice(), 2, pointer_size).expect("a handle with a name");
        assert!(named.name.is_some_and(|name| name == r"\Sessions\1\Lock"));

        let mut bytes = numbers(size, 0x8123_4560, &[0x44, 0x48, 9]);
        bytes.u16(3);
        let old = HandleDuplication::parse(bytes.as_slice(), 2, pointer_size).expect("a duplicate");
        assert_eq!((old.target_handle, old.target_process_id, old.source_process_id), (0x48, 9, None));
        bytes.u32(7);
        let new = HandleDuplication::parse(bytes.as_slice(), 3, pointer_size).expect("a duplicate");
        assert_eq!(new, HandleDuplication { source_process_id: Some(7), ..old });

        let mut bytes = numbers(size, 0x8123_4560, &[9, 0x44]);
        bytes.u16(3);
        let open = HandleRundown::parse(bytes.as_slice(), 0, pointer_size).expect("an open handle");
        assert_eq!((open.process_id, open.handle, open.object_type, open.name), (9, 0x44, 3, None));

        let mut bytes = numbers(size, 0x8123_4560, &[]);
        bytes.u16(3);
        let object = ObjectOperation { object: 0x8123_4560, object_type: 3 };
        assert_eq!(ObjectOperation::parse(bytes.as_slice(), 0, pointer_size), Ok(object));

        let bytes = numbers(size, 0x8123_4560, &[u32::from_le_bytes(*b"ObHd"), 2]);
        let reference = ObjectReference { object: 0x8123_4560, tag: *b"ObHd", count: 2 };
        assert_eq!(ObjectReference::parse(bytes.as_slice(), 2, pointer_size), Ok(reference));

        for version in [2, 3] {
            let mut bytes = numbers(size, 0x7010_0000, &[]);
            bytes.pointer(0x8123_4560);
            bytes.u64(5);
            bytes.pointer(0x2000);
            if version == 3 {
                bytes.u64(0x1_0000_0000);
            }
            bytes.u32(9);
            let view = MappedView {
                base: 0x7010_0000,
                file_key: 0x8123_4560,
                misc: 5,
                size: 0x2000,
                offset: (version == 3).then_some(0x1_0000_0000),
                process_id: 9,
            };
            assert_eq!(MappedView::parse_with_rest(bytes.as_slice(), version, pointer_size), Ok((view, &[][..])));
        }
    }
}

#[test]
fn a_payload_that_is_cut_is_an_error() {
    let bytes = hex("603eeaae83c2ffff 48560000 dc1d0080 04000000 1000 a8500000");
    for length in 0..22 {
        assert!(HandleDuplication::parse(&bytes[..length], 3, 8).is_err(), "{length}");
    }
    let bytes = hex("00007e3eb9020000 70fb3f2c0882ffff 000000000000c100 0010000000000000 0000000000000000 80190000");
    for length in 0..bytes.len() {
        assert!(MappedView::parse(&bytes[..length], 3, 8).is_err(), "{length}");
    }
}
