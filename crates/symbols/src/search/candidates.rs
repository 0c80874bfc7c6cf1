//! The places where a file with an identity may lie, in every layout that is known.
//!
//! Symbol servers and their stores: `NAME/KEY/NAME`, where the last part may be compressed (`ntdll.pd_`) or, in stores, a pointer
//! (`file.ptr`); in stores of two tiers all of it lies below the first two characters of the name (Microsoft's "SymStore", and the SSQP key
//! conventions of .NET for portable PDBs, whose age is `FFFFFFFF`). Breakpad: `x.pdb/KEY/x.sym`. ELF: `.build-id/xx/yyyy.debug`, as gdb
//! has it, and debuginfod's `buildid/ID/debuginfo`. Plain folders: the file itself, or below `symbols/EXTENSION` as dbghelp has it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::identity::{BuildId, PdbId};

use super::below::Below;
use super::file_name::FileName;
use super::origin::{Kind, Origin};
use super::wanted::{Identity, Image, Source, build_digits};

/// A regular file that may be opened: below a directory that the user gave.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The user's directory.
    pub root: Arc<Path>,
    /// The way down from it.
    pub below: Below,
}

/// A file that may be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) at: At,
    pub(super) packing: Packing,
    /// Where it is put, uncompressed, when it is what was looked for.
    pub(super) keep: Vec<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum At {
    File(Place),
    Url {
        server: Arc<str>,
        url: String,
        /// Only where the server says that it has two tiers.
        two_tiers: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Cabinet,
    Pointer,
}

/// A kind of file for an identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Goal {
    pub(super) identity: Identity,
    pub(super) source: Source,
    /// The directories and names in a store.
    stored: Vec<Below>,
    /// Names in a plain folder.
    plain: Vec<Below>,
    /// Below the root of a file system.
    rooted: Vec<Below>,
    /// Behind a debuginfod's address.
    debuginfod: Option<Below>,
    /// Whether servers are worth asking.
    pub(super) from_servers: bool,
}

impl Goal {
    /// The PDB of an image.
    pub(super) fn pdb(pdb: &PdbId, is_managed: bool, image: &Image) -> Option<Self> {
        let name = FileName::last_of(&pdb.name)?;
        let portable = FileName::new(&format!("{}FFFFFFFF", pdb.guid.digits()))?;
        let digits = FileName::new(&pdb.digits())?;
        let keys = if is_managed { vec![portable, digits] } else { vec![digits] };
        let plain = plain_folders(&name);
        let recorded = recorded(image);
        let beside = recorded.iter().flat_map(|path| {
            let directory: Vec<&FileName> = path.parts().iter().rev().skip(1).rev().collect();
            plain.iter().map(move |file| file.under(&directory)).collect::<Vec<_>>()
        });
        Some(Self {
            identity: Identity::Pdb(pdb.clone()),
            source: Source::Pdb,
            stored: keys.iter().map(|key| Below::new([&name, key, &name])).collect(),
            rooted: beside.collect(),
            plain,
            debuginfod: None,
            from_servers: true,
        })
    }

    /// The Breakpad text for a PDB.
    pub(super) fn breakpad_of_pdb(pdb: &PdbId) -> Option<Self> {
        let name = FileName::last_of(&pdb.name)?;
        let is_pdb = name.stem_and_extension().1.is_some_and(|extension| extension.eq_ignore_ascii_case("pdb"));
        let file = if is_pdb { name.with_extension("sym")? } else { name.and(".sym")? };
        Self::breakpad(Identity::Pdb(pdb.clone()), &name, &pdb.digits(), &file)
    }

    /// The Breakpad text for an ELF file. Its addresses are not those of the file, so none is fetched for them.
    pub(super) fn breakpad_of_elf(build: &BuildId, image: &Image) -> Option<Self> {
        let name = FileName::last_of(&image.name)?;
        let file = name.and(".sym")?;
        let text = Self::breakpad(Identity::Build(build.clone()), &name, &build.as_breakpad().digits(), &file)?;
        Some(Self { from_servers: false, ..text })
    }

    fn breakpad(identity: Identity, name: &FileName, digits: &str, file: &FileName) -> Option<Self> {
        Some(Self {
            identity,
            source: Source::Breakpad,
            stored: vec![Below::new([name, &FileName::new(digits)?, file])],
            plain: vec![file.alone()],
            rooted: Vec::new(),
            debuginfod: None,
            from_servers: true,
        })
    }

