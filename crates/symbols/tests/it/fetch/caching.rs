//! The cache of tables: what is damaged is made again, and there is never too much.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use tracesift_symbols::cache::Cache;
use tracesift_symbols::search::{Identity, Key, Source};
use tracesift_symbols::{Table, TableBuilder};

use super::bench::{Doubles, Home, Listener, image, name, pdb, pdb_id, stored};

fn key(number: u32) -> Key {
    Key::new(&Identity::Pdb(pdb_id(number)), Source::Pdb).expect("a key")
}

fn table(number: u32) -> Table {
    let mut builder = TableBuilder::new();
    let function = builder.function(&format!("f{number}"), None, "pdb");
    let location = builder.location(None, function, None, 0);
    builder.add(0, 10, location);
    builder.finish("")
}

fn path(cache: &Cache, number: u32) -> PathBuf {
    cache.folder().directory().join(format!("{}.table", key(number)))
}

fn function(table: Option<&Table>) -> Option<String> {
    table?.frames(5).next().map(|frame| frame.function.to_owned())
}

#[test]
fn every_damage_is_noticed_and_removed() {
    let home = Home::new();
    let cache = Cache::new(home.path().join("tables"));
    assert!(cache.get(&key(1)).is_none());
    assert_eq!(cache.folder().list().expect("no directory is no error"), []);
    cache.put(&key(1), &table(1)).expect("written");
    let whole = fs::read(path(&cache, 1)).expect("a file");
    assert_eq!(function(cache.get(&key(1)).as_ref()).as_deref(), Some("f1"));
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 4;
        fs::write(path(&cache, 1), &damaged).expect("written");
        assert!(cache.get(&key(1)).is_none(), "byte {at}");
        assert!(!path(&cache, 1).exists(), "byte {at}");
        fs::write(path(&cache, 1), &whole[..at]).expect("written");
        assert!(cache.get(&key(1)).is_none(), "{at} bytes");
    }
    // A sound table of something else.
    fs::write(path(&cache, 2), &whole).expect("written");
    assert!(cache.get(&key(2)).is_none());
    assert!(!path(&cache, 2).exists());
    fs::create_dir(path(&cache, 3)).expect("a directory");
    assert!(cache.get(&key(3)).is_none());
    #[cfg(unix)]
    {
        fs::write(path(&cache, 1), &whole).expect("written");
        std::os::unix::fs::symlink(path(&cache, 1), path(&cache, 4)).expect("a link");
        assert!(cache.get(&key(4)).is_none(), "links are not followed");
    }
}

#[test]
fn a_damaged_table_is_made_again() {
    let home = Home::new();
    let at = home.path().join("own/files").join(stored(1));
    fs::create_dir_all(at.parent().expect("a directory")).expect("a directory");
    fs::write(at, pdb(1, 1_000)).expect("a file");
    let (readers, listener) = (Doubles::default(), Listener::default());
    let run = || {
        let found = home.symbols("").resolve(&[image(1)], &readers, &listener, &AtomicBool::new(false));
        assert_eq!(name(&found[0]).as_deref(), Some("f_n1.pdb"));
        readers.read.load(Ordering::Relaxed)
    };
    assert_eq!((run(), run()), (1, 1));
    let cached = home.path().join("own/tables").join(format!("{}.table", key(1)));
    let mut bytes = fs::read(&cached).expect("a file");
    bytes[40] ^= 1;
    fs::write(&cached, bytes).expect("a file");
    assert_eq!((run(), run()), (2, 2));
}

#[test]
fn the_oldest_go_first() {
    let home = Home::new();
    let cache = Cache::new(home.path().join("tables"));
    for number in 0..10 {
        cache.put(&key(number), &table(number)).expect("written");
        let used = SystemTime::now() - Duration::from_secs(u64::from(100 - number) * 3_600);
        fs::File::options()
            .append(true)
            .open(path(&cache, number))
            .and_then(|file| file.set_modified(used))
            .expect("a time");
    }
    fs::write(cache.folder().directory().join("foreign"), "x").expect("a file");
    let size = cache.folder().list().expect("a list")[0].size;
    // What is used becomes young.
    let held = cache.get(&key(0)).expect("a table");
    let keys: Vec<String> = cache.folder().list().expect("a list").into_iter().map(|entry| entry.key).collect();
    assert_eq!(keys.len(), 10);
    assert_eq!((keys[0].as_str(), keys[9].as_str()), (key(1).as_str(), key(0).as_str()));
    let pruned = cache.folder().prune(Some(size * 4 + 1), None).expect("pruned");
    assert_eq!((pruned.count, pruned.bytes, pruned.failed), (6, size * 6, 0));
    let left =
        || -> Vec<String> { cache.folder().list().expect("a list").into_iter().map(|entry| entry.key).collect() };
    assert_eq!(left(), [7, 8, 9, 0].map(|number| key(number).to_string()));
    let pruned = cache.folder().prune(None, Some(Duration::from_secs(92 * 3_600 + 60))).expect("pruned");
    assert_eq!(pruned.count, 1);
    assert_eq!(left(), [8, 9, 0].map(|number| key(number).to_string()));
    assert_eq!(cache.folder().clear().expect("cleared").count, 3);
    assert_eq!(left(), [""; 0]);
    assert!(cache.folder().directory().join("foreign").exists(), "what is not ours stays");
    assert_eq!(function(Some(&held)).as_deref(), Some("f0"), "what is in use stays usable");
}

#[test]
fn a_run_leaves_no_more_than_is_allowed() {
    let home = Home::new();
    for number in 0..20 {
        let at = home.path().join("own/files").join(stored(number));
        fs::create_dir_all(at.parent().expect("a directory")).expect("a directory");
        fs::write(at, pdb(number, 1_000)).expect("a file");
    }
    let symbols = home.symbols_with("", |options| options.cache_size = 1_000);
    let images: Vec<_> = (0..20).map(image).collect();
    let found = symbols.resolve(&images, &Doubles::default(), &Listener::default(), &AtomicBool::new(false));
    assert!(found.iter().all(|found| name(found).is_some()));
    let size: u64 = symbols.cache().folder().list().expect("a list").iter().map(|entry| entry.size).sum();
    assert!((1..=1_000).contains(&size), "{size}");
}
