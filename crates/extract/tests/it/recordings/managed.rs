//! Managed code: names of frames held against a count of its own, which reads the method records byte by byte, and what their source lines are
//! found by.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use tracesift_archive::Archive;
use tracesift_etl::{EtlFile, Merge, MergeOptions};
use tracesift_trace::FrameId;
use tracesift_trace::rows::{
    CpuSampleRow, EventRow, FrameRow, ManagedCodeRow, ModuleRow, ProcessModuleRow, ProcessRow, StackRow, SymbolRow,
};

use tracesift_extract::symbols::managed::lines;
use tracesift_extract::{EventSelection, Options};
use tracesift_fixtures::cases;

use crate::recordings::support::{extract_file, extract_with};

const RUNTIME: &str = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4";
const RUNDOWN: &str = "a669021c-c450-4609-a035-5af59af4df18";

/// A piece of code, as one record tells of it.
#[derive(Debug)]
struct Piece {
    pid: i64,
    start: u64,
    end: u64,
    /// Nanoseconds.
    from: i64,
    until: i64,
    rundown: bool,
    name: String,
    method: u64,
    token: u64,
    /// Native and IL offsets, as recorded.
    map: Option<Vec<(u64, u64)>>,
}

/// The recording in a zip as a file.
fn unpacked(zip: &Path, folder: &Path) -> Vec<EtlFile> {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(zip).expect("opened")).expect("a zip");
    let all: Vec<_> = archive.file_names().map(|name| name.expect("a name").into_owned()).collect();
    let names: Vec<_> = all.into_iter().filter(|name| name.ends_with(".etl")).collect();
    let open = |(number, name): (usize, &String)| {
        let path = folder.join(format!("{number}.etl"));
        let mut file = std::fs::File::create(&path).expect("created");
        std::io::copy(&mut archive.by_name(name).expect("a member"), &mut file).expect("unpacked");
        EtlFile::open_path(path).expect("a recording")
    };
    names.iter().enumerate().map(open).collect()
}

fn number<const N: usize>(payload: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(&payload[at..at + N]);
    u64::from_le_bytes(bytes)
}

/// Two-byte characters up to a zero, and the place behind it.
fn text(payload: &[u8], mut at: usize) -> (String, usize) {
    let mut units = Vec::new();
    loop {
        let unit = number::<2>(payload, at) as u16;
        at += 2;
        if unit == 0 {
            return (String::from_utf16_lossy(&units), at);
        }
        units.push(unit);
    }
}

/// Every method record of the recording.
fn pieces(files: &[EtlFile], archive: &Archive) -> Vec<Piece> {
    let info = archive.info();
    let ns = |ticks: i64| {
        let product = i128::from(ticks - info.clock_zero) * 1_000_000_000;
        i64::try_from(product.div_euclid(i128::from(info.clock_frequency))).expect("a time")
    };
    let mut pieces: Vec<Piece> = Vec::new();
    let mut announced = HashMap::new();
    let mut merge = Merge::new(files, MergeOptions::default());
    while let Some(record) = merge.next() {
        let provider = record.provider().map(|provider| provider.to_string());
        let rundown = match provider.as_deref() {
            Some(RUNDOWN) => true,
            Some(RUNTIME) => false,
            _ => continue,
        };
        let id = record.event_id().expect("an event");
        let payload = record.payload();
        let pid = i64::from(record.pid().expect("a process"));
        let method = if payload.len() >= 8 { number::<8>(payload, 0) } else { 0 };
        if (id, rundown) == (190, false) || (id, rundown) == (150, true) {
            let count = number::<2>(payload, 17) as usize;
            let offset = |of: usize, index: usize| number::<4>(payload, 19 + 4 * (of * count + index));
            let map: Vec<_> = (0..count).map(|index| (offset(1, index), offset(0, index))).collect();
            // The rundown of a method stands behind its map, everything else in front of it.
            if rundown {
                announced.insert((pid, method), map);
            } else {
                let last = pieces.iter_mut().rfind(|piece| (piece.pid, piece.method) == (pid, method));
                last.expect("the method").map = Some(map);
            }
        }
        if id != 143 && id != 144 {
            continue;
        }
        let (start, size) = (number::<8>(payload, 16), number::<4>(payload, 24));
        let (namespace, at) = text(payload, 36);
        let (name, _) = text(payload, at);
        let name = if namespace.is_empty() { name } else { format!("{namespace}.{name}") };
        let time = ns(record.time());
        if id == 144 && !rundown {
            let open = |piece: &&mut Piece| (piece.pid, piece.start, piece.until) == (pid, start, i64::MAX);
            if let Some(piece) = pieces.iter_mut().rev().find(open) {
                piece.until = time;
                continue;
            }
        }
        let from = if id == 143 && !rundown { time } else { i64::MIN };
        let until = if id == 144 && !rundown { time } else { i64::MAX };
        let map = announced.remove(&(pid, method)).filter(|_| rundown);
        let token = number::<4>(payload, 28);
        pieces.push(Piece { pid, start, end: start + size, from, until, rundown, name, method, token, map });
    }
    pieces
}

