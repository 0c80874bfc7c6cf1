//! Names in texts and dumps of JIT code, each written here byte by byte.

use tracesift_fixtures::skipped;
use tracesift_symbols::jitdump::JitDump;
use tracesift_symbols::{Error, Table, kallsyms, perf_map};

/// The function at an address, with its arguments, and the line.
fn name(table: &Table, address: u64) -> String {
    let text = |frame: tracesift_symbols::Frame<'_>| {
        let line = frame.file.map(|file| format!(" {file}:{}", frame.line.unwrap_or(0))).unwrap_or_default();
        format!("{}{}{line}", frame.function, frame.arguments.unwrap_or_default())
    };
    table.frames(address).map(text).collect::<Vec<_>>().join(" < ")
}

const KALLSYMS: &str = "\
0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000000 T startup_64
ffffffff81000040 t local
ffffffff81000080 W weak
ffffffff81000080 t __strong
ffffffff81000080 t strong
ffffffff810000c0 T last
ffffffff81800000 D data
ffffffff82000000 b bss
ffffffffc0001000 t init_one\t[e1000e]
ffffffffc0001100 t probe\t[e1000e]
ffffffffc0002000 t other\t[snd]
ffffffffc0003000 t prog_0a1b_f\t[bpf]
ffffffffc0004000 t probe2\t[e1000e]
";

#[test]
fn kernel_and_modules_are_named_apart() {
    let parts = kallsyms::read(KALLSYMS.as_bytes()).unwrap();
    let modules: Vec<Option<&str>> = parts.iter().map(|part| part.module.as_deref()).collect();
    assert_eq!(modules, [None, Some("e1000e"), Some("snd")]);
    let [kernel, network, sound] = &parts[..] else { panic!("{parts:?}") };
    assert_eq!(name(&kernel.table, 0xffff_ffff_8100_0000), "startup_64");
    assert_eq!(name(&kernel.table, 0xffff_ffff_8100_003f), "startup_64");
    assert_eq!(name(&kernel.table, 0xffff_ffff_8100_0040), "local");
    assert_eq!(name(&kernel.table, 0xffff_ffff_8100_0081), "strong");
    assert_eq!(name(&kernel.table, 0xffff_ffff_8100_00c1), "last");
    assert_eq!(name(&kernel.table, 0xffff_ffff_8200_0000), "", "nobody knows where the last one ends");
    assert_eq!(name(&kernel.table, 0xffff_ffff_c000_1000), "", "the module's");
    assert_eq!(name(&network.table, 0xffff_ffff_c000_10ff), "init_one");
    assert_eq!(name(&network.table, 0xffff_ffff_c000_1fff), "probe");
    assert_eq!(name(&network.table, 0xffff_ffff_c000_2000), "", "another module's");
    assert_eq!(name(&network.table, 0xffff_ffff_c000_4001), "probe2");
    assert_eq!(name(&sound.table, 0xffff_ffff_c000_2001), "other");
}

#[test]
fn the_padding_in_front_of_a_function_has_its_name() {
    let text = "ffffffff81000000 T _text\nffffffff81000000 T first\nffffffff810000b0 t __pfx_write_null\n\
        ffffffff810000c0 t write_null\nffffffff810000f0 t __cfi_read_null\nffffffff81000100 t read_null\n";
    let parts = kallsyms::read(text.as_bytes()).unwrap();
    let named = |address| name(&parts[0].table, address);
    assert_eq!(named(0xffff_ffff_8100_00af), "first");
    assert_eq!(named(0xffff_ffff_8100_00bf), "write_null");
    assert_eq!(named(0xffff_ffff_8100_00c0), "write_null");
    assert_eq!(named(0xffff_ffff_8100_00f0), "read_null");
}

#[test]
fn a_system_map_has_no_modules() {
    let text = "0000000000000000 D __per_cpu_start\nffffffff81000000 T _text\nffffffff81000100 T f\n";
    let parts = kallsyms::read(text.as_bytes()).unwrap();
    assert_eq!((parts.len(), name(&parts[0].table, 0xffff_ffff_8100_0100)), (1, "f".to_owned()));
}

#[test]
fn hidden_addresses_are_refused() {
    let text = "0000000000000000 T _stext\n0000000000000000 t f\n0000000000000000 t probe\t[snd]\n";
    let error = kallsyms::read(text.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("kptr_restrict"), "{error}");
    for other in ["", "\n", "hello\n", "ffffffff81000000 T\n", "-1 T f\n", "+ffff T f\n"] {
        assert!(matches!(kallsyms::read(other.as_bytes()), Err(Error::OtherFormat(_))), "{other}");
    }
}

