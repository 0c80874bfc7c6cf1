//! NT paths as users know them: `\Device\HarddiskVolume3\Windows` is `C:\Windows`.

/// Maps the NT device prefixes of one recording.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathMap {
    /// NT prefix and its drive prefix, as recorded; the longest match wins.
    volumes: Vec<(String, String)>,
    /// `C:\Windows`, without the separator at the end.
    windows: Option<String>,
}

impl PathMap {
    /// A volume mapping record.
    pub(crate) fn volume(&mut self, nt_prefix: &str, dos_prefix: &str) {
        if nt_prefix.is_empty() || self.volumes.iter().any(|(nt, _)| nt.eq_ignore_ascii_case(nt_prefix)) {
            return;
        }
        self.volumes.push((nt_prefix.to_owned(), dos_prefix.to_owned()));
        self.volumes.sort_by_key(|(nt, _)| std::cmp::Reverse(nt.len()));
    }

    /// The Windows directory.
    pub(crate) fn windows_directory(&mut self, path: &str) {
        let path = path.trim_end_matches('\\');
        if self.windows.is_none() && !path.is_empty() {
            self.windows = Some(path.to_owned());
        }
    }

    /// The mapped volumes.
    pub(crate) fn volumes(&self) -> &[(String, String)] {
        &self.volumes
    }

    /// Where no mapping was recorded: ntdll.dll is always loaded from the Windows directory, so the device on which it lies
    /// is the drive of that directory. Used only when all such paths agree.
    pub(crate) fn infer_system_volume<'a>(&mut self, paths: impl Iterator<Item = &'a str>) {
        const TAIL: &str = r"\windows\system32\ntdll.dll";
        if self.volumes.iter().any(|(nt, _)| nt.to_ascii_lowercase().starts_with(r"\device\harddiskvolume")) {
            return;
        }
        let Some(drive) = self.windows.as_ref().and_then(|windows| windows.get(..2)).map(str::to_owned) else { return };
        let mut found: Option<&str> = None;
        for path in paths {
            let Some(split) = path.len().checked_sub(TAIL.len()).filter(|split| path.is_char_boundary(*split)) else {
                continue;
            };
            let (device, tail) = path.split_at(split);
            let is_volume = device.to_ascii_lowercase().starts_with(r"\device\harddiskvolume");
            if is_volume && tail.eq_ignore_ascii_case(TAIL) {
                if found.is_some_and(|found| found != device) {
                    return;
                }
                found = Some(device);
            }
        }
        if let Some(device) = found {
            self.volume(&format!("{device}\\"), &format!("{drive}\\"));
        }
    }

    /// The path as users know it; unchanged where nothing maps it.
    pub(crate) fn display(&self, path: &str) -> String {
        for (nt, dos) in &self.volumes {
            if !dos.is_empty()
                && let Some(rest) = strip_prefix(path, nt)
            {
                return format!("{dos}{rest}");
            }
        }
        if let Some(rest) = strip_prefix(path, r"\??\") {
            return rest.to_owned();
        }
        for network in [r"\Device\Mup\", r"\Device\LanmanRedirector\"] {
            if let Some(rest) = strip_prefix(path, network) {
                return format!(r"\\{rest}");
            }
        }
        if let Some(windows) = &self.windows {
            if let Some(rest) = strip_prefix(path, r"\SystemRoot\") {
                return format!(r"{windows}\{rest}");
            }
            if strip_prefix(path, r"system32\").is_some() {
                return format!(r"{windows}\{path}");
            }
        }
        path.to_owned()
    }
}

/// The rest of `path` after `prefix`, compared without regard to ASCII case.
fn strip_prefix<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    let head = path.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &path[prefix.len()..])
}

#[cfg(test)]
mod tests {
    use super::PathMap;

    #[test]
    fn maps_what_users_know() {
        let mut map = PathMap::default();
        map.volume(r"\Device\HarddiskVolume3\", r"C:\");
        map.volume(r"\Device\HarddiskVolume30\", r"D:\");
        map.volume(r"\??\", "");
        map.windows_directory(r"C:\Windows\");
        for (recorded, shown) in [
            (r"\Device\HarddiskVolume3\Windows\x.dll", r"C:\Windows\x.dll"),
            (r"\device\harddiskvolume30\a", r"D:\a"),
            (r"\Device\HarddiskVolume4\a", r"\Device\HarddiskVolume4\a"),
            (r"\SystemRoot\system32\ntoskrnl.exe", r"C:\Windows\system32\ntoskrnl.exe"),
            (r"system32\drivers\a.sys", r"C:\Windows\system32\drivers\a.sys"),
            (r"\??\C:\a.sys", r"C:\a.sys"),
            (r"\Device\Mup\server\share\a", r"\\server\share\a"),
            ("ntdll.dll", "ntdll.dll"),
            ("", ""),
        ] {
            assert_eq!(map.display(recorded), shown);
        }
    }

    #[test]
    fn infers_the_system_volume_only_when_it_is_certain() {
        let ntdll = |n: u32| format!(r"\Device\HarddiskVolume{n}\Windows\System32\ntdll.dll");
        let mut map = PathMap::default();
        map.windows_directory(r"C:\Windows");
        let mut torn = map.clone();
        map.infer_system_volume([ntdll(3).as_str(), "x", ntdll(3).as_str()].into_iter());
        assert_eq!(map.display(r"\Device\HarddiskVolume3\a"), r"C:\a");
        torn.infer_system_volume([ntdll(3).as_str(), ntdll(4).as_str()].into_iter());
        assert_eq!(torn.display(r"\Device\HarddiskVolume3\a"), r"\Device\HarddiskVolume3\a");
    }
}
