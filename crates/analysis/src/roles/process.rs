//! The role of a process.

use super::hosts::Host;
use super::without_numbers;

/// The role of a process: the file name of its image without `.exe`.
///
/// * Of a program that runs others, such as `dotnet`, `java`, `python3` or `svchost`, the role is its name
///   without a version, and the service, or else the file name of the first argument that is no option:
///   `python train.py`.
/// * Of a thread of the Linux kernel, which has a `/` in its name, the role has `#` for the numbers behind
///   it, and not the work that a worker thread of the kernel has at the moment: `kworker/#:#`.
/// * A process whose name nobody recorded is `unnamed`: the recording has its pid in place of the name.
///
/// `image` is the name of a row of `processes`, `command_line` its command line. `service` is the service
/// that the process or the thread works for; only a host has one in its role.
#[must_use]
pub fn process_role(image: &str, command_line: Option<&str>, service: Option<&str>) -> String {
    let name = without_exe(image);
    if let Some(host) = Host::of(name) {
        let service = service.map(str::trim).filter(|service| !service.is_empty()).map(of_all_users);
        let runs = service.map(str::to_owned).or_else(|| host.runs(arguments(command_line?, name)));
        return runs.map_or_else(|| host.name.to_owned(), |runs| format!("{} {runs}", host.name));
    }
    match name.split_once('/') {
        Some((worker @ "kworker", place)) => {
            let place = place.split(['-', '+']).next().unwrap_or_default();
            format!("{worker}/{}", without_numbers(place))
        }
        Some((kernel, place)) if !kernel.is_empty() => format!("{kernel}/{}", without_numbers(place)),
        _ if name.is_empty() || is_pid(name) => "unnamed".to_owned(),
        _ => without_hash(name).to_owned(),
    }
}

