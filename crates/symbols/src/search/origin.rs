//! A search path as a list of places to ask, in order.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::path::{Element, SearchPath, Store};

/// Where look-ups search: shared by all of a run.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub(super) origins: Vec<Origin>,
    /// Roots of file systems.
    pub(super) roots: Vec<Arc<Path>>,
    /// Elements that are never opened, as they were written.
    refused: Vec<String>,
}

/// One place to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) kind: Kind,
    /// Stores that keep what is found there, nearest first.
    pub(super) keep: Vec<Arc<Path>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A directory, in the layout of symbol servers or plain.
    Folder(Arc<Path>),
    /// A symbol server by its address.
    Server(Arc<str>),
    /// A debuginfod by its address.
    Debuginfod(Arc<str>),
}

/// What else there is to search besides the search path.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The store where nothing is said: [`Store::Default`].
    pub store: PathBuf,
    /// Roots of file systems in which the paths of a recording may be opened: a mounted disk, a container's files, `/` where the recording
    /// was made on this machine.
    pub roots: Vec<PathBuf>,
    /// Folders that were left beside a recording; searched first.
    pub beside: Vec<PathBuf>,
    /// No server is asked.
    pub offline: bool,
}

impl Scope {
    /// All places of a search path and its surroundings.
    #[must_use]
    pub fn new(path: &SearchPath, surroundings: &Surroundings) -> Self {
        let mut scope = Self::default();
        let default: Arc<Path> = surroundings.store.as_path().into();
        scope.roots = surroundings.roots.iter().map(|root| root.as_path().into()).collect();
        for folder in &surroundings.beside {
            scope.folder(folder.as_path().into(), &[]);
        }
        // What came from a server before is found again, whatever the search path says now.
        scope.folder(Arc::clone(&default), &[]);
        let mut caches: Vec<Arc<Path>> = Vec::new();
        for element in &path.elements {
            match element {
                Element::Cache(store) => {
                    if let Some(directory) = scope.directory(store, &default, element) {
                        scope.folder(Arc::clone(&directory), &[]);
                        push_new(&mut caches, directory);
                    }
                }
                Element::Folder(store) => {
                    if let Some(directory) = scope.directory(store, &default, element) {
                        scope.folder(directory, &[]);
                    }
                }
                Element::Chain { stores, servers } => {
                    let mut keep = caches.clone();
                    for store in stores {
                        if let Some(directory) = scope.directory(store, &default, element) {
                            scope.folder(Arc::clone(&directory), &keep[caches.len()..]);
                            push_new(&mut keep, directory);
                        }
                    }
                    if keep.is_empty() {
                        keep.push(Arc::clone(&default));
                    }
                    for server in servers.iter().filter(|_| !surroundings.offline) {
                        scope.add(Kind::Server(server.as_str().into()), &keep);
                    }
                }
                Element::Debuginfod(url) if !surroundings.offline => {
                    let keep = if caches.is_empty() { vec![Arc::clone(&default)] } else { caches.clone() };
                    scope.add(Kind::Debuginfod(url.as_str().into()), &keep);
                }
                Element::Debuginfod(_) => {}
            }
        }
        scope
    }

    /// A line for each element that is not searched, as this program never opens what lies on another machine.
    pub fn refused(&self) -> impl Iterator<Item = String> {
        self.refused.iter().map(|text| format!("{text}: is no path of this machine, which is never opened"))
    }

    fn directory(&mut self, store: &Store, default: &Arc<Path>, element: &Element) -> Option<Arc<Path>> {
        match store {
            Store::Default if matches!(element, Element::Folder(_)) => None,
            Store::Default => Some(Arc::clone(default)),
            Store::Directory(path) => Some(path.as_path().into()),
            Store::Unreachable(text) => {
                self.refused.push(text.clone());
                None
            }
        }
    }

    fn folder(&mut self, directory: Arc<Path>, keep: &[Arc<Path>]) {
        self.add(Kind::Folder(directory), keep);
    }

    /// Each place is asked once; who keeps what is found there is known by the first that names it.
    fn add(&mut self, kind: Kind, keep: &[Arc<Path>]) {
        if self.origins.iter().all(|origin| origin.kind != kind) {
            self.origins.push(Origin { kind, keep: keep.to_vec() });
        }
    }
}

fn push_new(stores: &mut Vec<Arc<Path>>, store: Arc<Path>) {
    if !stores.contains(&store) {
        stores.push(store);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::path::SearchPath;
    use super::super::short_names::ShortNames;
    use super::{Kind, Scope, Surroundings};

    /// The places, each as it is asked, with the stores that keep what is found.
    fn places(text: &str, offline: bool) -> Vec<String> {
        let path = SearchPath::parse(text, &ShortNames::builtin()).expect("a path");
        let surroundings = Surroundings { store: "/own".into(), offline, ..Surroundings::default() };
        let shown = |path: &Path| path.display().to_string();
        let scope = Scope::new(&path, &surroundings);
        let places = scope.origins.iter().map(|origin| {
            let place = match &origin.kind {
                Kind::Folder(path) => shown(path),
                Kind::Server(url) | Kind::Debuginfod(url) => url.to_string(),
            };
            let keep: Vec<String> = origin.keep.iter().map(|store| shown(store)).collect();
            format!("{place} > {}", keep.join(","))
        });
        places.chain(scope.refused()).collect()
    }

    #[test]
    fn stores_keep_what_comes_from_behind_them() {
        assert_eq!(places("srv*http://a", false), ["/own > ", "http://a > /own"]);
        assert_eq!(
            places("/p;cache*/c;srv*/n**http://a*http://b;debuginfod*http://d", false),
            ["/own > ", "/p > ", "/c > ", "/n > ", "http://a > /c,/n,/own", "http://b > /c,/n,/own", "http://d > /c",]
        );
        assert_eq!(places("srv*/n*/f;srv*/n", true), ["/own > ", "/n > ", "/f > /n"]);
        assert_eq!(places("srv*/n*http://a", true), ["/own > ", "/n > "]);
        assert_eq!(
            places(r"srv*\\s\h*http://a", false),
            ["/own > ", "http://a > /own", r"\\s\h: is no path of this machine, which is never opened"]
        );
    }
}
