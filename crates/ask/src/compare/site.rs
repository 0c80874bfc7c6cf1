//! Names of methods that are the same in the next build.

use tracesift_analysis::MethodName;
use tracesift_analysis::roles::method_role;

use crate::path::rows::Name;

/// A name of a row without what differs from build to build: versions in the names of modules, and addresses.
///
/// `image` is the image of the test's program: `app.exe` and `app.dll` run the same code.
pub(super) fn lasting(mut name: Name, image: Option<&str>) -> Name {
    // What had the CPU is a process.
    if name.state != "ready" {
        name.site = name.site.map(|site| lasting_site(&site, image));
    }
    name.for_site = name.for_site.map(|site| lasting_site(&site, image));
    name
}

fn lasting_site(site: &str, image: Option<&str>) -> String {
    let Some((module, function)) = site.split_once('!') else { return site.to_owned() };
    // The function that a method without a name called.
    let (function, called) = match function.find(" (").filter(|_| function.ends_with(')')) {
        Some(place) if function[..place].starts_with(module) => function.split_at(place),
        _ => (function, ""),
    };
    let method = MethodName { module: Some(module.to_owned()), function: function.to_owned() };
    let is_main = image.is_some_and(|image| image.eq_ignore_ascii_case(module));
    let role = method_role(&method, is_main);
    format!("{role}{called}")
}

/// The module of a method.
pub(super) fn module_of(site: &str) -> Option<&str> {
    site.split_once('!').map(|(module, _)| module)
}

#[cfg(test)]
mod tests {
    use super::lasting_site;

    #[test]
    fn a_method_has_the_same_name_in_the_next_build() {
        for (site, expected) in [
            ("App.exe!Program.Main", "app.dll!Program.Main"),
            ("Other.exe!Program.Main", "other.exe!Program.Main"),
            ("libx-1.2.so.3.4!read", "libx.so.3!read"),
            ("dd!dd+0x5d69 (fsync)", "dd!dd+? (fsync)"),
            ("dd!dd+0x5d69", "dd!dd+?"),
            ("app!operator() (int)", "app!operator() (int)"),
            ("(no stack)", "(no stack)"),
        ] {
            assert_eq!(lasting_site(site, Some("App.exe")), expected);
        }
    }
}