    /// A PE image. By the identity of its PDB it is found only where it lies under its own name.
    pub(super) fn image(identity: &Identity, image: &Image, from_servers: bool) -> Option<Self> {
        let (name, digits) = match identity {
            Identity::Image(id) => (FileName::last_of(&id.name)?, Some(FileName::new(&id.digits())?)),
            Identity::Pdb(_) => (FileName::last_of(&image.name)?, None),
            Identity::Build(_) => return None,
        };
        Some(Self {
            identity: identity.clone(),
            source: Source::Image,
            stored: digits.iter().map(|digits| Below::new([&name, digits, &name])).collect(),
            plain: plain_folders(&name),
            rooted: recorded(image).into_iter().collect(),
            debuginfod: None,
            from_servers: from_servers && digits.is_some(),
        })
    }

    /// A PE image with a portable PDB inside.
    pub(super) fn embedded(pdb: &PdbId, image: &Image) -> Option<Self> {
        let image = Self::image(&Identity::Pdb(pdb.clone()), image, false)?;
        Some(Self { source: Source::Embedded, ..image })
    }

    /// The debug information of an ELF file.
    pub(super) fn debug(build: &BuildId, image: Option<&Image>) -> Option<Self> {
        let (directory, digits) = build_id_directory(build)?;
        let file = directory.beside(&directory.name()?.and(".debug")?);
        let name = image.and_then(|image| FileName::last_of(&image.name));
        let [usr, lib, debug] = ["usr", "lib", "debug"].map(FileName::new);
        let root = [&usr?, &lib?, &debug?];
        let mut rooted = vec![file.under(&root)];
        if let Some(path) = image.and_then(recorded) {
            let named = path.name().and_then(|name| name.and(".debug"));
            rooted.extend(named.map(|name| path.beside(&name).under(&root)));
        }
        let inner = FileName::new("debuginfo")?;
        let mut plain = vec![Below::new([&digits, &inner])];
        plain.extend(name.and_then(|name| name.and(".debug")).map(|name| name.alone()));
        Some(Self {
            identity: Identity::Build(build.clone()),
            source: Source::Debug,
            stored: vec![file],
            plain,
            rooted,
            debuginfod: Some(Below::new([&FileName::new("buildid")?, &digits, &inner])),
            from_servers: true,
        })
    }

    /// An ELF file as it was run.
    pub(super) fn elf(build: &BuildId, image: &Image) -> Option<Self> {
        let (file, digits) = build_id_directory(build)?;
        let inner = FileName::new("executable")?;
        let mut plain = vec![Below::new([&digits, &inner])];
        plain.extend(FileName::last_of(&image.name).map(|name| name.alone()));
        Some(Self {
            identity: Identity::Build(build.clone()),
            source: Source::Elf,
            stored: vec![file],
            plain,
            rooted: recorded(image).into_iter().collect(),
            debuginfod: Some(Below::new([&FileName::new("buildid")?, &digits, &inner])),
            from_servers: true,
        })
    }

    /// Adds a file that debug information shares with others (`.gnu_debugaltlink`): by the path in it, of which only what lies below `.dwz`
    /// means something elsewhere.
    pub(super) fn with_shared_path(mut self, path: &str) -> Self {
        let behind = path.split('/').skip_while(|part| *part != ".dwz");
        self.rooted.extend(Below::of_parts(["usr", "lib", "debug"].into_iter().chain(behind)));
        self
    }

    /// What may be opened below the root of a file system.
    pub(super) fn in_root(&self, root: &Arc<Path>) -> Vec<Candidate> {
        let place = |below: &Below| Place { root: Arc::clone(root), below: below.clone() };
        self.rooted.iter().map(|below| Candidate::file(place(below), Packing::Plain, &[])).collect()
    }

    /// What may be found in one place of the search path.
    pub(super) fn at(&self, origin: &Origin) -> Vec<Candidate> {
        match &origin.kind {
            Kind::Folder(root) => self.in_folder(root, &origin.keep),
            Kind::Server(url) if self.from_servers && self.is_served() => self.at_server(url, &origin.keep),
            Kind::Debuginfod(url) if self.from_servers => self.at_debuginfod(url, &origin.keep),
            Kind::Server(_) | Kind::Debuginfod(_) => Vec::new(),
        }
    }

    /// Symbol servers know PE images and PDBs, and what Breakpad made of any.
    fn is_served(&self) -> bool {
        !matches!(self.source, Source::Debug | Source::Elf)
    }

    /// Breakpad texts and ELF files are never compressed in a store, and no store of them has tiers.
    fn has_packings(&self) -> bool {
        matches!(self.source, Source::Pdb | Source::Image)
    }

