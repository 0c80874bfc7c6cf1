//! Real recordings of a program that looks up names, held against the times that it measures; and that no probe stays behind.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_fixtures::skipped;
use tracesift_trace::rows::{DnsQueryRow, ProcessRow};

use crate::recording::{RECORDING, ask, can_record, said, tracesift};

/// A server of names that thinks for 300 ms about one of them, and calls of the C library. Each line of its output is a call: name,
/// type, duration in ns, status.
const SOURCE: &str = r#"
#include <arpa/inet.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static void serve(int ready) {
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (bind(fd, (void *)&own, sizeof own)) _exit(1);
    if (write(ready, "x", 1) != 1) _exit(1);
    for (;;) {
        unsigned char packet[512];
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        int length = recvfrom(fd, packet, 400, 0, (void *)&from, &size), end = 12;
        if (length < 17) continue;
        while (end < length && packet[end]) end += packet[end] + 1;
        end += 5;
        int is_slow = packet[12] == 4 && (packet[13] | 32) == 's', is_a = packet[end - 3] == 1;
        packet[2] |= 0x80, packet[3] = is_slow ? 0x80 : 0x83;
        memset(packet + 6, 0, 6);
        if (is_slow && is_a) {
            static const unsigned char answer[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 10, 1, 2, 3};
            usleep(300000);
            packet[7] = 1;
            memcpy(packet + end, answer, sizeof answer);
            end += sizeof answer;
        }
        sendto(fd, packet, end, 0, (void *)&from, size);
    }
}

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void tell(const char *name, int type, long long from, int status) {
    printf("%s %d %lld %d\n", name, type, now() - from, status);
}

static void names(const char *name, const char *plain, int family, int type) {
    struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM}, *found;
    long long from = now();
    tell(plain, type, from, getaddrinfo(name, "80", &hints, &found));
}

int main(void) {
    int ready[2];
    char byte, host[100];
    struct addrinfo *found;
    struct sockaddr_in home = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (pipe(ready)) return 1;
    if (!fork()) serve(ready[1]);
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1) return 1;
    names("localhost", "localhost", AF_UNSPEC, 0);
    names("SLOW.test.", "slow.test", AF_INET, 1);
    names("nowhere.test", "nowhere.test", AF_INET6, 28);
    long long from = now();
    int status = getaddrinfo("localhost", "80", NULL, &found);
    tell("localhost", 0, from, status);
    from = now();
    status = gethostbyname("slow.test") ? 0 : -4;
    tell("slow.test", 0, from, status);
    from = now();
    status = gethostbyname("nowhere.test") ? 0 : -4;
    tell("nowhere.test", 0, from, status);
    from = now();
    status = gethostbyname2("localhost", AF_INET) ? 0 : -4;
    tell("localhost", 1, from, status);
    from = now();
    status = getnameinfo((void *)&home, sizeof home, host, sizeof host, NULL, 0, NI_NAMEREQD);
    tell("127.0.0.1", 12, from, status);
    /* Nothing is looked up. */
    getaddrinfo(NULL, "80", NULL, &found);
    getaddrinfo("127.0.0.1", "80", NULL, &found);
    getnameinfo((void *)&home, sizeof home, host, sizeof host, NULL, 0, NI_NUMERICHOST);
    return 0;
}
"#;

const PROBES: &str = "/sys/kernel/tracing/uprobe_events";

const KERNEL_PROBES: &str = "/sys/kernel/tracing/kprobe_events";

/// Our probes that are set now.
pub(crate) fn probes() -> Vec<String> {
    let texts = [PROBES, KERNEL_PROBES].map(|table| fs::read_to_string(table).unwrap_or_default());
    let lines = texts.iter().flat_map(|text| text.lines());
    lines.filter(|line| line.contains(":tracesift_")).map(str::to_owned).collect()
}

pub(crate) fn can_set_probes() -> bool {
    let can = fs::OpenOptions::new().append(true).open(PROBES).is_ok();
    if !can {
        skipped("no probes can be set in programs");
    }
    can
}

/// A machine of its own, whose only server of names is that of the program; prints why and gives `None` where that is not possible.
fn workload(directory: &Path) -> Option<Vec<String>> {
    fs::write(directory.join("lookup.c"), SOURCE).unwrap();
    fs::write(directory.join("resolv.conf"), "nameserver 127.0.0.1\n").unwrap();
    let compiled = Command::new("gcc").args(["-O1", "-o", "lookup", "lookup.c"]).current_dir(directory).output();
    match compiled {
        Err(error) => {
            skipped(&format!("no C compiler: {error}"));
            return None;
        }
        Ok(output) => assert!(output.status.success(), "{}", said(&output)),
    }
    let script = |command: &str| {
        let script = format!("ip link set lo up && mount --bind resolv.conf /etc/resolv.conf && exec {command}");
        ["unshare", "-n", "-m", "sh", "-c", &script].map(str::to_owned).to_vec()
    };
    let try_out = script("true");
    let output = Command::new(&try_out[0]).args(&try_out[1..]).current_dir(directory).output();
    if !output.is_ok_and(|output| output.status.success()) {
        skipped("no network and mounts of its own");
        return None;
    }
    Some(script("./lookup"))
}

