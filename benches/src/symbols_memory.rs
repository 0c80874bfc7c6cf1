//! Peak memory of the search for the names of many binaries: that of a few large PDBs, not that of all.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, ensure};
use tracesift_symbols::fetch::{Options, Silence, Symbols};
use tracesift_symbols::search::{Image, SearchPath, ShortNames};
use tracesift_symbols::{FormatReaders, Guid, PdbId};

use crate::memory;

/// Binaries whose names are looked for, by processes of their own.
const COUNTS: [u32; 3] = [1, 4, 12];

/// Puts copies of a PDB, each with an identity of its own, into a store and prints the peak of who reads them all.
#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
pub(crate) fn compare(directory: &Path, pdb: &Path, id: &PdbId) -> anyhow::Result<()> {
    let bytes = fs::read(pdb)?;
    let mut peaks = Vec::new();
    for count in COUNTS {
        let place = directory.join("memory");
        for number in 0..count {
            let copy = PdbId { guid: format!("{number:032x}").parse()?, ..id.clone() };
            let folder = place.join("store").join(&copy.name).join(copy.digits());
            fs::create_dir_all(&folder)?;
            fs::write(folder.join(&copy.name), with_guid(&bytes, id.guid, copy.guid)?)?;
        }
        let output = Command::new(std::env::current_exe()?).args(["symbols", "--store"]).arg(&place).output()?;
        fs::remove_dir_all(&place)?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let peak: u64 = String::from_utf8(output.stdout)?.trim().parse()?;
        println!("names of {count} such PDBs: peak {} MiB anonymous", peak >> 10);
        peaks.push(peak as f64);
    }
    println!("  peak({}) / peak({}): {:.2}, budget 1.2", COUNTS[2], COUNTS[1], peaks[2] / peaks[1]);
    Ok(())
}

/// Finds the names of all PDBs of a store and prints the peak of its own anonymous memory, KiB.
#[expect(clippy::print_stdout, reason = "the parent reads it")]
pub(crate) fn child(place: &Path) -> anyhow::Result<()> {
    let mut images = Vec::new();
    for name in fs::read_dir(place.join("store"))? {
        let name = name?;
        for key in fs::read_dir(name.path())? {
            let key = key?.file_name().into_string().ok().context("digits")?;
            let (guid, age) = key.split_at_checked(32).context("GUID and age")?;
            let name = name.file_name().into_string().ok().context("a name")?;
            let pdb = PdbId { name, guid: guid.parse()?, age: u32::from_str_radix(age, 16)? };
            images.push(Image { name: "program.exe".to_owned(), pdb: Some(pdb), ..Image::default() });
        }
    }
    let path = SearchPath::parse(&place.join("store").to_string_lossy(), &ShortNames::builtin())?;
    let options = Options { offline: true, ..Options::new(place.join("own")) };
    let (found, peak) = memory::peak(|| {
        let symbols = Symbols::new(&path, options);
        Ok(symbols.resolve(&images, &FormatReaders, &Silence, &AtomicBool::new(false)))
    })?;
    for one in found {
        ensure!(one.table.is_some(), "{:?}", one.tried);
    }
    println!("{peak}");
    Ok(())
}

/// A PDB with another GUID in place of its own.
fn with_guid(pdb: &[u8], old: Guid, new: Guid) -> anyhow::Result<Vec<u8>> {
    let (old, new) = (stored(old)?, stored(new)?);
    let at = pdb.windows(old.len()).position(|bytes| bytes == old).context("the PDB has its GUID")?;
    let mut bytes = pdb.to_vec();
    bytes[at..at + new.len()].copy_from_slice(&new);
    Ok(bytes)
}

/// A GUID as files have it: three numbers of the little endian and eight bytes.
fn stored(guid: Guid) -> anyhow::Result<[u8; 16]> {
    let mut bytes = u128::from_str_radix(&guid.digits(), 16)?.to_be_bytes();
    for number in [0..4, 4..6, 6..8] {
        bytes[number].reverse();
    }
    Ok(bytes)
}
