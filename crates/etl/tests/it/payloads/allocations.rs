//! Allocations of pages, heap blocks and pool blocks, by hand in both pointer sizes. All versions have the same fields.

use tracesift_etl::payload::{
    HeapAllocation, HeapFree, HeapPages, HeapReallocation, Payload, PoolBlock, VirtualChange, VirtualMemory,
    VirtualRegion,
};

/// Pointers and 32-bit numbers as bytes.
enum Field {
    Pointer(u64),
    Number(u32),
}

use Field::{Number, Pointer};

fn bytes(pointer_size: u8, fields: &[Field]) -> Vec<u8> {
    let field = |field: &Field| match *field {
        Pointer(value) => value.to_le_bytes()[..usize::from(pointer_size)].to_vec(),
        Number(value) => value.to_le_bytes().to_vec(),
    };
    fields.iter().flat_map(field).collect()
}

/// Whether fields decode to a value in all versions, and whether fewer bytes than `least` are an error.
fn check<'a, T: Payload<'a> + PartialEq + std::fmt::Debug>(bytes: &'a [u8], pointer_size: u8, least: usize, value: &T) {
    for version in 0..=3 {
        let (read, rest) = T::parse_with_rest(bytes, version, pointer_size).expect("a payload");
        assert_eq!(read, *value, "version {version}");
        assert!(rest.is_empty(), "version {version}: {rest:?}");
    }
    for length in 0..least {
        assert!(T::parse(&bytes[..length], 2, pointer_size).is_err(), "{length}");
    }
}

#[test]
fn pages() {
    for size in [4, 8] {
        let base = if size == 4 { 0x7654_3000 } else { 0x7FF6_1234_5000 };
        let memory = VirtualMemory { base, length: 0x2_0000, process_id: 4711, flags: 0x3000 };
        let fields = [Pointer(base), Pointer(0x2_0000), Number(4711), Number(0x3000)];
        let payload = bytes(size, &fields);
        check(&payload, size, payload.len(), &memory);
        let payload = [payload, bytes(size, &[Pointer(0x1_8000)])].concat();
        check(&payload, size, payload.len(), &VirtualRegion { memory, committed: 0x1_8000 });
        let payload = bytes(size, &[Pointer(base), Pointer(0x2_0000), Number(1)]);
        check(&payload, size, payload.len(), &VirtualChange { base, length: 0x2_0000, flags: 1 });
    }
}

/// Windows puts four bytes behind the flags of some events, so that records end at a multiple of eight.
#[test]
fn bytes_behind_the_last_field_do_no_harm() {
    let payload = bytes(8, &[Pointer(0x1000), Pointer(0x2000), Number(7), Number(0x8000), Number(0)]);
    let memory = VirtualMemory { base: 0x1000, length: 0x2000, process_id: 7, flags: 0x8000 };
    assert_eq!(VirtualMemory::parse(&payload, 2, 8), Ok(memory));
}

#[test]
fn blocks_of_heaps() {
    for size in [4, 8] {
        let (heap, at, new) = (0x2A_0000, 0x2A_4460, 0x2A_8000);
        let payload = bytes(size, &[Pointer(heap), Pointer(100), Pointer(at), Number(2)]);
        assert_eq!(HeapAllocation::parse(&payload, 2, size), Ok(HeapAllocation { heap, size: 100, address: at }));
        let pointers = [heap, new, at, 300, 100].map(Pointer);
        let payload = bytes(size, &pointers);
        let realloc = HeapReallocation { heap, new_address: new, old_address: at, new_size: 300, old_size: 100 };
        check(&payload, size, payload.len(), &realloc);
        let payload = bytes(size, &[Pointer(heap), Pointer(at)]);
        check(&payload, size, usize::from(size), &HeapFree { heap, address: Some(at) });
        check(&payload[..usize::from(size)], size, usize::from(size), &HeapFree { heap, address: None });
        let payload = bytes(size, &[Pointer(heap), Pointer(0x4000), Pointer(new)]);
        check(&payload, size, payload.len(), &HeapPages { heap, size: 0x4000, address: new });
    }
}

#[test]
fn blocks_of_pools() {
    for size in [4, 8] {
        let tag = u32::from_le_bytes(*b"MmSt");
        let payload = bytes(size, &[Number(1), Number(tag), Pointer(0x120), Pointer(0x8123_4560)]);
        let block = PoolBlock { pool_type: 1, tag: *b"MmSt", size: 0x120, address: 0x8123_4560, session: None };
        check(&payload, size, payload.len(), &block);
        let payload = [payload, bytes(size, &[Number(3)])].concat();
        assert_eq!(PoolBlock::parse(&payload, 2, size), Ok(PoolBlock { session: Some(3), ..block }));
    }
}
