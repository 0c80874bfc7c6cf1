//! The names of all binaries of a recording, found side by side.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::cache::Cache;
use crate::identity::{BuildId, ImageId, PdbId};
use crate::rooted::Listings;
use crate::search::{Attempt, Image, Lookup, Scope, SearchPath, Surroundings};
use crate::table::Table;

use super::driver::{Outcome, Run};
use super::hosts::Hosts;
use super::http::{Client, Limits};
use super::misses::Misses;
use super::part;
use super::permits::Permits;
use super::readers::{Observer, Readers};

/// How symbols are searched.
#[derive(Clone, Debug)]
pub struct Options {
    /// Directory of our own: tables, parts of downloads, and what servers did not have. [`default_directory`](super::default_directory) where the user says nothing.
    pub directory: PathBuf,
    /// Where downloads are kept that the search path has no store for, in the layout of symbol servers; below [`Options::directory`] if
    /// nothing is said.
    pub store: Option<PathBuf>,
    /// Roots of file systems below which the paths of a recording may be opened.
    pub roots: Vec<PathBuf>,
    /// Folders beside a recording, see [`beside`](super::beside).
    pub beside: Vec<PathBuf>,
    /// No server is asked.
    pub offline: bool,
    /// Ask again for what was not there lately.
    pub retry: bool,
    /// Downloads at once.
    pub parallel: usize,
    /// Bytes of symbol files that are read at once; a larger one is read alone.
    pub memory: u64,
    /// Bytes of tables that are kept.
    pub cache_size: u64,
    /// Use the proxies that the environment names.
    pub use_proxy: bool,
    /// How patient downloads are, and how much they accept.
    pub limits: Limits,
}

impl Options {
    /// The defaults, with a directory of our own.
    #[must_use]
    pub fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            store: None,
            roots: Vec::new(),
            beside: Vec::new(),
            offline: false,
            retry: false,
            parallel: 8,
            memory: 256 << 20,
            cache_size: 8 << 30,
            use_proxy: true,
            limits: Limits::default(),
        }
    }
}

/// Finds the names of binaries.
#[derive(Debug)]
pub struct Symbols {
    pub(super) options: Options,
    pub(super) cache: Cache,
    pub(super) hosts: Hosts,
    pub(super) misses: Misses,
    pub(super) listings: Listings,
    pub(super) memory: Permits,
    /// Reading is work for a processor: more files at once than there are take memory and save no time.
    pub(super) readers: Permits,
    pub(super) slots: Permits,
    pub(super) downloads: AtomicU64,
    /// Parts of downloads.
    pub(super) parts: PathBuf,
    scope: Arc<Scope>,
    client: OnceLock<Client>,
    tiers: Mutex<HashMap<String, bool>>,
}

/// What was found for an image.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// The names of its machine code.
    pub table: Option<Table>,
    /// The names of its managed code, where it has a PDB of its own.
    pub managed: Option<Table>,
    /// What was asked in vain.
    pub tried: Vec<Attempt>,
}

/// By what an image is told from others: where it lay matters only to one without any identity.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Same {
    pdb: Option<PdbId>,
    managed: Option<PdbId>,
    image: Option<ImageId>,
    build: Option<BuildId>,
    other: Option<String>,
}

impl Symbols {
    /// Searches along a path. Nothing is opened yet.
    #[must_use]
    pub fn new(path: &SearchPath, options: Options) -> Self {
        let store = options.store.clone().unwrap_or_else(|| options.directory.join("files"));
        let surroundings = Surroundings {
            store,
            roots: options.roots.clone(),
            beside: options.beside.clone(),
            offline: options.offline,
        };
        Self {
            cache: Cache::new(options.directory.join("tables")),
            hosts: Hosts::default(),
            misses: Misses::load(options.directory.join("misses"), options.retry),
            listings: Listings::default(),
            memory: Permits::new(options.memory),
            readers: Permits::new(processors() as u64),
            slots: Permits::new(options.parallel as u64),
            downloads: AtomicU64::new(0),
            parts: options.directory.join("parts"),
            scope: Arc::new(Scope::new(path, &surroundings)),
            client: OnceLock::new(),
            tiers: Mutex::default(),
            options,
        }
    }