#[test]
fn the_running_kernel_lists_its_symbols() {
    let Ok(text) = std::fs::read("/proc/kallsyms") else {
        return skipped("no /proc/kallsyms");
    };
    match kallsyms::read(text.as_slice()) {
        Ok(parts) => assert!(parts[0].module.is_none() && !parts[0].table.is_empty()),
        Err(error) => assert!(error.to_string().contains("kptr_restrict"), "{error}"),
    }
}

#[test]
fn maps_are_read_as_perf_reads_them() {
    let text = b"7f0000001000 40 first function\n0x7f0000001040 0x20 _ZN1A1fEi\r\n\
        nonsense\n7f0000001060 0 empty\n7f0000001060 -1 negative\nffffffffffffffff 2 beyond\n7f0000001080 10\n\
        7f0000001010 10 LazyCompile:~g file.js:1:2\n7f0000002000 8 far\n10 8 low\n7f0000001010 8 again";
    let tables = perf_map::read(text).unwrap();
    let [low, high] = &tables[..] else { panic!("{tables:?}") };
    assert_eq!(name(low, 0x17), "low");
    assert_eq!(name(high, 0x7f00_0000_1000), "first function");
    assert_eq!(name(high, 0x7f00_0000_1010), "again");
    assert_eq!(name(high, 0x7f00_0000_1018), "LazyCompile:~g file.js:1:2");
    assert_eq!(name(high, 0x7f00_0000_1020), "first function");
    assert_eq!(name(high, 0x7f00_0000_1040), "A::f(int)");
    assert_eq!(name(high, 0x7f00_0000_1060), "");
    assert_eq!(name(high, 0x7f00_0000_2007), "far");
    for other in [&b""[..], b"\n", b"hello world\n", b"1 2\n"] {
        assert!(matches!(perf_map::read(other), Err(Error::OtherFormat(_))), "{other:?}");
    }
}

/// Numbers of a dump in one byte order.
struct Dump {
    bytes: Vec<u8>,
    big: bool,
}

impl Dump {
    fn new(big: bool, flags: u64) -> Self {
        let mut dump = Self { bytes: Vec::new(), big };
        dump.u32(0x4a69_5444).u32(1).u32(40).u32(62).u32(0).u32(1234).u64(99).u64(flags);
        dump
    }

    fn u32(&mut self, number: u32) -> &mut Self {
        self.bytes.extend(if self.big { number.to_be_bytes() } else { number.to_le_bytes() });
        self
    }

    fn u64(&mut self, number: u64) -> &mut Self {
        self.bytes.extend(if self.big { number.to_be_bytes() } else { number.to_le_bytes() });
        self
    }

    fn text(&mut self, text: &[u8]) -> &mut Self {
        self.bytes.extend(text);
        self.bytes.push(0);
        self
    }

    fn record(&mut self, id: u32, time: u64, fill: impl FnOnce(&mut Self) -> &mut Self) -> &mut Self {
        let mut record = Self { bytes: Vec::new(), big: self.big };
        fill(&mut record);
        self.u32(id).u32(u32::try_from(record.bytes.len()).unwrap() + 16).u64(time);
        self.bytes.extend(record.bytes);
        self
    }

    fn load(&mut self, time: u64, start: u64, size: u64, number: u64, name: &str) -> &mut Self {
        self.record(0, time, |record| {
            record.u32(1234).u32(1235).u64(start).u64(start).u64(size).u64(number).text(name.as_bytes());
            record.bytes.extend(vec![0x90; usize::try_from(size).unwrap()]);
            record
        })
    }

    fn lines(&mut self, start: u64, lines: &[(u64, u32, &[u8])]) -> &mut Self {
        self.record(2, 0, |record| {
            record.u64(start).u64(lines.len() as u64);
            for (address, line, file) in lines {
                record.u64(*address).u32(*line).u32(0).text(file);
            }
            record
        })
    }
}

