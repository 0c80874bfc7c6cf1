//! Roles: names of processes, threads and modules that are the same in the next recording of the same test.
//!
//! Ids of processes and threads differ from run to run, and so do numbers in names: a program may run its workers as `writer-1`
//! to `writer-8` and the work of a slow run in another of them. Roles leave out what differs, and keep what tells the purpose.

/// Images that run other programs, without `.exe` and in lower case: what they run tells their purpose.
const HOSTS: [&str; 16] = [
    "dotnet",
    "java",
    "javaw",
    "node",
    "ruby",
    "perl",
    "php",
    "deno",
    "bun",
    "pwsh",
    "powershell",
    "w3wp",
    "svchost",
    "dllhost",
    "rundll32",
    "mono",
];

/// The role of a process: the file name of its image without `.exe`. Of a host, such as `python3`, `java` or `svchost`, it is
/// followed by the service, or else by the file name of the first argument that is no option: `python3 train.py`.
#[must_use]
pub fn process_role(image: &str, command_line: Option<&str>, service: Option<&str>) -> String {
    let stem = without_extension(image, "exe");
    if !is_host(stem) {
        return stem.to_owned();
    }
    let argument = || command_line.and_then(|line| arguments(line).skip(1).find(|argument| !is_option(argument)));
    let what = service.map(str::to_owned).or_else(|| argument().map(|argument| file_name(&argument).to_owned()));
    what.filter(|what| !what.is_empty()).map_or_else(|| stem.to_owned(), |what| format!("{stem} {what}"))
}

/// The role of a thread in its process: `main` for the first one, else its name with `#` for numbers, else the method that it
/// began in, else `thread`.
#[must_use]
pub fn thread_role(is_first: bool, name: Option<&str>, start_method: Option<&str>) -> String {
    if is_first {
        return "main".to_owned();
    }
    match (name.map(str::trim).filter(|name| !name.is_empty()), start_method) {
        (Some(name), _) => without_numbers(name),
        (None, Some(method)) => method.to_owned(),
        (None, None) => "thread".to_owned(),
    }
}

/// A name with `#` in place of each number in it.
#[must_use]
pub fn without_numbers(name: &str) -> String {
    let mut role = String::with_capacity(name.len());
    for character in name.chars() {
        if !character.is_ascii_digit() {
            role.push(character);
        } else if !role.ends_with('#') {
            role.push('#');
        }
    }
    role
}

/// The role of a module, so that a build of another version, of another runtime, or a precompiled one is the same module: lower
/// case, `x.ni.dll` as `x.dll`, `clr.dll` as `coreclr.dll`, `libx-1.2.so.3.4` as `libx.so.3`. Of the test's own program, `.exe` is
/// `.dll`, since an apphost and `dotnet x.dll` run the same code.
#[must_use]
pub fn module_role(module: &str, is_main_program: bool) -> String {
    let name = module.to_lowercase();
    if let Some(library) = shared_object(&name) {
        return library;
    }
    if let Some(stem) = name.strip_suffix(".ni.dll").or_else(|| name.strip_suffix(".ni.exe")) {
        let extension = if name.ends_with(".exe") && !is_main_program { "exe" } else { "dll" };
        return format!("{stem}.{extension}");
    }
    match name.as_str() {
        "clr.dll" => "coreclr.dll".to_owned(),
        _ if is_main_program => name.strip_suffix(".exe").map_or_else(|| name.clone(), |stem| format!("{stem}.dll")),
        _ => name,
    }
}

/// `libx-1.2.so.3.4` as `libx.so.3`.
fn shared_object(name: &str) -> Option<String> {
    let (stem, version) = name.split_once(".so").filter(|(_, rest)| rest.is_empty() || rest.starts_with('.'))?;
    let stem = match stem.rsplit_once('-') {
        Some((before, number)) if is_version(number) && !before.is_empty() => before,
        _ => stem,
    };
    let major = version.trim_start_matches('.').split('.').next().unwrap_or_default();
    Some(if is_version(major) { format!("{stem}.so.{major}") } else { format!("{stem}.so") })
}

fn is_version(text: &str) -> bool {
    text.starts_with(|character: char| character.is_ascii_digit())
        && text.chars().all(|character| character.is_ascii_digit() || character == '.')
}

