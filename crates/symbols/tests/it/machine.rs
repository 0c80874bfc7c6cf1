//! A machine's own kernel and modules, from directories that stand for its `/proc` and `/sys`.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tracesift_symbols::machine::{Machine, kernel_module_name};
use tracesift_symbols::{BuildId, Error, Table};

const KALLSYMS: &str = "\
ffffffff9a000000 T _stext
ffffffff9a000000 T _text
ffffffff9a000000 T startup_64
ffffffff9a000100 T do_work
ffffffff9b000000 D data
ffffffffc0a01000 t init_one\t[e1000e]
ffffffffc0a01100 t probe\t[e1000e]
ffffffffc0b00000 t other\t[snd_hda]
";

fn note(id: &[u8]) -> Vec<u8> {
    let mut note = Vec::new();
    for number in [4, u32::try_from(id.len()).unwrap(), 3] {
        note.extend(number.to_ne_bytes());
    }
    note.extend(b"GNU\0");
    note.extend(id);
    note
}

fn machine(kallsyms: &str) -> TempDir {
    let root = TempDir::new().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("proc/kallsyms", kallsyms.as_bytes());
    write(
        "proc/modules",
        b"snd_hda 65536 0 - Live 0xffffffffc0b00000\ne1000e 320000 0 - Live 0xffffffffc0a01000 (O)\n",
    );
    write("sys/kernel/notes", &note(&[7; 20]));
    write("sys/module/e1000e/notes/.note.gnu.build-id", &note(&[8; 20]));
    root
}

fn name(table: &Table, address: u64) -> Option<String> {
    table.frames(address).next().map(|frame| frame.function.to_owned())
}

fn id(byte: u8) -> BuildId {
    BuildId(vec![byte; 20])
}

#[test]
fn the_kernel_and_its_modules_are_known_by_their_build_ids() {
    let root = machine(KALLSYMS);
    let machine = Machine::at(root.path());
    let kernel = machine.kernel(&id(7)).unwrap();
    assert_eq!(kernel.base, 0xffff_ffff_9a00_0000);
    assert_eq!(name(&kernel.table, kernel.base + 0x180).as_deref(), Some("do_work"));
    let module = machine.kernel_module("e1000e", &id(8)).unwrap();
    assert_eq!(name(&module.table, module.base + 0x101).as_deref(), Some("probe"));
    assert!(matches!(machine.kernel(&id(9)), Err(Error::OtherBinary { .. })));
    assert!(matches!(machine.kernel_module("e1000e", &id(9)), Err(Error::OtherBinary { .. })));
    assert!(machine.kernel_module("snd_hda", &id(8)).is_err(), "it has no build id");
    for path in ["../../../sys/module/e1000e", "", "e1000e/../e1000e"] {
        assert!(machine.kernel_module(path, &id(8)).is_err(), "{path}");
    }
}

#[test]
fn hidden_addresses_are_an_error_that_says_so() {
    let root = machine("0000000000000000 T _text\n0000000000000000 T do_work\n");
    let error = Machine::at(root.path()).kernel(&id(7)).unwrap_err();
    assert!(error.to_string().contains("kptr_restrict"), "{error}");
    assert!(Machine::at(Path::new("/nowhere")).kernel(&id(7)).is_err());
}

#[test]
fn modules_have_one_name_whatever_recorders_call_them() {
    for (recorded, expected) in [
        ("[e1000e]", Some("e1000e")),
        ("/lib/modules/6.1/kernel/sound/snd-hda.ko.xz", Some("snd_hda")),
        ("/lib/modules/6.1/extra/a-b.ko", Some("a_b")),
        ("[kernel.kallsyms]", None),
        ("[vdso]", None),
        ("/usr/bin/perf", None),
    ] {
        assert_eq!(kernel_module_name(recorded).as_deref(), expected, "{recorded}");
    }
}