#[test]
fn names_take_as_long_as_the_program_measures() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = TempDir::new().unwrap();
    let directory = directory.path();
    if !can_record() || !can_set_probes() {
        return;
    }
    let Some(workload) = workload(directory) else { return };
    let workload: Vec<&str> = workload.iter().map(String::as_str).collect();
    let record = ["record", "--profile", "Network", "-o", "a.data", "--"];
    let output = tracesift(directory, &[&record[..], &workload].concat()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(probes(), Vec::<String>::new(), "probes are left: {}", said(&output));
    let extracted = tracesift(directory, &["extract", "a.data"]).output().unwrap();
    assert!(extracted.status.success(), "{}", said(&extracted));
    let archive = Archive::open(&directory.join("a.sift")).unwrap();
    let processes: Vec<ProcessRow> = archive.rows().unwrap();
    let rows: Vec<DnsQueryRow> = archive.rows().unwrap();
    let is_own = |row: &&DnsQueryRow| row.process.is_some_and(|process| processes[process.index()].name == "lookup");
    let rows: Vec<&DnsQueryRow> = rows.iter().filter(is_own).collect();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let told: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(told.len(), 8, "{text}");
    assert_eq!(rows.len(), told.len(), "{rows:?}");
    for (row, told) in rows.iter().zip(&told) {
        let [name, query_type, duration, status] = told[..] else { panic!("{told:?}") };
        let query_type = query_type.parse::<i32>().unwrap();
        assert_eq!((row.name.as_str(), row.query_type.unwrap_or(0)), (name, query_type));
        assert_eq!(row.status, Some(status.parse().unwrap()), "{row:?}");
        let (found, told) = (row.time - row.start, duration.parse::<i64>().unwrap());
        assert!(found <= told && told - found < 20_000_000, "{name}: {found} ns in place of {told}");
        assert_eq!(name == "slow.test", found >= 300_000_000, "{name}: {found} ns");
        assert!(row.thread.is_some() && row.stack.is_some() && row.open == Some(false), "{row:?}");
    }
    let names = ask(directory, &["dump", "dns", "a.sift", "-p", "lookup", "--name", "slow*", "--format", "json"]);
    let [slow] = &names[..] else { panic!("{names:?}") };
    let sum: i64 = rows.iter().filter(|row| row.name == "slow.test").map(|row| row.time - row.start).sum();
    assert_eq!((slow["queries"].as_i64(), slow["total_ns"].as_i64()), (Some(2), Some(sum)));
}

/// Records, kills the recorder, and waits until the probes that it set are gone.
pub(crate) fn kill_recorder(directory: &Path, options: &[&str], group: &str) {
    let mut recorder = tracesift(directory, &[&["record", "-o", "a.data"], options].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let wait = |until: &dyn Fn(&[String]) -> bool| {
        let started = Instant::now();
        while !until(&probes()) && started.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(until(&probes()), "{:?}", probes());
    };
    wait(&|probes| probes.iter().any(|probe| probe.contains(group)));
    // perf has them in use only when it records.
    let is_recorded = || crate::recording::recorders(directory) > 0;
    while !is_recorded() && recorder.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    wait(&<[String]>::is_empty);
}

#[test]
fn a_recorder_that_is_killed_leaves_no_probes() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = TempDir::new().unwrap();
    if !can_record() || !can_set_probes() {
        return;
    }
    kill_recorder(directory.path(), &["--profile", "Network"], ":tracesift_dns_");
    kill_recorder(directory.path(), &["--profile", "File"], ":tracesift_open_");
    // What a machine without that watcher left goes at the next start.
    let library = fs::read_to_string("/proc/self/maps").unwrap();
    let library =
        library.lines().find_map(|line| line.find('/').map(|at| &line[at..]).filter(|path| path.contains("libc.so")));
    let Some(library) = library else { return skipped("this program has no C library as a file") };
    let left = format!("p:tracesift_dns_4000000001_1_0/getaddrinfo {library}:0x1000\n");
    let set = fs::OpenOptions::new().append(true).open(PROBES).and_then(|mut probes| {
        use std::io::Write as _;
        probes.write_all(left.as_bytes())
    });
    if set.is_err() {
        return skipped("a probe of that kind cannot be set");
    }
    let record = ["record", "--profile", "Network", "-o", "b.data", "--", "true"];
    let output = tracesift(directory.path(), &record).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(probes(), Vec::<String>::new());
}
