//! Which method an address belongs to, by process, time and image, and which IL.

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use tracesift_trace::code_map::CodeMap;
use tracesift_trace::methods::{EntryPointRecord, ManagedModuleRecord, MethodEdge, MethodRecord, MethodsBuilder};
use tracesift_trace::modules::{AddressSpace, ImageEdge, ImageMapping, Images, PdbIdentity};
use tracesift_trace::population::{Edge, ProcessFacts};
use tracesift_trace::rows::{FrameRow, ManagedCodeRow, SymbolRow};
use tracesift_trace::stack_keys::StackKeysBuilder;
use tracesift_trace::stacks::Stacks;
use tracesift_trace::{Clock, FrameId, Lifetimes, Population, RowSink};

#[derive(Default)]
struct Rows {
    frames: Vec<FrameRow>,
    symbols: Vec<SymbolRow>,
    managed: Vec<ManagedCodeRow>,
}

impl RowSink for Rows {
    fn frame(&mut self, row: &FrameRow) {
        self.frames.push(*row);
    }
    fn symbol(&mut self, row: &SymbolRow) {
        self.symbols.push(row.clone());
    }
    fn managed_code(&mut self, row: &ManagedCodeRow) {
        self.managed.push(row.clone());
    }
}

/// Where the image lies in processes 1 and 2: at two addresses.
const IMAGE: [u64; 2] = [0x10_0000, 0x50_0000];

/// From a time on a method, or none.
type Life = (i64, Option<String>);

/// Process 1 was there before; process 2 begins at 100. One tick is one nanosecond.
struct Story {
    methods: MethodsBuilder,
}

struct Told {
    population: Population,
    stacks: Stacks,
    rows: Rows,
}

/// 256 bytes of code.
fn method(ticks: i64, pid: u32, edge: MethodEdge, start: u64, function: &str) -> MethodRecord<'_> {
    let arguments = "void  (int32)";
    MethodRecord {
        ticks,
        pid,
        tid: 7,
        edge,
        start,
        size: 0x100,
        cold: false,
        id: start,
        module: 9,
        token: 0x0600_0001,
        function,
        arguments,
    }
}

impl Story {
    fn new() -> Self {
        Self { methods: MethodsBuilder::new() }
    }

    fn told(self) -> Told {
        let clock = Clock::new(0, 1_000_000_000);
        let mut lifetimes = Lifetimes::new();
        lifetimes.process(0, 1, Edge::AliveAtStart, ProcessFacts::default());
        lifetimes.process(100, 2, Edge::Start, ProcessFacts::default());
        let mut population = lifetimes.freeze(clock, 0);
        let mut images = Images::new();
        for (pid, base) in (1..).zip(IMAGE) {
            images.image(&ImageMapping {
                ticks: i64::from(pid) * 50,
                pid,
                edge: ImageEdge::Load,
                base,
                size: 0x10_000,
                checksum: 1,
                time_date_stamp: 2,
                path: r"C:\a\lib.ni.dll",
            });
        }
        let modules = images.freeze(clock, &mut population, str::to_owned, |address| address >= 1 << 63, |_| {});
        let methods = self.methods.freeze(&mut population, &modules);
        let keys = StackKeysBuilder::new(None).seal();
        Told {
            population,
            stacks: Stacks::new(Arc::new(keys), Arc::new(CodeMap { modules, methods, kernel_from: 1 << 63 }), 1 << 20),
            rows: Rows::default(),
        }
    }
}

impl Told {
    fn frame(&mut self, pid: u32, address: u64, ticks: i64) -> FrameId {
        let process = self.population.process_at(pid, ticks);
        self.stacks.frame_in(AddressSpace::Process(process), address, ticks, &mut self.rows)
    }

    fn name(&mut self, pid: u32, address: u64, ticks: i64) -> Option<String> {
        let frame = self.frame(pid, address, ticks);
        let mut names = self.rows.symbols.iter().filter(|row| row.frame == frame);
        let name = names.next().map(|row| format!("{} {}", row.source, row.function));
        assert!(names.next().is_none(), "two names for a frame");
        name
    }
}

