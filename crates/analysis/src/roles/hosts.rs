//! Programs that run other programs: what such a host runs tells the purpose of its process.

/// A program that runs others, and what its command line says of them.
#[derive(Debug)]
pub(super) struct Host {
    /// Its name in roles: the image without `.exe` and version, lower case.
    pub(super) name: &'static str,
    /// Another image of the same program, such as the one without a console.
    other_image: Option<&'static str>,
    /// Options whose value is the name of what it runs, those that tell most first.
    naming: &'static [&'static str],
    /// Options that have a value as the next word, of which it says nothing.
    valued: &'static [&'static str],
    /// Options that a program in the command line itself follows: it has no name.
    code: &'static [&'static str],
    /// Words in front of the name that stand for nothing.
    verbs: &'static [&'static str],
    /// Whether the case of options matters.
    minds_case: bool,
}

const fn host(name: &'static str) -> Host {
    Host { name, other_image: None, naming: &[], valued: &[], code: &[], verbs: &[], minds_case: true }
}

const POWERSHELL: Host = Host {
    valued: &[
        "-configurationfile",
        "-configurationname",
        "-custompipename",
        "-ep",
        "-ex",
        "-executionpolicy",
        "-inputformat",
        "-outputformat",
        "-psconsolefile",
        "-settingsfile",
        "-version",
        "-w",
        "-wd",
        "-windowstyle",
        "-workingdirectory",
    ],
    code: &["-c", "-command", "-e", "-ec", "-enc", "-encodedcommand"],
    minds_case: false,
    ..host("powershell")
};

const HOSTS: [Host; 16] = [
    Host {
        valued: &[
            "--additional-deps",
            "--additionalprobingpath",
            "--depsfile",
            "--fx-version",
            "--roll-forward",
            "--runtimeconfig",
        ],
        verbs: &["exec"],
        ..host("dotnet")
    },
    Host {
        other_image: Some("javaw"),
        valued: &[
            "--add-exports",
            "--add-modules",
            "--add-opens",
            "--add-reads",
            "--class-path",
            "--limit-modules",
            "--module-path",
            "--patch-module",
            "--source",
            "--upgrade-module-path",
            "-classpath",
            "-cp",
            "-p",
        ],
        ..host("java")
    },
    Host {
        other_image: Some("pythonw"),
        valued: &["--check-hash-based-pycs", "-W", "-X"],
        code: &["-c"],
        ..host("python")
    },
    Host {
        valued: &["--conditions", "--experimental-loader", "--import", "--loader", "--require", "-C", "-r"],
        code: &["--eval", "--print", "-e", "-p", "-pe"],
        ..host("node")
    },
    Host { naming: &["-s", "-k"], ..host("svchost") },
    Host { naming: &["-ap"], ..host("w3wp") },
    POWERSHELL,
    Host { name: "pwsh", ..POWERSHELL },
    host("mono"),
    Host { valued: &["-I", "-r"], code: &["-e"], ..host("ruby") },
    Host { valued: &["-I"], code: &["-E", "-e"], ..host("perl") },
    Host { valued: &["-c", "-d", "-z"], code: &["-r"], ..host("php") },
    Host { verbs: &["run"], ..host("deno") },
    Host { verbs: &["run"], code: &["--eval", "-e"], ..host("bun") },
    host("rundll32"),
    Host { code: &["-e"], ..host("rscript") },
];

impl Host {
    /// The host with this image, given without `.exe`: in any case and of any version, such as `python3.12`.
    pub(super) fn of(image: &str) -> Option<&'static Self> {
        let plain = image.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
        // `rundll32` and its like have a number that is no version.
        let is = |known: &str| known.eq_ignore_ascii_case(image) || known.eq_ignore_ascii_case(plain);
        HOSTS.iter().find(|host| is(host.name) || host.other_image.is_some_and(is))
    }

    /// The file name of what a host runs, by its arguments.
    pub(super) fn runs(&self, arguments: &str) -> Option<String> {
        let name = |text: &str| {
            let file = text.rsplit(['/', '\\']).find(|part| !part.trim().is_empty())?.trim();
            Some(file.to_owned())
        };
        let named = |option: &&str| {
            let mut words = words(arguments).skip_while(|word| !self.is_one_of(word, &[*option]));
            words.nth(1).filter(|value| !value.starts_with('-'))
        };
        if !self.naming.is_empty() {
            return self.naming.iter().find_map(named).and_then(|value| name(&value));
        }
        let mut words = words(arguments);
        while let Some(word) = words.next() {
            if self.is_one_of(&word, self.code) {
                return None;
            }
            if self.is_one_of(&word, self.valued) {
                words.next();
            } else if !word.starts_with('-') && !self.is_one_of(&word, self.verbs) {
                return name(&word);
            }
        }
        None
    }

    fn is_one_of(&self, word: &str, options: &[&str]) -> bool {
        options.iter().any(|option| *option == word || (!self.minds_case && option.eq_ignore_ascii_case(word)))
    }
}