/// A name without the hash that a build or the system appends: `it-b7dcabaede00f381`, `memfd:sealed-91173221a7ea (deleted)`.
fn without_hash(name: &str) -> &str {
    let is_hash = |text: &str| {
        text.len() >= 12
            && text.bytes().any(|byte| byte.is_ascii_digit())
            && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    match name.trim_end_matches(" (deleted)").rsplit_once('-') {
        Some((stem, hash)) if !stem.is_empty() && is_hash(hash) => stem,
        _ => name,
    }
}

/// What stands for the name of a process that has none: `pid 4711`.
fn is_pid(name: &str) -> bool {
    name.strip_prefix("pid ").is_some_and(|pid| !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A name without `.exe`, in any case.
pub(crate) fn without_exe(image: &str) -> &str {
    let cut = image.len().checked_sub(4).filter(|at| *at > 0).and_then(|at| image.split_at_checked(at));
    cut.filter(|(_, extension)| extension.eq_ignore_ascii_case(".exe")).map_or(image, |(name, _)| name)
}

/// The name of a service without the number of the session that Windows appends where each user has the
/// service: `CDPUserSvc_3a4f1`.
fn of_all_users(service: &str) -> &str {
    let is_session = |text: &str| {
        (4..=8).contains(&text.len())
            && text.bytes().any(|byte| byte.is_ascii_digit())
            && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    match service.rsplit_once('_') {
        Some((name, session)) if !name.is_empty() && is_session(session) => name,
        _ => service,
    }
}

/// Bytes of the longest path of a program that has blanks and no quotes.
const MAX_PATH: usize = 260;

/// What stands behind the program in its command line.
fn arguments<'a>(command_line: &'a str, image: &str) -> &'a str {
    let line = command_line.trim_start();
    if let Some(quoted) = line.strip_prefix('"') {
        return quoted.split_once('"').map_or("", |(_, behind)| behind);
    }
    let mut ends = line.char_indices().filter(|(_, character)| character.is_whitespace()).map(|(at, _)| at);
    let first = ends.next().unwrap_or(line.len());
    // Windows finds a program with blanks in its path without quotes, too.
    let is_program = |end: &usize| {
        let path = line.get(..*end).unwrap_or_default();
        without_exe(path.rsplit(['/', '\\']).next().unwrap_or(path)).eq_ignore_ascii_case(image)
    };
    let end = std::iter::once(first).chain(ends).take_while(|end| *end <= MAX_PATH).find(is_program);
    line.get(end.unwrap_or(first)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{arguments, process_role};

    fn role(image: &str, command_line: &str) -> String {
        process_role(image, Some(command_line), None)
    }

    #[test]
    fn a_process_is_its_image() {
        assert_eq!(role("FileWriter.exe", "FileWriter.exe -n 5"), "FileWriter");
        assert_eq!(role("Setup.EXE", ""), "Setup");
        assert_eq!(process_role("file-writer", None, None), "file-writer");
        assert_eq!(process_role("7z.exe", None, Some("a service")), "7z");
        assert_eq!(process_role("a.exe.config", None, None), "a.exe.config");
        assert_eq!(process_role(".exe", None, None), ".exe");
        assert_eq!(process_role("Größe.exe", None, None), "Größe");
    }

    #[test]
    fn numbers_of_the_kernel_and_pids_are_left_out() {
        for (image, expected) in [
            ("kworker/0:1-events", "kworker/#:#"),
            ("kworker/u16:3-flush-8:0", "kworker/u#:#"),
            ("kworker/3:0H", "kworker/#:#H"),
            ("it-b7dcabaede00f381", "it"),
            ("memfd:sealed-91173221a7ea (deleted)", "memfd:sealed"),
            ("gcc-12", "gcc-12"),
            ("x86_64-linux-gnu-deadbeef", "x86_64-linux-gnu-deadbeef"),
            ("ksoftirqd/11", "ksoftirqd/#"),
            ("jbd2/sda1-8", "jbd2/sda#-#"),
            ("kswapd0", "kswapd0"),
            ("pid 4711", "unnamed"),
            ("", "unnamed"),
            ("pid 4711x", "pid 4711x"),
            ("/opt/7zip/7z", "/opt/7zip/7z"),
        ] {
            assert_eq!(process_role(image, None, None), expected);
        }
    }

    #[test]
    fn a_service_names_its_host() {
        let line = r"C:\Windows\system32\svchost.exe -k netsvcs -p -s Schedule";
        assert_eq!(process_role("svchost.exe", Some(line), Some("wuauserv")), "svchost wuauserv");
        assert_eq!(process_role("svchost.exe", Some(line), Some("CDPUserSvc_3a4f1")), "svchost CDPUserSvc");
        assert_eq!(process_role("svchost.exe", Some(line), Some("my_service")), "svchost my_service");
        assert_eq!(process_role("svchost.exe", Some(line), Some(" ")), "svchost Schedule");
        assert_eq!(role("svchost.exe", r"C:\Windows\system32\svchost.exe -k netsvcs -p"), "svchost netsvcs");
        assert_eq!(process_role("svchost.exe", None, None), "svchost");
    }

    #[test]
    fn the_program_of_a_command_line_is_no_argument() {
        for (line, behind) in [
            (r#""C:\Program Files\dotnet\dotnet.exe" exec a"#, " exec a"),
            (r"C:\Program Files\dotnet\dotnet.exe exec a", " exec a"),
            (r"C:\Program Files\dotnet\DOTNET exec a", " exec a"),
            ("  dotnet a", " a"),
            ("another a", " a"),
            ("dotnet", ""),
            ("\"dotnet", ""),
            ("", ""),
        ] {
            assert_eq!(arguments(line, "dotnet"), behind);
        }
    }

    proptest! {
        #[test]
        fn any_process_has_a_role(
            image in prop_oneof!["\\PC{0,12}", "(dotnet|java|python3|svchost|pwsh)(\\.exe)?"],
            line in "\\PC{0,60}",
            service in prop::option::of("\\PC{0,8}"),
        ) {
            let role = process_role(&image, Some(&line), service.as_deref());
            let given = image.len() + line.len() + service.as_deref().map_or(0, str::len);
            prop_assert!(!role.is_empty() && role.len() <= given + "unnamed ".len(), "{}", role);
        }

        /// Neither where the program lies nor its options and the folder of its argument matter.
        #[test]
        fn places_and_options_do_not_matter(
            folder in prop::sample::select(vec!["", "C:\\a b\\", "/usr/lib/", "D:\\x\\"]),
            options in prop::collection::vec("--?[a-z]{5,8}(=[a-z]{1,3})?", 0..3),
            program in "[a-z]{1,8}\\.dll",
            rest in "[a-z -]{0,10}",
        ) {
            let options = options.join(" ");
            let line = format!("\"{folder}dotnet.exe\" {options} \"{folder}{program}\" {rest}");
            prop_assert_eq!(role("dotnet.exe", &line), format!("dotnet {program}"));
        }
    }
}
