//! Roles: names of processes, threads and modules that are the same in the next recording of the same test.
//!
//! Two runs are compared by names, since ids differ from run to run. Some names differ, too: a program
//! calls its worker threads `writer-1` to `writer-8`, a new version of a library has another file name, and
//! every Python program is `python3`. A role leaves out what differs and says what tells the purpose.
//!
//! * [`process_role`]: the image, and what it runs where it runs other programs
//! * [`thread_role`]: the purpose of a thread in its process
//! * [`module_role`] and [`method_role`]: modules and methods without versions and addresses
//! * [`of_test`]: the processes of a test

mod hosts;
mod module;
mod numbers;
mod process;
mod test_processes;

pub use module::{method_role, module_role};
pub use numbers::without_numbers;
pub use process::process_role;
pub use test_processes::of_test;

use module::without_address;
pub(crate) use process::without_exe;

/// The role of a thread in its process: `main` for the first one, else its name [without
/// numbers](without_numbers), else the method that it began in, else `thread`.
///
/// `start_method` is the text of a method, `module!function`. An address in place of a function is left
/// out, as it differs from build to build.
#[must_use]
pub fn thread_role(is_first: bool, name: Option<&str>, start_method: Option<&str>) -> String {
    if is_first {
        return "main".to_owned();
    }
    let given = |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    given(name)
        .map(|name| without_numbers(&name))
        .or_else(|| given(start_method).map(|method| without_address(&method)))
        .unwrap_or_else(|| "thread".to_owned())
}

#[cfg(test)]
mod tests {
    use super::thread_role;

    #[test]
    fn a_thread_is_the_first_one_or_its_name_or_its_start() {
        for (is_first, name, start, role) in [
            (true, Some("app"), Some("app!main"), "main"),
            (false, Some("writer-12"), Some("app!write"), "writer-#"),
            (false, Some(" "), Some("app!Pool::run2"), "app!Pool::run2"),
            (false, None, Some("app.exe!app.exe+0x12F0"), "app.exe!app.exe+?"),
            (false, Some(""), None, "thread"),
            (false, None, Some(""), "thread"),
        ] {
            assert_eq!(thread_role(is_first, name, start), role);
        }
    }
}
