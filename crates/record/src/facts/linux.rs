//! Facts of a Linux machine, from `/proc` and `/sys`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::linux_power::{cpu_directories, power};
use super::{CpuFacts, DiskFacts, MachineFacts};
use crate::load::meminfo;

/// Processes that look at what others do, as the kernel calls them: 15 bytes at most.
const SCANNERS: &[(&str, &str)] = &[
    ("clamd", "ClamAV"),
    ("clamonacc", "ClamAV"),
    ("wdavdaemon", "Microsoft Defender"),
    ("falcon-sensor", "CrowdStrike Falcon"),
    ("falcon-sensor-b", "CrowdStrike Falcon"),
    ("savd", "Sophos"),
    ("sophos_threat_d", "Sophos"),
    ("cbagentd", "Carbon Black"),
    ("sentinelone-age", "SentinelOne"),
    ("s1-agent", "SentinelOne"),
    ("elastic-endpoin", "Elastic Defend"),
    ("mfetpd", "Trellix"),
    ("ds_agent", "Trend Micro"),
    ("esets_daemon", "ESET"),
    ("auditd", "auditd"),
    ("falco", "Falco"),
    ("osqueryd", "osquery"),
];

/// Programs that record, too.
const RECORDERS: &[&str] = &["perf", "bpftrace", "trace-cmd", "sysdig", "lttng-sessiond", "strace", "traced"];

/// Fills in what this machine tells.
pub(super) fn fill(facts: &mut MachineFacts) {
    let uname = |name: &str| text(Path::new("/proc/sys/kernel").join(name));
    facts.host = uname("hostname");
    facts.kernel = uname("osrelease");
    facts.os = text("/etc/os-release").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=").map(str::to_owned))?;
        Some(line.trim_matches('"').to_owned())
    });
    facts.kernel_command_line = text("/proc/cmdline");
    facts.cpu = cpu();
    facts.power = power(Path::new("/sys"));
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    facts.memory_bytes = meminfo(&memory, "MemTotal");
    facts.swap_bytes = meminfo(&memory, "SwapTotal");
    facts.disks = disks();
    facts.clock_source = text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    facts.timer_resolution_ns = timer_resolution();
    (facts.trace_sessions, facts.antivirus) = watchers();
    facts.time_zone = time_zone();
    facts.vdso = tracesift_symbols::machine::vdso_bytes().map(|bytes| {
        bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
            let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
            text.extend([digit(byte >> 4), digit(byte & 15)]);
            text
        })
    });
}