#[test]
fn a_method_has_a_piece_of_code_per_tier() {
    let mut story = Story::new();
    let add = |story: &mut Story, ticks, edge, start| {
        assert!(story.methods.method(&method(ticks, 1, edge, start, "N.T.M")));
    };
    add(&mut story, 10, MethodEdge::Load, 0x1000);
    add(&mut story, 20, MethodEdge::Load, 0x2000);
    add(&mut story, 90, MethodEdge::Rundown, 0x1000);
    add(&mut story, 90, MethodEdge::Rundown, 0x2000);
    add(&mut story, 90, MethodEdge::Rundown, 0x3000);
    let mut told = story.told();
    assert_eq!(told.name(1, 0x1010, 9), None, "not compiled yet");
    assert_eq!(told.name(1, 0x1010, 10).as_deref(), Some("jit N.T.M"));
    assert_eq!(told.name(1, 0x2010, 15), None);
    assert_eq!(told.name(1, 0x2010, 80).as_deref(), Some("jit N.T.M"));
    assert_eq!(told.name(1, 0x1010, 80).as_deref(), Some("jit N.T.M"), "the first tier may still run");
    assert_eq!(told.name(1, 0x3010, 1).as_deref(), Some("rundown N.T.M"), "there from the start, as far as known");
    assert_eq!(told.name(2, 0x1010, 120), None, "another process");
    // Nothing but time passed between these two.
    assert_eq!(told.frame(1, 0x1010, 12), told.frame(1, 0x1010, 85));
}

#[test]
fn code_addresses_are_used_again() {
    let mut story = Story::new();
    for (ticks, edge, start, function) in [
        (10, MethodEdge::Load, 0x1000, "A"),
        (20, MethodEdge::Unload, 0x1000, "A"),
        (30, MethodEdge::Load, 0x1000, "B"),
        // Without an unload record of B, and at another start.
        (40, MethodEdge::Load, 0x1000, "C"),
        (50, MethodEdge::Load, 0x1080, "D"),
        // Known only when it goes.
        (60, MethodEdge::Unload, 0x8000, "E"),
    ] {
        assert!(story.methods.method(&method(ticks, 1, edge, start, function)));
    }
    let mut told = story.told();
    let name = |told: &mut Told, address, ticks| told.name(1, address, ticks).map(|name| name[4..].to_owned());
    for (address, ticks, expected) in [
        (0x10f0, 9, None),
        (0x10f0, 15, Some("A")),
        (0x10f0, 25, None),
        (0x10f0, 35, Some("B")),
        (0x10f0, 45, Some("C")),
        (0x10f0, 55, Some("D")),
        (0x1010, 55, Some("C")),
        (0x8010, 55, Some("E")),
        (0x8010, 65, None),
        // A call that never returns is the last instruction: its return address lies behind the method.
        (0x1180, 55, Some("D")),
        (0x1181, 55, None),
    ] {
        assert_eq!(name(&mut told, address, ticks).as_deref(), expected, "{address:#x} at {ticks}");
    }
    let frames = [15, 35, 45, 55].map(|ticks| told.frame(1, 0x10f0, ticks));
    assert!(frames.is_sorted_by(|a, b| a != b), "other code is another frame: {frames:?}");
}