    fn in_folder(&self, root: &Arc<Path>, keep: &[Arc<Path>]) -> Vec<Candidate> {
        let file = |below: Below, packing, keep: &[Place]| {
            Candidate::file(Place { root: Arc::clone(root), below }, packing, keep)
        };
        let mut candidates = Vec::new();
        for below in &self.stored {
            let keep = self.kept(keep);
            candidates.push(file(below.clone(), Packing::Plain, &keep));
            if !self.has_packings() {
                continue;
            }
            let tiers = below.parts().first().and_then(FileName::tier).map(|tier| below.under(&[&tier]));
            candidates.extend(tiers.clone().map(|below| file(below, Packing::Plain, &keep)));
            for below in [Some(below), tiers.as_ref()].into_iter().flatten() {
                let beside = |name: Option<FileName>| name.map(|name| below.beside(&name));
                let cabinet = beside(below.name().and_then(FileName::compressed));
                candidates.extend(cabinet.map(|below| file(below, Packing::Cabinet, &keep)));
                candidates.extend(beside(FileName::new("file.ptr")).map(|below| file(below, Packing::Pointer, &keep)));
            }
        }
        // What lies there for other reasons is no part of a store: it is not copied about.
        candidates.extend(self.plain.iter().map(|below| file(below.clone(), Packing::Plain, &[])));
        candidates
    }

    fn at_server(&self, server: &Arc<str>, keep: &[Arc<Path>]) -> Vec<Candidate> {
        let keep = self.kept(keep);
        let ask = |below: &Below, packing, two_tiers| Candidate {
            at: At::Url { server: Arc::clone(server), url: below.at_server(server), two_tiers },
            packing,
            keep: keep.clone(),
        };
        let mut candidates = Vec::new();
        for two_tiers in [false, true] {
            for below in &self.stored {
                let below = match below.parts().first().and_then(FileName::tier) {
                    Some(tier) if two_tiers && self.has_packings() => below.under(&[&tier]),
                    _ if two_tiers => continue,
                    _ => below.clone(),
                };
                candidates.push(ask(&below, Packing::Plain, two_tiers));
                let compressed = below.name().and_then(FileName::compressed).filter(|_| self.has_packings());
                candidates.extend(compressed.map(|name| ask(&below.beside(&name), Packing::Cabinet, two_tiers)));
            }
        }
        candidates
    }

    fn at_debuginfod(&self, server: &Arc<str>, keep: &[Arc<Path>]) -> Vec<Candidate> {
        let ask = |below: &Below| Candidate {
            at: At::Url { server: Arc::clone(server), url: below.at_server(server), two_tiers: false },
            packing: Packing::Plain,
            keep: self.kept(keep),
        };
        self.debuginfod.iter().map(ask).collect()
    }

    /// Where a file is kept in the stores.
    fn kept(&self, stores: &[Arc<Path>]) -> Vec<Place> {
        let Some(below) = self.stored.first() else { return Vec::new() };
        stores.iter().map(|root| Place { root: Arc::clone(root), below: below.clone() }).collect()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.below.at(&self.root).display())
    }
}

impl Candidate {
    fn file(place: Place, packing: Packing, keep: &[Place]) -> Self {
        Self { at: At::File(place), packing, keep: keep.to_vec() }
    }

    /// The server it comes from.
    pub(super) fn server(&self) -> Option<&Arc<str>> {
        match &self.at {
            At::Url { server, .. } => Some(server),
            At::File(_) => None,
        }
    }
}

/// `NAME`, `symbols/EXTENSION/NAME` and `EXTENSION/NAME`.
fn plain_folders(name: &FileName) -> Vec<Below> {
    let mut folders = vec![name.alone()];
    let extension = name.stem_and_extension().1.and_then(FileName::new);
    if let (Some(extension), Some(symbols)) = (extension, FileName::new("symbols")) {
        folders.push(Below::new([&symbols, &extension, name]));
        folders.push(Below::new([&extension, name]));
    }
    folders
}

fn recorded(image: &Image) -> Option<Below> {
    Below::of_recorded(image.path.as_deref()?)
}

/// `.build-id/xx/yyyy`, and all digits.
fn build_id_directory(build: &BuildId) -> Option<(Below, FileName)> {
    let digits = build_digits(build)?;
    let (first, rest) = digits.split_at(2);
    Some((Below::of_parts([".build-id", first, rest])?, FileName::new(&digits)?))
}
