//! Pages that reads bring into the page cache, in recordings made byte by byte.

use serde_json::json;
use tracesift_fixtures::perf_tracepoints::{Format, Recording, SYS_ENTER, SYS_EXIT};
use tracesift_perf::Endianness;
use tracesift_trace::rows::{FileIoRow, FileRow};

use crate::synthetic::Extracting as _;

const ADDED: Format = Format {
    system: "filemap",
    name: "mm_filemap_add_to_page_cache",
    fields: "\tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned long i_ino;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned long index;\toffset:24;\tsize:8;\tsigned:0;\n\
        \tfield:dev_t s_dev;\toffset:32;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned char order;\toffset:36;\tsize:1;\tsigned:0;\n",
};

const READ: u64 = 0;
const WRITE: u64 = 1;
const OPENAT: u64 = 257;
const COPY_FILE_RANGE: u64 = 326;
const DIRECT: u64 = 0o40_000;
const DISK: u32 = 254 << 20 | 1;

struct Story(Recording);

impl Story {
    /// A call with pages that it adds: device, inode, first page, pages as a power of two.
    fn call(
        &mut self,
        time: u64,
        number: u64,
        arguments: &[u64],
        added: &[(u32, u64, u64, u8)],
        result: i64,
    ) -> &mut Self {
        let mut all = [0; 6];
        all[..arguments.len()].copy_from_slice(arguments);
        self.0.sample(0, 7, time, 0, |raw| {
            raw.u64(number).u64s(&all);
        });
        for (device, inode, index, order) in added {
            self.0.sample(2, 7, time + 1, 0, |raw| {
                raw.u64(99).u64(*inode).u64(*index).u32(*device).u8(*order);
            });
        }
        self.0.sample(1, 7, time + 5, 0, |raw| {
            raw.u64(number).u64(result.cast_unsigned());
        });
        self
    }
}

#[test]
fn reads_tell_what_was_not_in_the_page_cache() {
    let open = json!(["3 /data/a", "4 /data/b", "6 /proc/meminfo", "8 pipe:[5]"]);
    let look = json!({"pid": 7, "from_ns": 1010, "to_ns": 1020, "cwd": "/", "open": open});
    // What stood for the name of this one is known from here only.
    let last = json!({"pid": 7, "from_ns": 9000, "to_ns": 9010, "cwd": "/", "open": ["5 /data/direct"]});
    for endian in [Endianness::LittleEndian, Endianness::BigEndian] {
        let facts = json!({"format": 1, "descriptors": {"start": [look], "end": [last]}});
        let recording =
            Recording::new(endian, vec![SYS_ENTER, SYS_EXIT, ADDED]).with_facts("x86_64", facts.to_string());
        let mut story = Story(recording);
        story
            .call(1000, WRITE, &[1, 0, 1], &[], 1)
            // Four pages at once, one by itself, and a block of the file system.
            .call(1100, READ, &[3, 0, 8192], &[(6, 1, 0, 0), (DISK, 77, 0, 2), (DISK, 77, 4, 0)], 8192)
            .call(1200, READ, &[3, 0, 8192], &[], 8192)
            .call(1300, READ, &[4, 0, 100], &[(DISK, 78, 0, 0)], 100)
            // Nothing names these descriptors but their pages.
            .call(1400, READ, &[20, 0, 100], &[(DISK, 78, 9, 0)], 100)
            .call(1500, READ, &[21, 0, 100], &[(DISK, 79, 0, 0)], 100)
            .call(1600, READ, &[6, 0, 100], &[], 100)
            .call(1700, READ, &[8, 0, 100], &[], 100)
            .call(1800, OPENAT, &[0, 0xa000, DIRECT], &[], 5)
            .call(1900, READ, &[5, 0, 512], &[], 512)
            .call(2000, READ, &[3, 0, 512], &[(DISK, 77, 8, 0)], -5)
            .call(2100, COPY_FILE_RANGE, &[3, 0, 4, 0, 4096, 0], &[(DISK, 77, 9, 0), (DISK, 78, 1, 0)], 4096)
            .call(9100, READ, &[3, 0, 10], &[], 0);
        let extracted = story.0.extracted();
        let files: Vec<FileRow> = extracted.archive.rows().unwrap();
        let rows: Vec<FileIoRow> = extracted.archive.rows().unwrap();
        let told = |row: &FileIoRow| {
            let time = row.start + extracted.info.clock_zero;
            (time, row.file.map(|file| files[file.index()].path.as_str()), row.cache_read)
        };
        let found: Vec<_> = rows.iter().map(told).collect();
        let expected = [
            (1000, None, None),
            (1100, Some("/data/a"), Some(6 * 4096)),
            (1200, Some("/data/a"), Some(0)),
            (1300, Some("/data/b"), Some(4096)),
            (1400, Some("/data/b"), None),
            (1500, Some("254:1:79"), None),
            (1600, Some("/proc/meminfo"), None),
            (1700, Some("pipe:"), None),
            (1800, Some("/data/direct"), None),
            (1900, Some("/data/direct"), None),
            (2000, Some("/data/a"), None),
            (2100, Some("/data/a"), None),
            (2100, Some("/data/b"), None),
            (9100, None, None),
        ];
        assert_eq!(found, expected, "{endian:?}");
    }
}