/// What is in a file, without the line's end.
pub(super) fn text(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

pub(super) fn number<T: std::str::FromStr>(path: impl AsRef<Path>) -> Option<T> {
    text(path)?.parse().ok()
}

fn cpu() -> CpuFacts {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |key: &str| {
        let line = info.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let count = |count: usize| u32::try_from(count).ok().filter(|count| *count > 0);
    let cpus = cpu_directories(Path::new("/sys"));
    let topology: Vec<(Option<i32>, Option<i32>)> = cpus
        .iter()
        .map(|cpu| (number(cpu.join("topology/physical_package_id")), number(cpu.join("topology/core_id"))))
        .collect();
    let sockets: BTreeSet<_> = topology.iter().map(|(socket, _)| socket).collect();
    let cores: BTreeSet<_> = topology.iter().collect();
    let mhz = |name: &str| {
        let khz = cpus.iter().filter_map(|cpu| number::<u32>(cpu.join("cpufreq").join(name)));
        khz.map(|khz| khz / 1000).collect::<Vec<_>>()
    };
    let nodes = fs::read_dir("/sys/devices/system/node").into_iter().flatten().flatten();
    let nodes = nodes.filter(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().strip_prefix("node").is_some_and(|rest| rest.parse::<u32>().is_ok())
    });
    let is_virtual = field("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let below = || text("/sys/hypervisor/type").or_else(|| text("/sys/class/dmi/id/sys_vendor"));
    CpuFacts {
        model: field("model name").or_else(|| field("Model")).or_else(|| text("/sys/firmware/devicetree/base/model")),
        sockets: count(sockets.len()),
        cores: count(cores.len()),
        threads: count(cpus.len()),
        numa_nodes: count(nodes.count()),
        min_mhz: mhz("cpuinfo_min_freq").into_iter().min(),
        max_mhz: mhz("cpuinfo_max_freq").into_iter().max(),
        hypervisor: is_virtual.then(|| below().unwrap_or_else(|| "unknown".to_owned())),
        microcode: microcode(&info),
    }
}

/// Processors of x86 tell the revision of each CPU.
fn microcode(info: &str) -> Vec<String> {
    let lines = info.lines().filter_map(|line| line.split_once(':'));
    let revisions =
        lines.filter(|(name, _)| name.trim() == "microcode").map(|(_, revision)| revision.trim().to_owned());
    revisions.collect::<BTreeSet<_>>().into_iter().collect()
}

fn disks() -> Vec<DiskFacts> {
    const SECTOR: u64 = 512;
    let entries = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut disks: Vec<DiskFacts> = entries
        .filter_map(|entry| {
            let path = entry.path();
            let sectors = number::<u64>(path.join("size")).filter(|sectors| *sectors > 0)?;
            // The one in use stands in brackets.
            let scheduler = text(path.join("queue/scheduler")).and_then(|all| {
                let (_, rest) = all.split_once('[')?;
                Some(rest.split_once(']')?.0.to_owned())
            });
            Some(DiskFacts {
                name: entry.file_name().to_string_lossy().into_owned(),
                model: text(path.join("device/model")),
                bytes: sectors.checked_mul(SECTOR),
                rotational: number::<u8>(path.join("queue/rotational")).map(|turns| turns == 1),
                scheduler,
            })
        })
        .collect();
    disks.sort_by(|a, b| a.name.cmp(&b.name));
    disks
}

fn timer_resolution() -> Option<u64> {
    let resolution = rustix::time::clock_getres(rustix::time::ClockId::Monotonic);
    u64::try_from(resolution.tv_sec).ok()?.checked_mul(1_000_000_000)?.checked_add(resolution.tv_nsec.try_into().ok()?)
}

/// Recorders and scanners among the processes, and what tracefs says.
fn watchers() -> (Vec<String>, Vec<String>) {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_process = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().parse::<u32>().is_ok();
    let names =
        processes.filter(is_process).filter_map(|entry| Some((entry.file_name(), text(entry.path().join("comm"))?)));
    let (mut sessions, mut scanners) = (BTreeSet::new(), BTreeSet::new());
    for (pid, name) in names {
        if RECORDERS.contains(&name.as_str()) {
            sessions.insert(format!("{name}({})", pid.to_string_lossy()));
        }
        scanners.extend(SCANNERS.iter().filter(|(comm, _)| *comm == name).map(|(_, product)| (*product).to_owned()));
    }
    let tracer = text("/sys/kernel/tracing/current_tracer").filter(|tracer| tracer != "nop");
    sessions.extend(tracer.map(|tracer| format!("ftrace: {tracer}")));
    let instances = fs::read_dir("/sys/kernel/tracing/instances").into_iter().flatten().flatten();
    sessions.extend(instances.map(|entry| format!("ftrace instance: {}", entry.file_name().to_string_lossy())));
    (sessions.into_iter().collect(), scanners.into_iter().collect())
}

/// `Europe/Berlin`.
fn time_zone() -> Option<String> {
    let linked = fs::read_link("/etc/localtime").ok();
    let linked = linked.and_then(|path| Some(path.to_string_lossy().split_once("zoneinfo/")?.1.to_owned()));
    std::env::var("TZ").ok().filter(|zone| !zone.is_empty()).or(linked).or_else(|| text("/etc/timezone"))
}
