//! Facts of a Windows machine, as PowerShell and the system's own tools tell them.

use std::process::{Command, Stdio};

use serde::Deserialize;

use super::{CpuFacts, DiskFacts, MachineFacts, PowerFacts};

/// One document of all that the management interface knows; whatever fails is missing.
const SCRIPT: &str = r#"
$ErrorActionPreference = 'SilentlyContinue'
$cpu = @(Get-CimInstance Win32_Processor)
$system = Get-CimInstance Win32_ComputerSystem
$os = Get-CimInstance Win32_OperatingSystem
$battery = @(Get-CimInstance Win32_Battery)
[pscustomobject]@{
  os = "$($os.Caption) $($os.Version)"
  build = $os.BuildNumber
  model = $cpu[0].Name
  sockets = $cpu.Count
  cores = ($cpu | Measure-Object NumberOfCores -Sum).Sum
  threads = ($cpu | Measure-Object NumberOfLogicalProcessors -Sum).Sum
  max_mhz = $cpu[0].MaxClockSpeed
  memory = $system.TotalPhysicalMemory
  hypervisor = if ($system.HypervisorPresent) { $system.Model } else { $null }
  on_battery = if ($battery.Count) { $battery[0].BatteryStatus -eq 1 } else { $null }
  antivirus = @(Get-CimInstance -Namespace root/SecurityCenter2 AntiVirusProduct | ForEach-Object displayName)
  zone = (Get-TimeZone).Id
  disks = @(Get-CimInstance Win32_DiskDrive | ForEach-Object { [pscustomobject]@{ name = $_.DeviceID; model = $_.Model; bytes = $_.Size } })
} | ConvertTo-Json -Depth 4
"#;

/// What the script prints.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Told {
    os: Option<String>,
    build: Option<String>,
    model: Option<String>,
    sockets: Option<u32>,
    cores: Option<u32>,
    threads: Option<u32>,
    max_mhz: Option<u32>,
    memory: Option<u64>,
    hypervisor: Option<String>,
    on_battery: Option<bool>,
    antivirus: Vec<String>,
    zone: Option<String>,
    disks: Vec<ToldDisk>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToldDisk {
    name: String,
    model: Option<String>,
    bytes: Option<u64>,
}

/// Fills in what this machine tells.
pub(super) fn fill(facts: &mut MachineFacts) {
    let said = output("powershell", &["-NoProfile", "-NonInteractive", "-Command", SCRIPT]).unwrap_or_default();
    let told: Told = serde_json::from_str(&said).unwrap_or_default();
    facts.host = std::env::var("COMPUTERNAME").ok();
    facts.os = told.os.map(|os| os.trim().to_owned());
    facts.kernel = told.build;
    facts.kernel_command_line = output("bcdedit", &["/enum", "{current}"]);
    facts.cpu = CpuFacts {
        model: told.model.map(|model| model.trim().to_owned()),
        sockets: told.sockets,
        cores: told.cores,
        threads: told.threads,
        max_mhz: told.max_mhz,
        hypervisor: told.hypervisor,
        ..CpuFacts::default()
    };
    facts.power = PowerFacts {
        scheme: output("powercfg", &["/getactivescheme"]),
        on_battery: told.on_battery,
        ..PowerFacts::default()
    };
    facts.memory_bytes = told.memory;
    let disk =
        |disk: ToldDisk| DiskFacts { name: disk.name, model: disk.model, bytes: disk.bytes, ..DiskFacts::default() };
    facts.disks = told.disks.into_iter().map(disk).collect();
    facts.antivirus = told.antivirus;
    facts.time_zone = told.zone;
    facts.trace_sessions = sessions(&output("logman", &["query", "-ets"]).unwrap_or_default());
}

/// What a program prints, unless it fails.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// The names in front of `Trace  Running`, between a line of dashes and an empty one.
fn sessions(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.starts_with("---")).skip(1);
    let lines = lines.take_while(|line| !line.trim().is_empty());
    lines.filter_map(|line| Some(line.split_once("  ")?.0.trim().to_owned())).collect()
}
