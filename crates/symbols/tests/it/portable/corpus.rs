//! The inputs that fuzzing starts from, in `fuzz/corpus`: they are what their names say. With `WRITE_CORPUS=1` they are written.

use std::path::PathBuf;
use std::{env, fs};

use tracesift_symbols::PortablePdb;
use tracesift_symbols::portable::read_embedded;

use crate::portable::writer::{Pdb, embedded};
use crate::portable::written::example;

#[test]
fn the_inputs_are_what_they_are_called() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/portable_pdb"));
    let methods = Pdb { method_rows: 3000, ..example() };
    let inputs =
        [("lines", example().bytes()), ("wide_parents", methods.bytes()), ("embedded", embedded(&example().bytes()))];
    for (name, bytes) in inputs {
        assert!(PortablePdb::read(bytes.clone(), None).or_else(|_| read_embedded(&bytes, None)).is_ok(), "{name}");
        let path = folder.join(name);
        if env::var_os("WRITE_CORPUS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &bytes).unwrap();
        }
        // How well the embedded one is packed depends on the library.
        let same = |there: Vec<u8>| there == bytes || name == "embedded";
        assert!(fs::read(&path).is_ok_and(same), "{name} is another; write it with WRITE_CORPUS=1");
    }
}