#[test]
fn what_one_process_names_in_an_image_is_named_in_all() {
    let mut story = Story::new();
    let mut record = method(300, 1, MethodEdge::Rundown, IMAGE[0] + 0x400, "N.T.Shared");
    assert!(story.methods.method(&record));
    record.start = 0x9000;
    assert!(story.methods.method(&record));
    let mut told = story.told();
    // The process without a rundown comes first.
    assert_eq!(told.name(2, IMAGE[1] + 0x410, 150).as_deref(), Some("rundown N.T.Shared"));
    assert_eq!(told.frame(1, IMAGE[0] + 0x410, 150), told.frame(2, IMAGE[1] + 0x410, 150));
    assert_eq!(told.name(2, IMAGE[1] + 0x3ff, 150), None);
    assert_eq!(told.name(2, IMAGE[1] + 0x501, 150), None);
    assert_eq!(told.name(2, 0x9000, 150), None, "not in an image");
    assert!(told.rows.symbols.iter().all(|row| row.module.as_deref() == Some("lib.ni.dll")));
}

#[test]
fn entry_points_count_in_processes_that_told_them_all() {
    let mut story = Story::new();
    for (pid, rva, function) in [(1, 0x400, "old"), (2, 0x800, "N.T.A"), (2, 0x900, "N.T.B")] {
        let start = IMAGE[usize::from(pid == 2)] + rva;
        let record = EntryPointRecord { ticks: 200, pid, start, function, arguments: "void  ()" };
        assert!(story.methods.entry_point(&record));
    }
    assert!(story.methods.method(&method(300, 1, MethodEdge::Rundown, IMAGE[0] + 0xa00, "N.T.C")));
    let mut told = story.told();
    assert_eq!(told.name(1, IMAGE[0] + 0x410, 250), None, "perhaps of a method that it had used before");
    assert_eq!(told.name(1, IMAGE[0] + 0x810, 250), None);
    assert_eq!(told.name(2, IMAGE[1] + 0x810, 250).as_deref(), Some("entry-point N.T.A"));
    assert_eq!(told.name(1, IMAGE[0] + 0x810, 250).as_deref(), Some("entry-point N.T.A"), "it is the same frame");
    assert_eq!(told.name(2, IMAGE[1] + 0x9ff, 250).as_deref(), Some("entry-point N.T.B"));
    assert_eq!(told.name(2, IMAGE[1] + 0xa00, 250).as_deref(), Some("rundown N.T.C"));
    assert_eq!(told.name(2, IMAGE[1] + 0xc00, 250), None, "behind a method that ends");
}

#[test]
fn lines_are_found_by_token_and_il_offset() {
    let mut story = Story::new();
    let pdb = PdbIdentity { name: r"C:\build\a.pdb".to_owned(), guid: "g".to_owned(), age: 1 };
    let methods = &mut story.methods;
    let module = ManagedModuleRecord { ticks: 5, pid: 1, module: 9, path: r"C:\a\a.dll", pdb: None };
    methods.module(module.clone());
    let load = |start| method(10, 1, MethodEdge::Load, start, "N.T.M");
    // As the runtime logs it: a method, then its map; two threads at once.
    assert!(methods.method(&load(0x1000)));
    assert!(methods.method(&MethodRecord { tid: 8, ..load(0x2000) }));
    assert!(methods.il_map(1, 7, 0x1000, [(0, 0), (0x20, 5), (0x40, 9)].into_iter()));
    assert!(methods.il_map(1, 8, 0x2000, [(0, 100)].into_iter()));
    // As a rundown does: the map first. A second range goes on where the first one ends.
    let rundown = |start, id| MethodRecord { ticks: 90, edge: MethodEdge::Rundown, id, ..load(start) };
    assert!(methods.il_map(1, 7, 0x3000, [(0, 1), (0x100, 2), (0x180, 3)].into_iter()));
    assert!(methods.method(&rundown(0x3000, 0x3000)));
    assert!(methods.method(&MethodRecord { cold: true, ..rundown(0x7000, 0x3000) }));
    assert!(methods.method(&rundown(0x4000, 0x4000)));
    // No method of any metadata.
    assert!(methods.method(&MethodRecord { token: 0x0600_0000, ..rundown(0x5000, 0x5000) }));
    methods.module(ManagedModuleRecord { ticks: 95, pdb: Some(pdb.clone()), ..module });
    let mut told = story.told();
    let mut code = |address| {
        let frame = told.frame(1, address, 50);
        let row = told.rows.managed.iter().find(|row| row.frame == frame)?;
        let said = (row.path.as_str(), row.pdb_name.as_deref(), row.pdb_guid.as_deref(), row.pdb_age, row.token);
        assert_eq!(said, (r"C:\a\a.dll", Some(pdb.name.as_str()), Some("g"), Some(1), 0x0600_0001));
        Some((row.il_offset, row.call_il_offset))
    };
    for (address, expected) in [
        (0x1000, Some((Some(0), None))),
        (0x1020, Some((Some(5), Some(0)))),
        (0x1021, Some((Some(5), Some(5)))),
        (0x1100, Some((None, Some(9)))),
        (0x2080, Some((Some(100), Some(100)))),
        (0x30ff, Some((Some(1), Some(1)))),
        (0x7000, Some((Some(2), None))),
        (0x7080, Some((Some(3), Some(2)))),
        (0x4010, Some((None, None))),
        (0x5010, None),
        (0x6010, None),
    ] {
        assert_eq!(code(address), expected, "{address:#x}");
    }
}

