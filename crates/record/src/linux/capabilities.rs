//! The events that perf can record on a machine, and the rights that they need.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::energy::Access;
use crate::Error;

/// What perf can record on a machine, and what this user may.
#[derive(Clone, Debug, Default)]
pub struct Capabilities {
    /// perf.
    pub perf: Option<Perf>,
    /// Major and minor version of the kernel.
    pub kernel: (u32, u32),
    /// Release of the kernel, as packages are called after it.
    pub release: String,
    /// Id of the distribution, `debian`.
    pub distribution: String,
    /// Whether the user may use all of perf: root, or CAP_PERFMON.
    pub privileged: bool,
    /// Whether the user is root. Files that belong to root are closed to others, whatever they may do with perf.
    pub root: bool,
    /// `kernel.perf_event_paranoid`: 2 own processes without the kernel, 1 with it, 0 all CPUs, −1 tracepoints.
    pub paranoid: i32,
    /// Whether tracepoints can be read.
    pub tracefs: Tracefs,
    /// The tracepoints of the profiles that exist, `system:name`.
    pub tracepoints: BTreeSet<String>,
    /// Whether probes can be set in programs, and where the arguments of calls are is known.
    pub uprobes: bool,
    /// Whether counters of energy can be read.
    pub energy: Access,
    /// Whether probes can be set in the kernel.
    pub kprobes: bool,
    /// Whether the CPU has counters that perf can use. Virtual machines often have none.
    pub hardware_counters: bool,
    /// Whether the CPU records branches.
    pub branch_records: bool,
    /// `kernel.perf_event_max_sample_rate`.
    pub max_rate: Option<u64>,
    /// Number of CPUs.
    pub cpus: u32,
}

/// perf, as it is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Perf {
    /// The program.
    pub path: PathBuf,
    /// Major and minor version.
    pub version: (u32, u32),
}

/// The file system that describes tracepoints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Tracefs {
    /// It can be read.
    Readable,
    /// It is there, but not for this user.
    Forbidden,
    /// It is not mounted.
    #[default]
    Missing,
}

impl Capabilities {
    /// Looks at this machine. `tracepoints` are those that somebody wants to know about; `sysfs` is the root of the file system that
    /// shows counters of energy.
    #[must_use]
    pub fn of_this_machine<'a>(sysfs: &Path, tracepoints: impl Iterator<Item = &'a str>) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let number = |path: &str| read(path).trim().parse::<i64>().ok();
        let release = read("/proc/sys/kernel/osrelease").trim().to_owned();
        let root = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"].map(Path::new);
        let events = root.iter().map(|root| root.join("events")).find(|events| events.read_dir().is_ok());
        let exists = |name: &&str| {
            let (system, name) = name.split_once(':').unwrap_or_default();
            let id = events.as_ref().map(|events| events.join(system).join(name).join("id"));
            id.is_some_and(|id| std::fs::read_to_string(id).is_ok())
        };
        Self {
            perf: find_perf(),
            kernel: version(&release).unwrap_or_default(),
            distribution: distribution(&read("/etc/os-release")),
            release,
            privileged: is_privileged(&read("/proc/self/status")),
            root: is_root(&read("/proc/self/status")),
            paranoid: number("/proc/sys/kernel/perf_event_paranoid").and_then(|it| it.try_into().ok()).unwrap_or(2),
            tracefs: match (&events, root.iter().any(|root| is_mounted(&read("/proc/self/mounts"), root))) {
                (Some(_), _) => Tracefs::Readable,
                (None, true) => Tracefs::Forbidden,
                (None, false) => Tracefs::Missing,
            },
            tracepoints: tracepoints.filter(exists).map(str::to_owned).collect(),
            #[cfg(target_os = "linux")]
            uprobes: super::name_probes::table().is_some(),
            #[cfg(not(target_os = "linux"))]
            uprobes: false,
            energy: Access::below(sysfs),
            #[cfg(target_os = "linux")]
            kprobes: super::path_probes::are_in_kernel(),
            #[cfg(not(target_os = "linux"))]
            kprobes: false,
            hardware_counters: has_hardware_counters(),
            branch_records: number("/sys/bus/event_source/devices/cpu/caps/branches").is_some_and(|count| count > 0),
            max_rate: number("/proc/sys/kernel/perf_event_max_sample_rate").and_then(|it| it.try_into().ok()),
            cpus: std::thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(1)),
        }
    }

    /// A machine of today whose user may do everything, and whose CPU shows no counters.
    #[must_use]
    pub fn of_any_machine(tracepoints: Vec<String>) -> Self {
        Self {
            perf: Some(Perf { path: "perf".into(), version: (6, 1) }),
            kernel: (6, 1),
            privileged: true,
            root: true,
            paranoid: 2,
            tracefs: Tracefs::Readable,
            tracepoints: tracepoints.into_iter().collect(),
            uprobes: true,
            energy: Access::Readable,
            kprobes: true,
            cpus: 4,
            ..Self::default()
        }
    }

    /// perf, or how it is installed here.
    ///
    /// # Errors
    ///
    /// [`Error::NoRecorder`] where it is not.
    pub fn perf(&self) -> Result<&Perf, Error> {
        let remedy = || format!("install it: {}", self.install());
        self.perf.as_ref().ok_or_else(|| Error::NoRecorder { tool: "perf", remedy: remedy() })
    }

    /// The command that installs perf.
    #[must_use]
    pub fn install(&self) -> String {
        match self.distribution.as_str() {
            "debian" | "raspbian" | "kali" => "sudo apt install linux-perf".to_owned(),
            "ubuntu" | "linuxmint" | "pop" => format!("sudo apt install linux-tools-{}", self.release),
            "fedora" | "rhel" | "centos" | "rocky" | "almalinux" | "amzn" => "sudo dnf install perf".to_owned(),
            "arch" | "manjaro" | "endeavouros" => "sudo pacman -S perf".to_owned(),
            "opensuse-leap" | "opensuse-tumbleweed" | "sles" => "sudo zypper install perf".to_owned(),
            "alpine" => "sudo apk add perf".to_owned(),
            "gentoo" => "sudo emerge dev-util/perf".to_owned(),
            "nixos" => "nix-shell -p linuxPackages.perf".to_owned(),
            "void" => "sudo xbps-install perf".to_owned(),
            _ => "the package is called perf, linux-perf or linux-tools in most distributions".to_owned(),
        }
    }

    /// Whether everything on the machine may be recorded.
    #[must_use]
    pub fn may_record_machine(&self) -> bool {
        self.privileged || self.paranoid <= 0
    }

    /// Whether the kernel's own code may be seen.
    #[must_use]
    pub fn may_record_kernel(&self) -> bool {
        self.privileged || self.paranoid <= 1
    }

    /// Whether tracepoints may be recorded with what they tell.
    #[must_use]
    pub fn may_record_tracepoints(&self) -> bool {
        (self.privileged || self.paranoid < 0) && self.tracefs == Tracefs::Readable
    }
}