    /// The cache of tables.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Finds the names of images; the answers stand in the same order. Binaries that occur several times are looked up once. When `cancel`
    /// becomes true, downloads end, and what is on this machine is still used.
    pub fn resolve(
        &self,
        images: &[Image],
        readers: &dyn Readers,
        observer: &dyn Observer,
        cancel: &AtomicBool,
    ) -> Vec<Resolution> {
        self.scope.refused().for_each(|line| observer.trouble(&line));
        let mut numbers: HashMap<Same, usize> = HashMap::new();
        let mut distinct: Vec<&Image> = Vec::new();
        let which: Vec<usize> = images
            .iter()
            .map(|image| {
                *numbers.entry(Same::of(image)).or_insert_with(|| {
                    distinct.push(image);
                    distinct.len() - 1
                })
            })
            .collect();
        let lookups: Vec<(usize, bool)> = (0..distinct.len())
            .flat_map(|at| {
                // A managed image need not have any machine code with names.
                let image = distinct[at];
                let native = image.pdb.is_some() || image.image.is_some() || image.build_id.is_some();
                let managed = image.managed_pdb.is_some();
                [(native || !managed).then_some((at, false)), managed.then_some((at, true))].into_iter().flatten()
            })
            .collect();
        let run = Run { symbols: self, readers, observer, cancel };
        let outcomes = self.run_all(&run, &distinct, &lookups);
        let mut found: Vec<Resolution> =
            distinct.iter().map(|_| Resolution { table: None, managed: None, tried: Vec::new() }).collect();
        for ((at, is_managed), outcome) in lookups.into_iter().zip(outcomes) {
            let resolution = &mut found[at];
            resolution.tried.extend(outcome.tried);
            if is_managed { resolution.managed = outcome.table } else { resolution.table = outcome.table }
        }
        // What is too much goes now; what was used just now goes last.
        let _ = self.cache.folder().prune(Some(self.options.cache_size), None);
        part::remove_old(&self.parts);
        which.into_iter().map(|at| found[at].clone()).collect()
    }

    /// Look-ups that wait for servers and such that read files side by side.
    fn run_all(&self, run: &Run<'_>, images: &[&Image], lookups: &[(usize, bool)]) -> Vec<Outcome> {
        let threads = (self.options.parallel.max(1) + processors()).min(lookups.len());
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let results: Vec<OnceLock<Outcome>> = lookups.iter().map(|_| OnceLock::new()).collect();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < lookups.len()) {
                        let (image, is_managed) = (images[lookups[at].0], lookups[at].1);
                        let lookup = match &image.managed_pdb {
                            Some(pdb) if is_managed => Lookup::managed(pdb, image, &self.scope),
                            _ => Lookup::new(image, &self.scope),
                        };
                        let _ = results[at].set(run.drive(lookup));
                        run.observer.looked_up(done.fetch_add(1, Ordering::Relaxed) + 1, lookups.len());
                    }
                });
            }
        });
        results.into_iter().map(|one| one.into_inner().unwrap_or(Outcome { table: None, tried: Vec::new() })).collect()
    }

    /// The client, made when it is needed first: who is offline needs no certificates.
    pub(super) fn client(&self) -> &Client {
        self.client.get_or_init(|| Client::new(&self.options.limits, self.options.use_proxy))
    }

    /// Whether a server has two tiers, if it was asked.
    pub(super) fn tiers(&self, url: &str) -> Option<bool> {
        self.tiers.lock().unwrap_or_else(PoisonError::into_inner).get(url).copied()
    }

    pub(super) fn note_tiers(&self, url: String, has: bool) {
        self.tiers.lock().unwrap_or_else(PoisonError::into_inner).insert(url, has);
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Same {
    fn of(image: &Image) -> Self {
        let has_identity = image.pdb.is_some() || image.image.is_some() || image.build_id.is_some();
        Self {
            pdb: image.pdb.clone(),
            managed: image.managed_pdb.clone(),
            image: image.image.clone(),
            build: image.build_id.clone(),
            other: (!has_identity).then(|| image.name.clone()),
        }
    }
}
