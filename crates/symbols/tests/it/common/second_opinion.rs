//! Names by `pdb-addr2line`.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use pdb_addr2line::{ContextPdbData, TypeFormatterFlags};
use tracesift_symbols::Table;

use super::symbolizer::{Frame, ours};

/// All frames of addresses by pdb-addr2line, which must be ours, but for what is wrong with it:
/// * It writes the kind of a class, `static`, and 0xf00f00 as a line.
/// * It gives the code behind a function, and behind the lines of one, to what stands before. llvm-symbolizer agrees with us that
///   there is nothing, or no line.
/// * Names of public symbols are decorated, which llvm-symbolizer was asked for.
/// * It takes a function that link-time code generation took from another module for the one that has the same number in a third module.
///   File and line are right.
pub(crate) fn second_opinion(
    pdb: &Path,
    table: &Table,
    addresses: &[u32],
    link_time_code: bool,
) -> BTreeMap<&'static str, usize> {
    let mut tally = BTreeMap::new();
    let file = pdb_addr2line::pdb::PDB::open(File::open(pdb).expect("it is there")).expect("a PDB");
    let data = ContextPdbData::try_from_pdb(file).expect("a PDB");
    let flags = TypeFormatterFlags::NO_ARGUMENTS | TypeFormatterFlags::NO_FUNCTION_RETURN;
    let context = data.make_context_with_formatter_flags(flags).expect("a PDB");
    for address in addresses {
        let theirs = context.find_frames(*address).expect("it finds").map(|theirs| theirs.frames).unwrap_or_default();
        let mut theirs: Vec<Frame> = theirs
            .into_iter()
            .map(|frame| {
                let mut name = frame.function.unwrap_or_default();
                for word in ["static ", "class ", "struct "] {
                    name = name.strip_prefix(word).unwrap_or(&name).to_owned();
                }
                (name, frame.file.map(|file| file.into_owned()), frame.line.filter(|line| *line != 0xf0_0f00))
            })
            .collect();
        let mine = ours(table, *address);
        let kind = match (mine.last(), theirs.last_mut()) {
            (None, _) => "nothing here",
            (Some(mine), Some(theirs)) if mine.2.is_none() => {
                (theirs.1, theirs.2) = (mine.1.clone(), None);
                "no line here"
            }
            _ => "the same",
        };
        let kind = if mine.is_empty() || mine == theirs {
            kind
        } else if theirs.len() == 1 && theirs[0].0.starts_with(['_', '?']) {
            assert_eq!(mine.len(), 1, "at {address:#x}");
            "a decorated name"
        } else {
            let places =
                |frames: &[Frame]| frames.iter().map(|(_, file, line)| (file.clone(), *line)).collect::<Vec<_>>();
            assert_eq!(places(&mine), places(&theirs), "at {address:#x}");
            assert_eq!(mine.last(), theirs.last(), "at {address:#x}");
            assert!(link_time_code, "at {address:#x}: {mine:?}, {theirs:?}");
            "a function of another module"
        };
        *tally.entry(kind).or_insert(0) += 1;
    }
    tally
}