/// The words of a command line. Quotes keep blanks; a quote behind a backslash is a part of its word.
fn words(line: &str) -> impl Iterator<Item = String> + '_ {
    let mut characters = line.chars().peekable();
    std::iter::from_fn(move || {
        while characters.next_if(|character| character.is_whitespace()).is_some() {}
        characters.peek()?;
        let (mut word, mut is_quoted) = (String::new(), false);
        while let Some(character) = characters.next_if(|character| is_quoted || !character.is_whitespace()) {
            match character {
                '\\' if characters.peek() == Some(&'"') => word.extend(characters.next()),
                '"' => is_quoted = !is_quoted,
                _ => word.push(character),
            }
        }
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{HOSTS, Host, words};

    fn runs(image: &str, arguments: &str) -> Option<String> {
        Host::of(image).expect("a host").runs(arguments)
    }

    #[test]
    fn hosts_have_versions_and_other_images() {
        let name = |image| Host::of(image).map(|host| host.name);
        for (image, host) in [
            ("python3.12", Some("python")),
            ("PYTHONW", Some("python")),
            ("python-config", None),
            ("pythonista", None),
            ("node22", Some("node")),
            ("javaw", Some("java")),
            ("javac", None),
            ("rundll32", Some("rundll32")),
            ("dotnet-trace", None),
            ("3.12", None),
            ("", None),
        ] {
            assert_eq!(name(image), host, "{image}");
        }
        for host in &HOSTS {
            assert_eq!(name(host.name), Some(host.name), "each is found by its own name");
        }
    }

    #[test]
    fn the_first_argument_that_is_no_option_names_the_program() {
        for (image, arguments, program) in [
            ("dotnet", r#"exec --depsfile a.json "C:\a b\app.dll" run x.dll"#, Some("app.dll")),
            ("dotnet", "build --nologo app.sln", Some("build")),
            ("dotnet", "--info", None),
            ("java", "-Xmx1g -cp a.jar:b.jar -Dx=y com.shop.Main 5", Some("com.shop.Main")),
            ("java", "-jar /opt/server.jar", Some("server.jar")),
            ("java", "-p mods -m shop/com.shop.Main", Some("com.shop.Main")),
            ("python3", "-u -X dev ./train.py --epochs 3", Some("train.py")),
            ("python3", "-m http.server 8000", Some("http.server")),
            ("python3", "-c \"import os; os.getpid()\" train.py", None),
            ("node", "--require ./setup.js --inspect=0 dist/server.js", Some("server.js")),
            ("node", "-e 1 server.js", None),
            ("powershell", "-NoProfile -executionPOLICY Bypass -File C:\\t\\run.ps1 -n 5", Some("run.ps1")),
            ("pwsh", "-NoLogo -Command Get-Process", None),
            ("w3wp", r#"-v "v4.0" -ap "Default App Pool" -h x"#, Some("Default App Pool")),
            ("w3wp", "", None),
            ("svchost", "-k LocalService -s nsi", Some("nsi")),
            ("svchost", "-k LocalService -s -p", Some("LocalService")),
            ("bun", "run server.ts", Some("server.ts")),
            ("rundll32", r"C:\Windows\shell32.dll,Control_RunDLL x", Some("shell32.dll,Control_RunDLL")),
            ("mono", r"/opt/a\", Some("a")),
            ("mono", r#""" "/" app.exe"#, None),
        ] {
            assert_eq!(runs(image, arguments).as_deref(), program, "{image} {arguments}");
        }
    }

    proptest! {
        /// Words that are written into a command line are read from it.
        #[test]
        fn words_are_read_as_they_are_written(texts in prop::collection::vec("[a-z \"'/-]{0,6}", 0..6)) {
            let line = texts.iter().map(|text| format!("\"{}\" ", text.replace('"', "\\\""))).collect::<String>();
            prop_assert_eq!(words(&line).collect::<Vec<_>>(), texts);
        }

        #[test]
        fn any_line_has_an_end(line in "\\PC{0,40}") {
            prop_assert!(words(&line).count() <= line.len());
        }
    }
}