#[test]
fn numbers_of_modules_are_used_again() {
    let mut story = Story::new();
    for (ticks, path) in [(10, r"C:\first.dll"), (20, r"C:\first.dll"), (30, r"C:\second.dll")] {
        story.methods.module(ManagedModuleRecord { ticks, pid: 1, module: 9, path, pdb: None });
    }
    for (ticks, start) in [(5, 0x1000), (25, 0x2000), (35, 0x3000)] {
        assert!(story.methods.method(&method(ticks, 1, MethodEdge::Load, start, "M")));
    }
    let mut told = story.told();
    for start in [0x1000, 0x2000, 0x3000] {
        told.frame(1, start, 99);
    }
    let modules: Vec<_> = told.rows.symbols.iter().map(|row| row.module.as_deref()).collect();
    assert_eq!(modules, [Some("first.dll"), Some("first.dll"), Some("second.dll")]);
}

proptest! {
    /// Against a search through all records: code that came last, and was not unloaded, has the address.
    #[test]
    fn the_last_code_at_an_address_has_it(records in prop::collection::vec((0..6_u64, 0..2_u32, 0..4_u32), 0..40)) {
        let mut story = Story::new();
        // Slots of 0x200 bytes hold at most one piece of code at a time.
        let mut slots: HashMap<(u32, u64), Vec<Life>> = HashMap::new();
        for (number, (slot, pid, kind)) in records.iter().enumerate() {
            let (ticks, pid, start) = (200 + number as i64 * 10, pid + 1, 0x1000 + slot * 0x200);
            let lives = slots.entry((pid, *slot)).or_default();
            let alive = lives.last().and_then(|(_, name)| name.clone());
            let name = match (&alive, kind) {
                (Some(name), 0) => name.clone(),
                _ => format!("M{number}"),
            };
            let unloads = *kind == 0 && alive.is_some();
            let edge = if unloads { MethodEdge::Unload } else { MethodEdge::Load };
            prop_assert!(story.methods.method(&method(ticks, pid, edge, start, &name)));
            lives.push((ticks, (!unloads).then_some(name)));
        }
        let mut told = story.told();
        for (number, (slot, pid, _)) in records.iter().enumerate() {
            let (ticks, pid) = (205 + number as i64 * 10, pid + 1);
            for slot in [*slot, (slot + 1) % 6] {
                let lives = slots.get(&(pid, slot)).map_or(&[][..], Vec::as_slice);
                let expected = lives.iter().rfind(|(from, _)| *from <= ticks).and_then(|(_, name)| name.clone());
                let found = told.name(pid, 0x1000 + slot * 0x200 + 0x33, ticks).map(|name| name[4..].to_owned());
                prop_assert_eq!(found, expected, "slot {} at {}", slot, ticks);
            }
        }
    }
}