/// The first perf in the search path that runs: distributions have a script of that name that looks for the one of the kernel.
fn find_perf() -> Option<Perf> {
    let path = std::env::var_os("PATH")?;
    let candidates = std::env::split_paths(&path).filter(|directory| directory.is_absolute());
    candidates.map(|directory| directory.join("perf")).filter(|path| path.is_file()).find_map(|path| {
        let said = std::process::Command::new(&path).arg("--version").output().ok()?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let version = version(said.trim().strip_prefix("perf version ")?)?;
        Some(Perf { path, version })
    })
}

/// `6.1` of `6.1.187-2`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The id in `/etc/os-release`.
fn distribution(text: &str) -> String {
    let id = text.lines().find_map(|line| line.strip_prefix("ID="));
    id.unwrap_or_default().trim_matches(['"', '\'']).to_ascii_lowercase()
}

/// CAP_PERFMON or CAP_SYS_ADMIN among the effective capabilities.
fn is_privileged(status: &str) -> bool {
    const CAP_SYS_ADMIN: u64 = 1 << 21;
    const CAP_PERFMON: u64 = 1 << 38;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = effective.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (CAP_SYS_ADMIN | CAP_PERFMON) != 0)
}

/// Whether the effective user, the second of the four, is number 0.
fn is_root(status: &str) -> bool {
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    users.and_then(|users| users.split_whitespace().nth(1)) == Some("0")
}

fn is_mounted(mounts: &str, root: &Path) -> bool {
    let is_at = |line: &str| line.split(' ').nth(1).is_some_and(|at| Path::new(at) == root);
    mounts.lines().any(is_at)
}

/// PMUs of CPUs are called `cpu`, on hybrid ones `cpu_core`, on Arm after the core.
fn has_hardware_counters() -> bool {
    let Ok(devices) = std::fs::read_dir("/sys/bus/event_source/devices") else { return false };
    let mut names = devices.flatten().map(|device| device.file_name().to_string_lossy().into_owned());
    names.any(|name| name == "cpu" || name.starts_with("cpu_") || name.starts_with("armv8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_perf_and_of_kernels() {
        assert_eq!(version("6.1.187"), Some((6, 1)));
        assert_eq!(version("5.15.0-91-generic"), Some((5, 15)));
        assert_eq!(version("6.18.44-fc-v669"), Some((6, 18)));
        assert_eq!(version("unknown"), None);
    }

    #[test]
    fn rights_are_capabilities_and_no_user() {
        assert!(is_privileged("Name:\tx\nCapEff:\t000001ffffffffff\n"));
        assert!(is_privileged("CapEff:\t0000004000000000\n"), "CAP_PERFMON alone");
        assert!(!is_privileged("CapEff:\t0000000000000000\n"));
        assert!(!is_privileged(""));
        assert!(is_root("Name:\tx\nUid:\t1000\t0\t0\t0\n") && !is_root("Uid:\t0\t1000\t0\t0\n") && !is_root(""));
    }

    #[test]
    fn the_package_is_the_distributions() {
        for (text, expected) in [
            ("ID=debian\n", "sudo apt install linux-perf"),
            ("NAME=x\nID=\"ubuntu\"\n", "sudo apt install linux-tools-6.8.0-45-generic"),
            ("ID=fedora", "sudo dnf install perf"),
            ("ID=arch", "sudo pacman -S perf"),
        ] {
            let machine = Capabilities {
                distribution: distribution(text),
                release: "6.8.0-45-generic".to_owned(),
                ..Capabilities::default()
            };
            assert_eq!(machine.install(), expected);
            assert!(machine.perf().unwrap_err().hint().unwrap().contains(expected));
        }
    }

    #[test]
    fn mounts_are_compared_whole() {
        let mounts = "tracefs /sys/kernel/tracing tracefs rw 0 0\n";
        assert!(is_mounted(mounts, Path::new("/sys/kernel/tracing")));
        assert!(!is_mounted(mounts, Path::new("/sys/kernel")));
    }
}
