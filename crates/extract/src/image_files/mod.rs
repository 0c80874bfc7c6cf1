//! The files that a recording says were mapped, as far as they may be opened.
//!
//! A recording is not believed: a path in it leads to a file below a directory that the user gave for that, or to a file of this
//! machine that proves to be the one that was mapped, by its build id. Nothing but regular files is opened, and of those nothing
//! but headers and notes is read before the identity was found right.

mod below;

use std::fs::File;
use std::path::{Path, PathBuf};

use tracesift_symbols::BuildId;
use tracesift_symbols::machine::{VDSO, vdso_bytes};
use tracesift_unwind::{Elf, ElfError, Image, ImageError, Source};

use crate::vdso::Vdso;
use below::open_below;

/// Where files are looked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImageFiles {
    sysroot: Option<PathBuf>,
    vdso: Option<Vdso>,
}

/// Why a file cannot be had. The texts go on behind the file's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// There is none that may be opened.
    NoFile(String),
    /// There is one, but not the one that was mapped.
    OtherFile(String),
    /// It cannot be read, or is too large.
    Unreadable(String),
}

impl ImageFiles {
    /// Below `sysroot` lies the file system of the recorded machine. Files of this machine are used where they are the same.
    pub(crate) fn new(sysroot: Option<PathBuf>) -> Self {
        Self { sysroot, vdso: None }
    }

    /// What the kernel of the recorded machine maps into its processes.
    pub(crate) fn with_vdso(mut self, vdso: Option<Vdso>) -> Self {
        self.vdso = vdso;
        self
    }

    /// The unwind information of the file that was mapped from `path`; `build_id` in hex digits, as recorded.
    pub(crate) fn image(&self, path: &str, build_id: Option<&str>, budget: usize) -> Result<Image, Unusable> {
        if path == VDSO {
            return self.vdso_image(build_id, budget);
        }
        let mut why = None;
        if let Some(sysroot) = &self.sysroot {
            match image_below(sysroot, path, build_id, budget) {
                Ok(image) => return Ok(image),
                Err(unusable) => why = Some(unusable),
            }
        }
        // On others the path would mean something else.
        if cfg!(unix) && build_id.is_some() {
            match image_below(Path::new("/"), path, build_id, budget) {
                Ok(image) => return Ok(image),
                Err(unusable) => why = why.or(Some(unusable)),
            }
        }
        Err(why.unwrap_or_else(|| {
            let text = if build_id.is_some() { "this machine is another" } else { "no build id was recorded" };
            Unusable::NoFile(format!("{text} and no --sysroot is given"))
        }))
    }

    /// The recorded machine's, or this machine's where it is the same.
    fn vdso_image(&self, build_id: Option<&str>, budget: usize) -> Result<Image, Unusable> {
        let absent = |why: &str| Unusable::NoFile(why.to_owned());
        if build_id.is_none() {
            return Err(absent("no build id was recorded"));
        }
        if let Some(vdso) = &self.vdso
            && let Ok(image) = read_image(&mut vdso.bytes(), build_id, budget)
        {
            return Ok(image);
        }
        let bytes = vdso_bytes().ok_or_else(|| absent("this machine has none"))?;
        read_image(&mut bytes.as_slice(), build_id, budget)
    }
}

fn image_below(root: &Path, path: &str, build_id: Option<&str>, budget: usize) -> Result<Image, Unusable> {
    let place = |error: std::io::Error| Unusable::NoFile(format!("below {}: {error}", root.display()));
    let mut file: File = open_below(root, path).map_err(place)?;
    read_image(&mut file, build_id, budget)
}

fn read_image(source: &mut impl Source, build_id: Option<&str>, budget: usize) -> Result<Image, Unusable> {
    let unreadable = |error: ElfError| Unusable::Unreadable(error.to_string());
    let elf = Elf::read(source).map_err(unreadable)?;
    if let Some(wanted) = build_id {
        let found = BuildId(elf.build_id().unwrap_or_default().to_vec());
        if !is_same(&found, wanted) {
            let found = if found.0.is_empty() { "none".to_owned() } else { found.to_string() };
            return Err(Unusable::OtherFile(format!("build id {wanted} was recorded, the file has {found}")));
        }
    }
    Image::read(elf, source, budget).map_err(|error: ImageError| Unusable::Unreadable(error.to_string()))
}

/// Whether a file with this build id may be the one that was recorded with the other, in hex digits.
fn is_same(found: &BuildId, recorded: &str) -> bool {
    recorded.parse().is_ok_and(|recorded| found.is_recorded_as(&recorded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_ids_are_compared_as_far_as_they_were_recorded() {
        let is_same =
            |found: &str, recorded: &str| is_same(&found.parse().unwrap_or_else(|_| BuildId(Vec::new())), recorded);
        let full = "00112233445566778899aabbccddeeff00112233";
        assert!(is_same(full, full));
        assert!(is_same(&full.to_uppercase(), full));
        assert!(is_same(&format!("{full}4455"), full), "longer than a recorder has room for");
        assert!(is_same("0011223344", "0011223344000000000000000000000000000000"), "filled up");
        assert!(!is_same("0011223344", "0011223345"));
        assert!(!is_same("", "0000"));
        assert!(!is_same("", ""));
    }

    #[test]
    fn without_a_sysroot_only_the_very_file_will_do() {
        let files = ImageFiles::new(None);
        let program = std::env::current_exe().unwrap();
        let program = program.to_str().unwrap();
        let refused = files.image(program, None, 1 << 30);
        assert!(matches!(&refused, Err(Unusable::NoFile(why)) if why.contains("--sysroot")), "{refused:?}");
        let other = files.image(program, Some("00112233"), 1 << 30);
        assert!(matches!(&other, Err(Unusable::OtherFile(_) | Unusable::Unreadable(_))) || !cfg!(unix), "{other:?}");
    }

    #[test]
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn the_own_vdso_is_known_by_its_build_id() {
        let bytes = vdso_bytes().unwrap();
        let id = BuildId(Elf::read(&mut bytes.as_slice()).unwrap().build_id().unwrap().to_vec()).to_string();
        ImageFiles::default().image(VDSO, Some(&id), 1 << 20).unwrap();
        let other = id.replace(|digit: char| digit.is_ascii_digit(), "a");
        assert!(matches!(ImageFiles::default().image(VDSO, Some(&other), 1 << 20), Err(Unusable::OtherFile(_))));
        assert!(matches!(ImageFiles::default().image(VDSO, None, 1 << 20), Err(Unusable::NoFile(_))));
    }
}
