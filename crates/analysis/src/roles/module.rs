//! The roles of modules and methods.

use crate::names::MethodName;

/// The role of a module: the same for another version of it, for a precompiled one, and in another runtime.
/// It is in lower case, and:
///
/// * `x.ni.dll`, a native image of .NET, is `x.dll`.
/// * `clr.dll` of .NET Framework is `coreclr.dll`.
/// * `libx-1.2.so.3.4` is `libx.so.3`: programs need the first number of a version, and the others differ
///   from machine to machine.
/// * The program of a test, `app.exe`, is `app.dll`: an apphost and `dotnet app.dll` run the same code.
#[must_use]
pub fn module_role(module: &str, is_main_program: bool) -> String {
    let name = module.to_lowercase();
    if let Some(library) = shared_object(&name) {
        return library;
    }
    let Some((mut stem, mut extension)) = name.rsplit_once('.').filter(|(_, end)| matches!(*end, "dll" | "exe")) else {
        return if name == "clr" { "coreclr".to_owned() } else { name };
    };
    while let Some(il) = stem.strip_suffix(".ni").filter(|il| !il.is_empty()) {
        stem = il;
    }
    if stem == "clr" {
        stem = "coreclr";
    }
    if is_main_program {
        extension = "dll";
    }
    format!("{stem}.{extension}")
}

/// The role of a method: its module's, and its function. A method without a symbol is `module+?`: its address
/// differs from build to build.
#[must_use]
pub fn method_role(method: &MethodName, is_main_program: bool) -> MethodName {
    let Some(module) = &method.module else {
        return MethodName { module: None, function: without_address(&method.function) };
    };
    let behind = method.function.strip_prefix(module.as_str());
    let is_place = behind.is_some_and(|behind| behind.is_empty() || address(behind) == Some(""));
    let module = module_role(module, is_main_program);
    let function = if is_place { format!("{module}+?") } else { method.function.clone() };
    MethodName { module: Some(module), function }
}

/// A text with `+?` in place of the address at its end.
pub(super) fn without_address(text: &str) -> String {
    address(text).map_or_else(|| text.to_owned(), |before| format!("{before}+?"))
}

/// What stands before the address, `+0x12f0`, with which a text ends.
fn address(text: &str) -> Option<&str> {
    let (before, digits) = text.rsplit_once("+0x")?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(before)
}

/// `libx-1.2.so.3.4` as `libx.so.3`; `None` for what is no shared object.
fn shared_object(name: &str) -> Option<String> {
    let (mut stem, version) = name.rsplit_once(".so")?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut numbers = version.split('.');
    // In front of the first point nothing is allowed: `lib.sound` is no shared object.
    if stem.is_empty() || numbers.next() != Some("") || !numbers.clone().all(is_number) {
        return None;
    }
    while let Some((before, end)) = stem.rsplit_once('-') {
        if before.is_empty() || !end.split('.').all(is_number) {
            break;
        }
        stem = before;
    }
    Some(numbers.next().map_or_else(|| format!("{stem}.so"), |major| format!("{stem}.so.{major}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{method_role, module_role};
    use crate::names::{MethodName, MethodNames};

    #[test]
    fn a_module_is_the_same_in_the_next_version() {
        for (module, is_main_program, role) in [
            ("NTDLL.DLL", false, "ntdll.dll"),
            ("System.Private.CoreLib.ni.dll", false, "system.private.corelib.dll"),
            ("App.ni.exe", false, "app.exe"),
            ("App.ni.exe", true, "app.dll"),
            ("ni.dll", false, "ni.dll"),
            ("Mini.dll", false, "mini.dll"),
            ("clr.dll", false, "coreclr.dll"),
            ("clrjit.dll", false, "clrjit.dll"),
            ("App.exe", true, "app.dll"),
            ("App.exe", false, "app.exe"),
            ("App.dll", true, "app.dll"),
            ("pool2", true, "pool2"),
            ("libstdc++.so.6.0.30", false, "libstdc++.so.6"),
            ("libc-2.31.so", false, "libc.so"),
            ("libx-1.2.so.3.4", false, "libx.so.3"),
            ("libgtk-3.so.0.2404.29", false, "libgtk.so.0"),
            ("libpython3.11.so.1.0", false, "libpython3.11.so.1"),
            ("libx-beta2.so", false, "libx-beta2.so"),
            ("lib.sound", false, "lib.sound"),
            ("lib.so.conf", false, "lib.so.conf"),
            ("lib.so.", false, "lib.so."),
            ("-1.so", false, "-1.so"),
            (".so", false, ".so"),
            ("[kernel.kallsyms]", false, "[kernel.kallsyms]"),
            ("", true, ""),
        ] {
            assert_eq!(module_role(module, is_main_program), role);
        }
    }

    #[test]
    fn a_method_without_a_symbol_has_no_address() {
        let mut names = MethodNames::new();
        let methods = [
            names.without_symbol("App.exe", 0x12f0),
            names.unresolved("App.exe"),
            names.function(Some("App.exe"), "Main"),
            names.function(Some("App.exe"), "App.exe.Main"),
            names.function(Some("App.exe"), "operator+0x"),
            names.unknown(),
        ];
        let roles = methods.map(|method| method_role(&names.name(method), true).to_string());
        let expected =
            ["app.dll!app.dll+?", "app.dll!app.dll+?", "app.dll!Main", "app.dll!App.exe.Main", "app.dll!operator+0x"];
        assert_eq!(roles[..5], expected);
        assert_eq!(roles[5], "[unknown]");
        let stray = MethodName { module: None, function: "0x7f+0xAB".to_owned() };
        assert_eq!(method_role(&stray, false).function, "0x7f+?");
    }

    proptest! {
        #[test]
        fn a_role_is_its_own_role(
            module in prop_oneof!["\\PC{0,16}", "(lib)?[a-c.-]{0,3}[0-9.-]{0,4}(\\.ni|\\.so|\\.dll|\\.exe){0,3}[0-9.]{0,4}"],
            is_main_program: bool,
        ) {
            let role = module_role(&module, is_main_program);
            prop_assert_eq!(module_role(&role, is_main_program), role);
        }

        #[test]
        fn versions_of_a_library_are_one_module(
            stem in "lib[a-z+_]{1,8}",
            major in 0..99_u32,
            [a, b] in [prop::collection::vec(0..999_u32, 0..4), prop::collection::vec(0..999_u32, 0..4)],
        ) {
            let file = |version: &[u32]| {
                let text = version.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
                let minor = version.iter().map(|number| format!(".{number}")).collect::<String>();
                let dash = if text.is_empty() { "" } else { "-" };
                format!("{stem}{dash}{text}.so.{major}{minor}")
            };
            prop_assert_eq!(module_role(&file(&a), false), format!("{stem}.so.{major}"));
            prop_assert_eq!(module_role(&file(&b), false), format!("{stem}.so.{major}"));
        }
    }
}
