//! Names by `llvm-symbolizer`, which reads PDBs by itself.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use tracesift_symbols::Table;
use tracesift_symbols::pdb::Pdb;
use tracesift_symbols::pe::{Image, MACHINE_I386};

/// A frame: function, file and line; `None` where there is none.
pub(crate) type Frame = (String, Option<String>, Option<u32>);

/// The frames of addresses relative to an image, innermost first. `None` where llvm-symbolizer 14 crashes: it cannot read the names of
/// functions that a module took from another one by link-time code generation. As a crash takes its time, addresses that follow and are
/// `alike` are not asked for.
pub(crate) fn frames_of(
    image: &Path,
    addresses: &[u32],
    inlines: bool,
    alike: &dyn Fn(u32, u32) -> bool,
) -> Vec<Option<Vec<Frame>>> {
    let mut answers = Vec::with_capacity(addresses.len());
    while answers.len() < addresses.len() {
        let options = ["--functions=short", if inlines { "--inlining" } else { "--no-inlines" }];
        answers.extend(run(image, &addresses[answers.len()..], options).into_iter().map(Some));
        if let Some(crashed) = addresses.get(answers.len()) {
            let same =
                addresses[answers.len()..].iter().take_while(|next| **next == *crashed || alike(*crashed, **next));
            answers.extend(same.map(|_| None));
        }
    }
    answers
}

/// The name of the public symbol at or before each address, without what C adds to it on x86.
pub(crate) fn publics_of(image: &Path, addresses: &[u32]) -> Vec<Option<String>> {
    let x86 = Image::read(File::open(image).expect("it is there"), None).expect("an image").machine() == MACHINE_I386;
    let name = |mut frames: Vec<Frame>| {
        let name = frames.pop().filter(|frame| frame.0 != "??")?.0;
        if !x86 {
            return Some(name);
        }
        let bare = name.split('@').find(|part| !part.is_empty())?;
        Some(bare.strip_prefix('_').unwrap_or(bare).to_owned())
    };
    run(image, addresses, ["--functions=linkage", "--no-inlines"]).into_iter().map(name).collect()
}

/// The frame of an address without any.
pub(crate) fn unknown() -> Frame {
    ("??".to_owned(), None, None)
}

/// Its answers up to the end, or to a crash.
fn run(image: &Path, addresses: &[u32], options: [&str; 2]) -> Vec<Vec<Frame>> {
    let mut child = Command::new("llvm-symbolizer")
        .args(["--relative-address", "--no-demangle"])
        .args(options)
        .arg("--obj")
        .arg(image)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let mut input = child.stdin.take().expect("an input");
    let text: String = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    // A crash breaks the pipe.
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).is_ok());
    let output = child.wait_with_output().expect("it ends");
    let written = writer.join().expect("it was written");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut texts: Vec<&str> = text.split("\n\n").collect();
    // Behind the last answer is nothing, or a part of the next one.
    texts.pop();
    assert!(texts.len() < addresses.len() || (written && output.status.success()));
    texts.into_iter().map(answer).collect()
}

/// Namespaces without a name have one in the names of inlined functions, by Microsoft's compiler.
fn unnamed_namespaces(name: &str) -> String {
    let part = |part: &str| if part.starts_with("?A0x") { "`anonymous namespace'".to_owned() } else { part.to_owned() };
    name.split("::").map(part).collect::<Vec<_>>().join("::")
}

fn answer(text: &str) -> Vec<Frame> {
    let lines: Vec<&str> = text.lines().collect();
    let known = |text: &str| Some(text.to_owned()).filter(|text| text != "??");
    let frame = |pair: &[&str]| {
        let name = if pair[0].is_empty() { "??" } else { pair[0] };
        // File, line and column.
        let mut place = pair[1].rsplitn(3, ':').skip(1);
        let line = place.next().and_then(|line| line.parse().ok()).filter(|line| *line != 0);
        (unnamed_namespaces(name), place.next().and_then(known), line)
    };
    lines.chunks_exact(2).map(frame).collect()
}

/// Our frames, in the same form.
pub(crate) fn ours(table: &Table, address: u32) -> Vec<Frame> {
    let frame = |frame: tracesift_symbols::Frame<'_>| {
        (frame.function.to_owned(), frame.file.map(ToOwned::to_owned), frame.line)
    };
    table.frames(address.into()).map(frame).collect()
}

/// The table of a PDB.
pub(crate) fn table_of(pdb: &Path) -> Table {
    let pdb = Pdb::read(File::open(pdb).expect("it is there"), None).expect("a PDB");
    pdb.table("").expect("it has names")
}

/// Addresses within the code section of an image, the same ones every time.
pub(crate) fn random_addresses(image: &Path, count: usize) -> Vec<u32> {
    let bytes = std::fs::read(image).expect("it is there");
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
    let headers = number(0x3c) as usize;
    let section = headers + 24 + (number(headers + 20) & 0xffff) as usize;
    assert_eq!(&bytes[section..section + 6], b".text\0");
    let (size, start) = (number(section + 8), number(section + 12));
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        start + u32::try_from((state >> 33) % u64::from(size)).expect("below 2^31")
    };
    (0..count).map(|_| next()).collect()
}
