//! Decorated names as people write them.
//!
//! Written anew, since what exists unfolds every reference back without a bound: a name of a hundred letters may take gigabytes. Here
//! everything that is written counts against a budget, and a name that takes more stays as it is.

mod names;
mod types;

use std::borrow::Cow;

/// A function's name and argument list apart.
#[derive(Debug)]
pub(crate) struct Undecorated<'a> {
    pub(crate) name: Cow<'a, str>,
    /// With its parentheses; `None` where the name does not say.
    pub(crate) arguments: Option<String>,
}

/// The name as people write it: of C++ by Microsoft's rules; names of C, and what is not understood, as they are. Classes are written without
/// the word `class`, and functions without calling conventions, as in the names that PDBs have of functions.
pub(crate) fn undecorate(name: &str) -> Undecorated<'_> {
    let plain = Undecorated { name: Cow::Borrowed(name), arguments: None };
    if !name.starts_with('?') {
        return plain;
    }
    match names::Parser::new(name).symbol() {
        Some(symbol) => Undecorated { name: Cow::Owned(symbol.name), arguments: symbol.arguments },
        None => plain,
    }
}

/// A name of C without what compilers for x86 add for each calling convention: `_name`, `_name@8`, `@name@8`, `name@@16`.
pub(crate) fn c_name(name: &str) -> &str {
    if name.starts_with('?') {
        return name;
    }
    let (bare, digits) = name.rsplit_once('@').unwrap_or((name, ""));
    let counted = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let bare = match bare.strip_suffix('@') {
        Some(vector) if counted => return vector,
        _ if counted => bare,
        _ => name,
    };
    let prefix = if counted { bare.strip_prefix(['_', '@']) } else { bare.strip_prefix('_') };
    prefix.filter(|name| !name.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{c_name, undecorate};

    /// Name and arguments in one.
    fn both(name: &str) -> String {
        let undecorated = undecorate(name);
        format!("{}{}", undecorated.name, undecorated.arguments.unwrap_or_default())
    }

    #[test]
    fn names_of_cpp_are_undecorated() {
        for (decorated, expected) in [
            ("?f@@YAXXZ", "f()"),
            ("?sum@Basket@shop@@QEAAHHPEBD@Z", "shop::Basket::sum(int, char const *)"),
            ("??0exception@std@@QEAA@XZ", "std::exception::exception()"),
            ("??1exception@std@@UEAA@XZ", "std::exception::~exception()"),
            ("??4Basket@shop@@QEAAAEAU01@$$QEAU01@@Z", "shop::Basket::operator=(shop::Basket &&)"),
            ("??_Gbad_alloc@std@@UAEPAXI@Z", "std::bad_alloc::`scalar deleting destructor'(unsigned int)"),
            ("?get@?$Box@H$02@@QEBAHXZ", "Box<int,3>::get()"),
            ("?a@?$Box@V?$Box@H$0A@@@$0?0@@SAXP6AHH@Z0ZZ", "Box<Box<int,0>,-1>::a(int (*)(int), int (*)(int), ...)"),
            ("?f@?A0xc3a0617d@@YAXAAY02H@Z", "`anonymous namespace'::f(int (&)[3])"),
            ("??Bthing@@QBE_NXZ", "thing::operator bool()"),
            ("?f@@YAXP8thing@@AEHH@Z@Z", "f(int (thing::*)(int))"),
            ("??2@YAPAXI@Z", "operator new(unsigned int)"),
            ("??__Ecount@@YAXXZ", "`dynamic initializer for 'count''()"),
            ("?sink@@3HC", "sink"),
            ("??_7type_info@@6B@", "type_info::`vftable'"),
            ("?inner@?1??outer@@YAHXZ@4HA", "`outer()'::`2'::inner"),
        ] {
            assert_eq!(both(decorated), expected, "{decorated}");
        }
    }

    /// All decorated names of functions in the shared PDBs, against llvm-undname.
    ///
    /// It writes the words for kinds of classes and for calling conventions within types, `(void)`, whether a function may change its object, and
    /// blanks elsewhere.
    #[test]
    fn names_agree_with_llvm_undname() {
        let Some(cases) = tracesift_fixtures::cases("symbols") else { return };
        if !tracesift_fixtures::have(&["llvm-pdbutil", "llvm-undname"]) {
            return;
        }
        let mut names = std::collections::BTreeSet::new();
        for pdb in ["crash.pdb", "CrashWithException.pdb", "test_vtables_omap.dll.pdb"] {
            let output = Command::new("llvm-pdbutil").args(["dump", "-publics"]).arg(cases.join(pdb)).output();
            let output = output.expect("it can be run");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            names.extend(
                text.lines().filter_map(|line| Some(line.split_once("`?")?.1.trim_end_matches('`').to_owned())),
            );
        }
        assert!(!names.is_empty());
        let names: Vec<String> = names.into_iter().map(|name| format!("?{name}")).collect();
        let options = ["--no-access-specifier", "--no-calling-convention", "--no-return-type", "--no-member-type"];
        let output = Command::new("llvm-undname").args(options).args(&names).output().expect("it can be run");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut compared = 0;
        for (name, answer) in names.iter().zip(text.split("\n\n")) {
            let (_, theirs) = answer.trim().split_once('\n').expect("a name and what it means");
            // Data, and texts among it.
            if undecorate(name).arguments.is_none() {
                assert!(undecorate(name).name.starts_with('?') == name.starts_with("??_C"), "{name}");
                continue;
            }
            let bare = |text: &str| {
                let text =
                    text.replace("(void)", "()").replace("dtor'", "destructor'").replace("ctor'", "constructor'");
                let mut text = text.replace([' ', '\n'], "");
                for word in ["class", "struct", "union", "enum", "__cdecl", "__stdcall", "__thiscall"] {
                    text = text.replace(word, "");
                }
                text.strip_suffix(")const").map_or(text.clone(), |text| format!("{text})"))
            };
            assert_eq!(bare(&both(name)), bare(theirs), "{name}");
            compared += 1;
        }
        println!("{compared} functions of {} names", names.len());
        assert!(compared > 70, "{compared}");
    }

    /// Each level refers to the one within several times.
    #[test]
    fn a_name_that_unfolds_without_end_stays_as_it_is() {
        let mut name = "V?$t@H@@".to_owned();
        for _ in 0..12 {
            name = format!("V?$t@{name}V1@V1@V1@V1@V1@V1@V1@@@");
        }
        let name = format!("?f@@YAX{name}@Z");
        assert_eq!(both(&name), name);
        let deep = format!("?f@@YAX{}H@Z", "PA".repeat(30_000));
        assert_eq!(both(&deep), deep);
    }

    #[test]
    fn names_of_c_lose_their_decoration() {
        for (decorated, expected) in [
            ("_main", "main"),
            ("_f@12", "f"),
            ("@f@8", "f"),
            ("f@@16", "f"),
            ("_", "_"),
            ("?f@@YAXXZ", "?f@@YAXXZ"),
            ("__imp__f@4", "_imp__f"),
        ] {
            assert_eq!(c_name(decorated), expected, "{decorated}");
        }
    }
}
