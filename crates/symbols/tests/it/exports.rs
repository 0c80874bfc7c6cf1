//! Export tables of images that clang and lld-link make.

use std::fs::{self, File};
use std::process::Command;

use crate::common::symbolizer::table_of;
use tracesift_fixtures::have;
use tracesift_symbols::pe::Image;

const SOURCE: &str = r#"
#define EXPORT __declspec(dllexport)
static __attribute__((noinline)) int hidden(int a) { volatile int b = a; return b + 1; }
extern "C" EXPORT int first(int a) { return hidden(a) + hidden(a + 1); }
extern "C" EXPORT int second(int a) { return hidden(a) * 3; }
extern "C" EXPORT int data = 5;
extern "C" int by_number(int a) { return hidden(a) * 7; }
namespace shop { struct EXPORT Basket { int sum(int a, const char *b); }; int Basket::sum(int a, const char *b) { return hidden(a) + *b; } }
extern "C" int _DllMainCRTStartup(void *, unsigned, void *) { return 1; }
extern "C" int _fltused = 0;
"#;

#[test]
fn exported_functions_have_names_and_others_have_none() {
    if !have(&["clang", "lld-link"]) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    for (target, entry, bounded) in
        [("x86_64-pc-windows-msvc", "_DllMainCRTStartup", true), ("i686-pc-windows-msvc", "_DllMainCRTStartup", false)]
    {
        let path = |name: &str| directory.path().join(name);
        fs::write(path("lib.cpp"), SOURCE).expect("it can be written");
        let run = |command: &mut Command| {
            let output = command.current_dir(directory.path()).output().expect("it runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        run(Command::new("clang").args([
            &format!("--target={target}"),
            "-g",
            "-gcodeview",
            "-O1",
            "-c",
            "lib.cpp",
            "-o",
            "lib.obj",
        ]));
        run(Command::new("lld-link").args([
            "/dll",
            "/nodefaultlib",
            &format!("/entry:{entry}"),
            "/out:lib.dll",
            "/debug",
            "/pdb:lib.pdb",
            "/export:by_number,@77,NONAME",
            "/export:away=other.function",
            "/safeseh:no",
            "lib.obj",
        ]));
        let mut image = Image::read(File::open(path("lib.dll")).expect("it is there"), None).expect("an image");
        assert_eq!(image.pdbs()[0].id.name, "lib.pdb");
        let table = image.exports("lib").expect("it exports");
        let name = |address: u64| table.frames(address).next().map(|frame| frame.function.to_owned());
        let mut names: Vec<_> = table.code_ranges().filter_map(|(start, _)| name(start)).collect();
        names.sort();
        assert_eq!(
            names,
            ["Ordinal77", "first", "second", "shop::Basket::operator=", "shop::Basket::operator=", "shop::Basket::sum"],
            "{target}"
        );
        let sum = table.code_ranges().find(|(start, _)| name(*start).is_some_and(|name| name.ends_with("sum")));
        let frame = table.frames(sum.expect("it is there").0).next().expect("a frame");
        assert_eq!((frame.arguments, frame.source), (Some("(int, char const *)"), "export"));
        // With unwind information a function that is not exported is nobody's.
        let functions = table_of(&path("lib.pdb"));
        let is_hidden = |start: &u64| functions.frames(*start).any(|frame| frame.function == "hidden");
        let hidden = functions.code_ranges().map(|(start, _)| start).find(is_hidden).expect("it has a name in the PDB");
        assert_eq!(bounded, name(hidden).is_none(), "{target}");
    }
}