/// What a count found.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    /// Frames inside of a recorded piece of code at a time at which it was there.
    inside: usize,
    /// Of these, inside of a piece that a rundown names.
    inside_rundown: usize,
    /// Of those inside, those whose symbol is the name of such a piece.
    named: usize,
    /// Frames of user code outside of any image.
    outside_images: usize,
    /// Of these, those without any name.
    nameless: usize,
}

fn count(archive: &Archive, pieces: &[Piece]) -> Count {
    let frames: Vec<FrameRow> = archive.rows().expect("frames");
    let stacks: Vec<StackRow> = archive.rows().expect("stacks");
    let processes: Vec<ProcessRow> = archive.rows().expect("processes");
    let mut names: HashMap<FrameId, String> = HashMap::new();
    for symbol in archive.rows::<SymbolRow>().expect("symbols") {
        assert!(symbol.depth == 0 && symbol.file.is_none(), "{symbol:?}");
        assert!(["jit", "rundown", "entry-point"].contains(&&*symbol.source), "{symbol:?}");
        assert!(names.insert(symbol.frame, symbol.function).is_none(), "two names for a frame");
    }
    let mut bases: HashMap<_, Vec<u64>> = HashMap::new();
    for row in archive.rows::<ProcessModuleRow>().expect("mappings") {
        bases.entry((row.process, row.module)).or_default().push(row.base.cast_unsigned());
    }
    let mut by_pid: BTreeMap<i64, Vec<&Piece>> = BTreeMap::new();
    pieces.iter().for_each(|piece| by_pid.entry(piece.pid).or_default().push(piece));

    let samples = archive.rows::<CpuSampleRow>().expect("samples");
    let events = archive.rows::<EventRow>().expect("events");
    let seen = samples.iter().map(|row| (row.time, Some(row.process), row.stack));
    let seen: HashSet<_> = seen.chain(events.iter().map(|row| (row.time, row.process, row.stack))).collect();
    let (mut inside, mut in_rundown, mut named) = (HashSet::new(), HashSet::new(), HashSet::new());
    for (time, process, stack) in seen {
        let (Some(process), Some(stack)) = (process, stack) else { continue };
        let Some(of_process) = by_pid.get(&processes[process.index()].pid) else { continue };
        for id in &stacks[stack.index()].frames {
            let frame = &frames[id.index()];
            let addresses: Vec<u64> = match (frame.address, frame.module, frame.rva) {
                (Some(address), ..) => vec![address.cast_unsigned()],
                (None, Some(module), Some(rva)) => {
                    let bases = bases.get(&(process, module)).map_or(&[][..], Vec::as_slice);
                    bases.iter().map(|base| base + rva.cast_unsigned()).collect()
                }
                _ => panic!("{frame:?}"),
            };
            let at = |piece: &&&Piece| {
                addresses.iter().any(|address| (piece.start..piece.end).contains(address))
                    && (piece.from..=piece.until).contains(&time)
            };
            let here: Vec<_> = of_process.iter().filter(at).collect();
            if here.is_empty() {
                continue;
            }
            inside.insert(*id);
            if here.iter().any(|piece| piece.rundown) {
                in_rundown.insert(*id);
            }
            if here.iter().any(|piece| names.get(id) == Some(&piece.name)) {
                named.insert(*id);
            }
        }
    }
    let user: Vec<_> = frames.iter().filter(|frame| frame.process.is_some()).collect();
    Count {
        inside: inside.len(),
        inside_rundown: in_rundown.len(),
        named: named.len(),
        outside_images: user.len(),
        nameless: user.iter().filter(|frame| !names.contains_key(&frame.frame)).count(),
    }
}

/// The IL of the instruction at an offset, from a map as it was recorded: by looking at all pairs.
fn il_at(map: &[(u64, u64)], offset: u64) -> Option<i32> {
    const SPECIAL: u64 = u32::MAX as u64 - 2;
    let real = |pair: &&(u64, u64)| pair.1 < SPECIAL;
    let (native, _) = map.iter().filter(|(native, _)| *native <= offset).max_by_key(|(native, _)| *native)?;
    let here = map.iter().filter(|pair| pair.0 == *native);
    let il = match here.clone().filter(real).map(|pair| pair.1).max() {
        Some(il) => Some(il),
        // The prolog goes with what follows it, the epilog with what is in front of it.
        None if here.clone().any(|pair| pair.1 == SPECIAL + 1) => {
            let next =
                map.iter().filter(real).filter(|pair| pair.0 > *native).min_by_key(|pair| (pair.0, u64::MAX - pair.1));
            next.map(|pair| pair.1)
        }
        None if here.clone().any(|pair| pair.1 == SPECIAL) => {
            let before = map.iter().filter(real).filter(|pair| pair.0 < *native).max();
            before.map(|pair| pair.1)
        }
        None => None,
    };
    il.map(|il| i32::try_from(il).expect("an offset"))
}