#[test]
fn code_of_a_dump_depends_on_the_time() {
    for big in [false, true] {
        let mut dump = Dump::new(big, u64::from(big));
        dump.load(100, 0x1000, 0x40, 0, "first")
            .lines(0x2000, &[(0x2004, 7, b"a.js"), (0x2010, 9, b"\xff"), (0x1fff, 1, b"outside"), (0x2018, 3, b"b.js")])
            .load(150, 0x2000, 0x20, 1, "_ZN1A1fEi")
            .load(200, 0x1010, 0x10, 2, "second")
            .record(4, 210, |record| record.u64(7))
            .record(1, 300, |record| record.u32(1234).u32(1).u64(0).u64(0x2000).u64(0x5000).u64(0x20).u64(1))
            .record(1, 310, |record| record.u32(1234).u32(1).u64(0).u64(0x2000).u64(0x6000).u64(0x20).u64(77))
            .load(400, 0x1000, 0x40, 3, "third")
            .record(3, 500, |record| record)
            .load(600, 0x7000, 0x40, 4, "after the end");
        let dump = JitDump::read(&dump.bytes).unwrap();
        assert_eq!((dump.process, dump.is_processor_time), (1234, big));
        let at = |address, time| dump.place(address, time).map(|place| name(&dump.table, place)).unwrap_or_default();
        assert_eq!(at(0x1000, 99), "", "not yet");
        assert_eq!(at(0x1000, 100), "first");
        assert_eq!(at(0x1010, 199), "first");
        assert_eq!(at(0x1010, 200), "second");
        assert_eq!(at(0x1020, 200), "first");
        assert_eq!(at(0x1040, 200), "");
        assert_eq!(at(0x1010, 400), "third");
        assert_eq!(at(0x2000, 150), "A::f(int)");
        assert_eq!(at(0x2004, 150), "A::f(int) a.js:7");
        assert_eq!(at(0x2010, 150), "A::f(int) a.js:9");
        assert_eq!(at(0x201f, 150), "A::f(int) b.js:3");
        assert_eq!(at(0x5004, 299), "");
        assert_eq!(at(0x5004, 300), "A::f(int) a.js:7", "moved");
        assert_eq!(at(0x6004, 999), "", "of a number that was never loaded");
        assert_eq!(at(0x7000, 999), "");
        let lasting = |address| dump.lasting_place(address).map(|place| name(&dump.table, place)).unwrap_or_default();
        assert_eq!(lasting(0x1000), "", "first, then third");
        assert_eq!(lasting(0x2004), "A::f(int) a.js:7");
        assert_eq!(lasting(0x5004), "A::f(int) a.js:7");
        assert_eq!(lasting(0x6004), "");
    }
}

#[test]
fn code_of_impossible_size_costs_itself_only() {
    let mut dump = Dump::new(false, 0);
    let forged = |record: &mut Dump| {
        record.u32(1234).u32(1235).u64(0x9000).u64(0x9000).u64(0x4d_0000_0000).u64(0).text(b"forged");
    };
    dump.record(0, 1, |record| {
        forged(record);
        record
    });
    dump.load(2, 0x1000, 0x40, 1, "sound");
    let dump = JitDump::read(&dump.bytes).unwrap();
    assert_eq!(dump.lasting_place(0x9000), None);
    assert_eq!(dump.lasting_place(0x1010).map(|place| name(&dump.table, place)).as_deref(), Some("sound"));
}

#[test]
fn damaged_dumps_give_what_stands_before_the_damage() {
    let mut dump = Dump::new(false, 0);
    dump.load(100, 0x1000, 0x40, 0, "first").load(200, 0x2000, 0x40, 1, "second");
    for length in 0..dump.bytes.len() {
        let read = JitDump::read(&dump.bytes[..length]);
        match length {
            0..40 => assert!(matches!(read, Err(Error::OtherFormat(_))), "{length}"),
            40..166 => assert!(matches!(read, Err(Error::Empty)), "{length}"),
            _ => assert_eq!(name(&read.unwrap().table, 0), "first"),
        }
    }
    for (at, value) in [(4, 2), (44, 0), (44, 15), (44, 0xff)] {
        let mut damaged = dump.bytes.clone();
        damaged[at] = value;
        let _ = JitDump::read(&damaged);
    }
    let mut wrong = Dump::new(false, 0);
    wrong.load(1, u64::MAX - 3, 0x40, 0, "wraps").lines(5, &[]).record(2, 0, |record| record.u64(5).u64(u64::MAX));
    assert!(matches!(JitDump::read(&wrong.bytes), Err(Error::Empty)));
}

#[test]
fn what_languages_call_their_code_stays_whole() {
    let text = "1000 20 LazyCompile:*f(int) /a b.js:1:2\n2000 20 _ZN1A1gEi\n3000 20 void [System] A::B(int32)[Tier1]\n";
    let [table] = &perf_map::read(text.as_bytes()).unwrap()[..] else { panic!("one") };
    let parts = |address| {
        table.frames(address).next().map(|frame| (frame.function.to_owned(), frame.arguments.map(str::to_owned)))
    };
    assert_eq!(parts(0x1000), Some(("LazyCompile:*f(int) /a b.js:1:2".to_owned(), None)));
    assert_eq!(parts(0x2000), Some(("A::g".to_owned(), Some("(int)".to_owned()))));
    assert_eq!(parts(0x3000), Some(("void [System] A::B(int32)[Tier1]".to_owned(), None)));
}