fn is_host(stem: &str) -> bool {
    let stem = stem.to_lowercase();
    // `python3.12`, `node22`
    let name = stem.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    name == "python" || name == "pythonw" || HOSTS.contains(&stem.as_str()) || HOSTS.contains(&name)
}

fn is_option(argument: &str) -> bool {
    argument.starts_with('-') || (argument.starts_with('/') && !argument[1..].contains('/') && argument.contains(':'))
}

/// The words of a command line; quotes keep blanks.
fn arguments(line: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = line.trim_start();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut quoted = false;
        let end = rest
            .char_indices()
            .find(|(_, character)| {
                quoted ^= *character == '"';
                !quoted && character.is_whitespace()
            })
            .map_or(rest.len(), |(at, _)| at);
        let (word, after) = rest.split_at(end);
        rest = after.trim_start();
        Some(word.replace('"', ""))
    })
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn without_extension<'a>(name: &'a str, extension: &str) -> &'a str {
    match name.rsplit_once('.') {
        Some((stem, found)) if found.eq_ignore_ascii_case(extension) && !stem.is_empty() => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{module_role, process_role, thread_role, without_numbers};

    #[test]
    fn a_process_is_its_image_and_a_host_is_what_it_runs() {
        for (image, command_line, service, role) in [
            ("FileWriter.exe", Some("FileWriter.exe -n 5"), None, "FileWriter"),
            ("pool2", None, None, "pool2"),
            ("python3.12", Some("/usr/bin/python3.12 -u ./train.py --epochs 3"), None, "python3.12 train.py"),
            (
                "dotnet.exe",
                Some("\"C:\\Program Files\\dotnet\\dotnet.exe\" \"C:\\a b\\app.dll\" x"),
                None,
                "dotnet app.dll",
            ),
            ("java", Some("java -Xmx1g -jar /opt/server.jar"), None, "java server.jar"),
            (
                "svchost.exe",
                Some("C:\\Windows\\system32\\svchost.exe -k netsvcs"),
                Some("wuauserv"),
                "svchost wuauserv",
            ),
            ("node", Some("node"), None, "node"),
            ("svchost.exe", None, None, "svchost"),
        ] {
            assert_eq!(process_role(image, command_line, service), role);
        }
    }

    #[test]
    fn a_thread_is_main_or_its_name_without_numbers() {
        assert_eq!(thread_role(true, Some("app"), None), "main");
        assert_eq!(thread_role(false, Some("writer-12"), None), "writer-#");
        assert_eq!(thread_role(false, Some("kworker/0:1-events"), None), "kworker/#:#-events");
        assert_eq!(thread_role(false, Some(" "), Some("app!Worker::run")), "app!Worker::run");
        assert_eq!(thread_role(false, None, None), "thread");
    }

    #[test]
    fn a_module_is_the_same_in_the_next_version() {
        for (module, is_main, role) in [
            ("NTDLL.DLL", false, "ntdll.dll"),
            ("System.Private.CoreLib.ni.dll", false, "system.private.corelib.dll"),
            ("clr.dll", false, "coreclr.dll"),
            ("App.exe", true, "app.dll"),
            ("App.exe", false, "app.exe"),
            ("libstdc++.so.6.0.30", false, "libstdc++.so.6"),
            ("libc-2.31.so", false, "libc.so"),
            ("libx-1.2.so.3.4", false, "libx.so.3"),
            ("lib.sound", false, "lib.sound"),
            ("[kernel.kallsyms]", false, "[kernel.kallsyms]"),
        ] {
            assert_eq!(module_role(module, is_main), role);
        }
    }

    proptest! {
        #[test]
        fn a_role_has_no_number_and_is_its_own_role(name in "\\PC{0,20}") {
            let role = without_numbers(&name);
            prop_assert!(!role.contains(|character: char| character.is_ascii_digit()));
            prop_assert_eq!(without_numbers(&role), role);
        }

        #[test]
        fn any_command_line_has_a_role(image in "\\PC{0,12}", line in "\\PC{0,40}") {
            let role = process_role(&image, Some(&line), None);
            prop_assert!(role.len() <= image.len() + line.len() + 1);
            let module = module_role(&line, false);
            prop_assert_eq!(module_role(&module, false), module);
        }
    }
}