/// Rows with an IL offset, after each was held against the records.
fn check_lines(archive: &Archive, pieces: &[Piece]) -> (usize, usize) {
    let frames: Vec<FrameRow> = archive.rows().expect("frames");
    let processes: Vec<ProcessRow> = archive.rows().expect("processes");
    let rows: Vec<ManagedCodeRow> = archive.rows().expect("managed code");
    let mut with_il = 0;
    for row in &rows {
        let frame = &frames[row.frame.index()];
        let (Some(process), Some(address)) = (frame.process, frame.address) else { continue };
        let (pid, address) = (processes[process.index()].pid, address.cast_unsigned());
        // The time is not in the row: it has to be one of the pieces that were there at any time.
        let is_it = |piece: &&Piece| piece.pid == pid && (piece.start..=piece.end).contains(&address);
        let mut at_address = pieces.iter().filter(is_it);
        let agrees = at_address.any(|piece| {
            let (map, offset) = (piece.map.as_deref().unwrap_or_default(), address - piece.start);
            let il = if address == piece.end { None } else { il_at(map, offset) };
            let call = offset.checked_sub(1).and_then(|offset| il_at(map, offset));
            (i64::from(row.token).cast_unsigned(), row.il_offset, row.call_il_offset) == (piece.token, il, call)
        });
        assert!(agrees, "{row:?} at {address:#x}");
        with_il += usize::from(row.il_offset.is_some() || row.call_il_offset.is_some());
    }
    (rows.len(), with_il)
}

/// The count of a recording, rows with and without IL offsets, and the frames that wait for the PDB of a name.
fn counted(name: &str, pdb: &str) -> Option<(Count, (usize, usize), usize)> {
    let zip = cases("etl")?.join(name);
    let folder = tempfile::tempdir().expect("directory");
    let files = unpacked(&zip, folder.path());
    // The stacks of all events, of those that tables of their own have, too.
    let all = Options { events: Some(EventSelection::All), ..Options::default() };
    let extracted = extract_with(&zip, all).expect("extracted");
    let archive = extracted.archives().remove(0);
    let pieces = pieces(&files, &archive);
    let stacks: Vec<StackRow> = archive.rows().expect("stacks");
    let callers: HashSet<_> = stacks.iter().flat_map(|stack| stack.frames.iter().skip(1)).collect();
    let rows: Vec<ManagedCodeRow> = archive.rows().expect("managed code");
    let missing = lines(
        rows,
        |frame| callers.contains(&frame),
        |assemblies| assemblies.iter().map(|_| None).collect(),
        |line| panic!("{line:?} from no PDB"),
    );
    let waiting = missing.iter().filter(|missing| missing.pdb.name == pdb).map(|missing| missing.frames).sum();
    Some((count(&archive, &pieces), check_lines(&archive, &pieces), waiting))
}

// More than the 99 % of the frames in rundown ranges that are asked for: every frame in any recorded range, under its own name. What stays nameless
// lies in no recorded range.

#[test]
fn x64() {
    let Some((count, lines, waiting)) = counted("net.4.5.2.x64.etl.zip", "Test.pdb") else { return };
    let expected = Count { inside: 1244, inside_rundown: 558, named: 1244, outside_images: 1320, nameless: 76 };
    assert_eq!((count, lines, waiting), (expected, (1212, 1152), 20));
}

#[test]
fn x86() {
    let Some((count, lines, waiting)) = counted("net.4.5.2.x86.etl.zip", "Test.pdb") else { return };
    let expected = Count { inside: 1482, inside_rundown: 770, named: 1482, outside_images: 1539, nameless: 57 };
    assert_eq!((count, lines, waiting), (expected, (1437, 1379), 14));
}

/// Methods of several tiers, without a rundown.
#[test]
fn tiers() {
    let name = "diaghub-dotnetcore3.1-win-x64-diagsession.zip";
    let Some((count, lines, waiting)) = counted(name, "locProject.pdb") else { return };
    let expected = Count { inside: 83, inside_rundown: 0, named: 83, outside_images: 83, nameless: 0 };
    assert_eq!((count, lines, waiting), (expected, (83, 79), 7));
}

/// Images that NGEN made are modules with a PDB of their own.
#[test]
fn precompiled_images_have_their_own_pdb() {
    let Some(folder) = cases("etl") else { return };
    let extracted = extract_file(&folder.join("diaghub-dotnetcore3.1-win-x64-diagsession.zip")).expect("extracted");
    let modules: Vec<ModuleRow> = extracted.archives()[0].rows().expect("modules");
    let precompiled: Vec<_> = modules.iter().filter(|module| module.name.contains(".ni.")).collect();
    let native = |module: &&&ModuleRow| {
        let name = module.pdb_name.as_deref().unwrap_or_default().to_lowercase();
        name.ends_with(".ni.pdb") && module.pdb_guid.is_some() && module.pdb_age == Some(1)
    };
    let counts = (precompiled.len(), precompiled.iter().filter(native).count());
    assert_eq!(counts, (435, 435));
}
