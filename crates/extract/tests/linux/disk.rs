//! Disk operations, held against the tracepoints as perf prints them.

use tracesift_fixtures::skipped;
use tracesift_trace::rows::{DiskIoRow, DiskOperation, SyscallNameRow, SyscallRow, ThreadRow};

use crate::extracted::Extracted;
use crate::perf::{self, Traced};

/// Small and large writes past the cache, through it, and reads past it, in the directory of the recording.
const PROGRAM: &str = "dd if=/dev/zero of=small bs=64k count=100 oflag=direct 2>/dev/null; \
    dd if=/dev/zero of=large bs=1M count=8 conv=fsync 2>/dev/null; \
    dd if=small of=/dev/null bs=2M iflag=direct 2>/dev/null; sync -f small; rm small large; sync -f .";

/// What perf prints of a request: `254,0 WS 65536 () 339307728 + 128 0x2,0,4 [dd]`.
#[derive(Clone, Debug)]
struct Request {
    time: i64,
    tid: i64,
    disk: i32,
    letters: String,
    sector: u64,
    count: u64,
}

impl Request {
    fn of(traced: &Traced) -> Self {
        let words: Vec<&str> = traced.text.split_whitespace().collect();
        let plus = words.iter().position(|word| *word == "+").unwrap();
        let (major, minor) = words[0].split_once(',').unwrap();
        Self {
            time: traced.time,
            tid: traced.tid,
            disk: major.parse::<i32>().unwrap() << 20 | minor.parse::<i32>().unwrap(),
            letters: words[1].to_owned(),
            sector: words[plus - 1].parse().unwrap(),
            count: words[plus + 1].parse().unwrap(),
        }
    }

    fn lies_in(&self, other: &Self) -> bool {
        let end = |request: &Self| request.sector.saturating_add(request.count);
        self.disk == other.disk && self.sector >= other.sector && end(self) <= end(other)
    }
}

/// The operations of a recording: completion, and the first of the events that opened it.
fn operations(traced: &[Traced]) -> Vec<(Request, Request)> {
    let mut open: Vec<Request> = Vec::new();
    let mut done = Vec::new();
    for line in traced {
        let request = || Request::of(line);
        let transfers = |request: &Request| request.letters.trim_start_matches('F').starts_with(['R', 'W']);
        match line.event.as_str() {
            "block:block_rq_insert" | "block:block_rq_issue" if transfers(&request()) => open.push(request()),
            "block:block_rq_issue" if request().letters == "FF" => open.push(request()),
            "block:block_rq_complete" => {
                let request = request();
                let (flush, transfer) = (request.letters == "FF", transfers(&request));
                let is_of = |other: &Request| {
                    let other_flush = other.letters == "FF";
                    flush && other_flush && other.disk == request.disk
                        || transfer && !other_flush && other.lies_in(&request)
                };
                if let Some(first) = open.iter().find(|other| is_of(other)).cloned() {
                    open.retain(|other| !is_of(other));
                    done.push((request, first));
                }
            }
            _ => {}
        }
    }
    done
}

#[expect(clippy::print_stdout, reason = "how many were compared is shown")]
fn compare(events: &[&str]) -> Option<()> {
    let directory = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = format!("cd '{}'; {PROGRAM}", directory.path().display());
    let recorded = perf::record(&[&["-a", "-g", "-m", "4096"], events].concat(), &["sh", "-c", &program])?;
    let extracted = Extracted::of(&recorded.file);
    let rows: Vec<DiskIoRow> = extracted.archive.rows().unwrap();
    let traced = recorded.tracepoints();
    let expected = operations(&traced);
    if expected.is_empty() {
        skipped(&format!("no disk works for {}", directory.path().display()));
        return None;
    }
    if extracted.info.events_lost > 0 {
        skipped(&format!("perf lost {} records, so requests have no beginning or end", extracted.info.events_lost));
        return None;
    }
    assert_eq!(rows.len(), expected.len(), "{events:?} {:?}", extracted.health);
    // Here perf leaves out what happens in some interrupts, without a word; completions do.
    let without = extracted.health.get("disk_io_without_completion");
    if without * 20 > rows.len() as i64 {
        skipped(&format!("perf left out completions of {without} requests"));
        return None;
    }
    let zero = extracted.info.clock_zero;
    let mut differ = Vec::new();
    for (row, (completion, first)) in rows.iter().zip(&expected) {
        let flush = completion.letters == "FF";
        let operation = match &completion.letters {
            _ if flush => DiskOperation::Flush,
            letters if letters.starts_with('R') => DiskOperation::Read,
            _ => DiskOperation::Write,
        };
        assert_eq!((row.operation, row.disk), (operation, completion.disk), "{completion:?}");
        assert_eq!(row.time + zero, completion.time, "{completion:?}");
        assert_eq!(row.size, completion.count as i64 * 512);
        assert_eq!(row.offset, (!flush).then_some(completion.sector as i64 * 512));
        let asked = events.contains(&"block:block_bio_queue") || flush;
        if row.start + zero != first.time || !asked && extracted.threads[row.thread.unwrap().index()].tid != first.tid {
            differ.push((row, completion, first));
        }
    }
    // No record of a request has an identity. Where a place is written again before its first request is done, or where several
    // flushes are on their way, which beginning belongs to which end is a guess, here and there.
    assert!(differ.len() * 20 <= rows.len(), "{} of {}: {differ:#?}", differ.len(), rows.len());
    // Some of what dd wrote the kernel's own threads may have brought to the disk.
    let written: i64 = rows.iter().filter(|row| row.operation == DiskOperation::Write).map(|row| row.size).sum();
    assert!(written >= 100 * 65536, "{written} bytes written");
    assert!(rows.iter().filter(|row| row.stack.is_some()).count() * 2 > rows.len());
    let disk = &extracted.info.disks[0];
    assert_eq!(disk.model, format!("{}:{}", disk.number >> 20, disk.number & 0xf_ffff));
    println!("{} operations are those of perf script; {:?}", rows.len(), extracted.health);
    who_asked(&traced, &rows, &extracted.threads);
    Some(())
}

/// Of requests that are just what somebody asked for, that one is who asked.
#[expect(clippy::print_stdout, reason = "how many could be compared is shown")]
fn who_asked(traced: &[Traced], rows: &[DiskIoRow], threads: &[ThreadRow]) {
    let wishes: Vec<Request> =
        traced.iter().filter(|line| line.event == "block:block_bio_queue").map(Request::of).collect();
    let mut known = 0;
    for row in rows {
        let same = |wish: &&Request| {
            wish.disk == row.disk && row.offset == Some(wish.sector as i64 * 512) && row.size == wish.count as i64 * 512
        };
        let tids: Vec<i64> = wishes.iter().filter(same).map(|wish| wish.tid).collect();
        if let [tid] = tids.as_slice() {
            assert_eq!(threads[row.thread.unwrap().index()].tid, *tid);
            known += 1;
        }
    }
    println!("{known} of {} have the thread that asked for just them", rows.len());
}

#[test]
fn operations_are_those_of_perf_script() {
    const ISSUE: &str = "block:block_rq_issue";
    const COMPLETE: &str = "block:block_rq_complete";
    for events in [
        &["-e", ISSUE, "-e", COMPLETE][..],
        &["-e", "block:block_rq_insert", "-e", ISSUE, "-e", COMPLETE],
        &["-e", "block:block_bio_queue", "-e", "block:block_rq_insert", "-e", ISSUE, "-e", COMPLETE],
    ] {
        if compare(events).is_none() {
            return;
        }
    }
}

/// Flushes of a recording that tells which of them the device refused: completion and first issue.
fn flushes(traced: &[Traced]) -> (Vec<(Request, Request)>, usize) {
    let mut open: Vec<(Request, bool)> = Vec::new();
    let (mut done, mut refused) = (Vec::new(), 0);
    for line in traced.iter().filter(|line| line.event.starts_with("block:block_rq_")) {
        let request = Request::of(line);
        if request.letters != "FF" {
            continue;
        }
        let mut same = open.iter_mut().filter(|(other, _)| other.disk == request.disk);
        match line.event.as_str() {
            "block:block_rq_requeue" => {
                if let Some((_, is_refused)) = same.next_back() {
                    (*is_refused, refused) = (true, refused + 1);
                }
            }
            "block:block_rq_issue" => match same.find(|(_, is_refused)| *is_refused) {
                Some((_, is_refused)) => *is_refused = false,
                None => open.push((request, false)),
            },
            "block:block_rq_complete" => {
                if let Some(at) = open.iter().position(|(other, _)| other.disk == request.disk) {
                    done.push((request, open.remove(at).0));
                }
            }
            _ => {}
        }
    }
    (done, refused)
}

/// Sixty files are synchronised one after the other, so that several CPUs give flushes to the disk.
#[test]
fn a_flush_that_is_issued_twice_is_one_and_shifts_no_other() {
    let directory = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = format!(
        "cd '{}'; for i in $(seq 60); do dd if=/dev/zero of=f$i bs=8k count=1 conv=fsync 2>/dev/null; done",
        directory.path().display()
    );
    let events = ["issue", "requeue", "complete"].map(|stage| format!("block:block_rq_{stage}"));
    let calls = ["-e", "raw_syscalls:sys_enter", "-e", "raw_syscalls:sys_exit"];
    let mut arguments = vec!["-a", "-m", "4096"];
    arguments.extend(events.iter().flat_map(|event| ["-e", event.as_str()]));
    arguments.extend(calls);
    let Some(recorded) = perf::record(&arguments, &["sh", "-c", &program]) else { return };
    let extracted = Extracted::of(&recorded.file);
    let (expected, refused) = flushes(&recorded.tracepoints());
    if expected.is_empty() || extracted.info.events_lost > 0 {
        return skipped(&format!("{} flushes, {} records lost", expected.len(), extracted.info.events_lost));
    }
    let rows: Vec<DiskIoRow> = extracted.archive.rows().unwrap();
    let rows: Vec<&DiskIoRow> = rows.iter().filter(|row| row.operation == DiskOperation::Flush).collect();
    let zero = extracted.info.clock_zero;
    let found: Vec<(i64, i64)> = rows.iter().map(|row| (row.start + zero, row.time + zero)).collect();
    let expected: Vec<(i64, i64)> = expected.iter().map(|(end, first)| (first.time, end.time)).collect();
    assert_eq!(found, expected);
    // Who waits for its fsync waits for the flush within. A flush that outlasts the call was asked for by somebody else: other
    // programs write to the same disk.
    let calls: Vec<SyscallRow> = extracted.archive.rows().unwrap();
    let names: Vec<SyscallNameRow> = extracted.archive.rows().unwrap();
    let fsync = names.iter().find(|name| name.name == "fsync").expect("dd calls it").number;
    let calls: Vec<&SyscallRow> = calls.iter().filter(|call| call.number == fsync).collect();
    let is_within = |row: &&&DiskIoRow| calls.iter().any(|call| call.start <= row.start && row.time <= call.time);
    let of_calls: i64 = rows.iter().filter(is_within).map(|row| row.time - row.start).sum();
    let in_calls: i64 = calls.iter().map(|call| call.time - call.start).sum();
    assert!(of_calls <= in_calls, "{of_calls} ns of flushes in {in_calls} ns of fsync");
    println!("{} flushes, {refused} refused: {of_calls} ns in {} fsyncs of {in_calls} ns", rows.len(), calls.len());
}

/// A disk of its own for a test: a file that the kernel shows as one.
struct Loop {
    device: String,
    file: std::path::PathBuf,
    _directory: tempfile::TempDir,
}

impl Loop {
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("disk");
        std::fs::File::create(&file).unwrap().set_len(16 << 20).unwrap();
        let output = std::process::Command::new("losetup").args(["-f", "--show"]).arg(&file).output().ok()?;
        let device = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && device.starts_with("/dev/")).then_some(Self { device, file, _directory: directory })
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // Without it the device stays until the next start of the machine; nobody can do more about it here.
        let _ = std::process::Command::new("losetup").args(["-d", &self.device]).status();
    }
}

/// A disk whose file has become shorter gives the first part of a read, takes the rest back into the queue, and fails there.
#[test]
fn a_read_over_the_end_of_a_disk_is_one_operation_that_failed() {
    const KIB: i64 = 1 << 10;
    let Some(disk) = Loop::new() else { return skipped("there is no loop device") };
    let file = std::fs::OpenOptions::new().write(true).open(&disk.file).unwrap();
    file.set_len((1 << 20) + 32 * KIB as u64).unwrap();
    let device = &disk.device;
    let name = device.trim_start_matches("/dev/");
    let program = format!(
        "cat /sys/block/{name}/dev; dd if={device} of=/dev/null bs=64k skip=16 count=1 iflag=direct 2>/dev/null || echo failed"
    );
    let events = ["bio_queue", "rq_insert", "rq_issue", "rq_requeue", "rq_complete", "rq_error"];
    let events = events.map(|event| format!("block:block_{event}")).join(",");
    let Some(recorded) = perf::record(&["-a", "-m", "4096", "-e", &events], &["sh", "-c", &program]) else { return };
    let traced: Vec<Traced> = recorded.tracepoints();
    let number = recorded.output.lines().next().and_then(|line| line.split_once(':')).unwrap();
    let number = number.0.parse::<i32>().unwrap() << 20 | number.1.trim().parse::<i32>().unwrap();
    let of_read = |event: &str| -> Vec<Request> {
        let is = |line: &&Traced| line.event == format!("block:block_{event}");
        let of_disk = |request: &Request| request.disk == number && request.letters.starts_with('R');
        traced.iter().filter(is).map(Request::of).filter(of_disk).collect()
    };
    let (errors, completions, again) = (of_read("rq_error"), of_read("rq_complete"), of_read("rq_requeue"));
    if errors.len() != 1 || completions.len() < 2 || again.is_empty() {
        return skipped(&format!("the kernel's loop device does not give parts of a read: {traced:?}"));
    }
    assert!(recorded.output.contains("failed"), "{}", recorded.output);
    let extracted = Extracted::of(&recorded.file);
    let rows: Vec<DiskIoRow> = extracted.archive.rows().unwrap();
    let failed: Vec<&DiskIoRow> = rows.iter().filter(|row| row.disk == number && row.error.is_some()).collect();
    let [row] = failed.as_slice() else { panic!("{failed:?} {:?}", extracted.health) };
    let zero = extracted.info.clock_zero;
    assert_eq!((row.offset, row.size, row.error), (Some(1 << 20), 64 * KIB, Some(5)));
    // The kernel prints the error in between.
    let last = completions.last().map(|request| request.time);
    assert_eq!(Some(row.time + zero), last);
    assert!(last <= Some(errors[0].time), "{traced:?}");
    let first = of_read("rq_insert").into_iter().chain(of_read("rq_issue")).map(|request| request.time).min();
    assert_eq!(Some(row.start + zero), first);
    let count = rows.iter().filter(|other| other.disk == number && other.start >= row.start && other.time <= row.time);
    assert_eq!(count.count(), 1, "{rows:?}");
    assert_eq!(extracted.health.get("failed_disk_operations"), 1, "{:?}", extracted.health);
}

/// The kernel's own figures: reads, writes, each with sectors and ms, and ms of flushes and discards left out.
#[test]
fn operations_and_sectors_are_those_of_diskstats() {
    let Some(disk) = Loop::new() else { return skipped("there is no loop device") };
    let (device, name) = (&disk.device, disk.device.trim_start_matches("/dev/"));
    let program = format!(
        "stats() {{ grep -w {name} /proc/diskstats; }}; stats; \
         dd if={device} of=/dev/null bs=64k count=100 iflag=direct 2>/dev/null; \
         dd if=/dev/zero of={device} bs=16k count=50 oflag=direct conv=notrunc 2>/dev/null; stats"
    );
    let events = ["-e", "block:block_rq_insert", "-e", "block:block_rq_issue", "-e", "block:block_rq_complete"];
    let Some(recorded) = perf::record(&[&["-a", "-m", "4096"], &events[..]].concat(), &["sh", "-c", &program]) else {
        return;
    };
    let stats: Vec<Vec<i64>> = recorded
        .output
        .lines()
        .map(|line| line.split_whitespace().filter_map(|word| word.parse().ok()).collect())
        .collect();
    let [before, after] = &stats[..] else { return skipped(&format!("no figures of {device}: {}", recorded.output)) };
    // Major and minor number come first.
    let counted = |place: usize| after[place + 2] - before[place + 2];
    let number = (before[0] << 20 | before[1]) as i32;
    let extracted = Extracted::of(&recorded.file);
    let rows: Vec<DiskIoRow> = extracted.archive.rows().unwrap();
    let rows: Vec<&DiskIoRow> = rows.iter().filter(|row| row.disk == number).collect();
    let lost = extracted.health.get("disk_io_without_completion") + extracted.info.events_lost.cast_signed();
    if lost > 0 {
        return skipped(&format!("perf left out completions of {lost} requests"));
    }
    let of = |operation: DiskOperation| rows.iter().filter(move |row| row.operation == operation);
    let sectors = |operation| of(operation).map(|row| row.size / 512).sum::<i64>();
    let (read, write) = (DiskOperation::Read, DiskOperation::Write);
    assert_eq!((of(read).count() as i64, sectors(read)), (counted(0), counted(2)), "{stats:?}");
    assert_eq!((of(write).count() as i64, sectors(write)), (counted(4), counted(6)), "{stats:?}");
    assert!(counted(0) >= 100 && counted(4) >= 50, "{stats:?}");
    // The kernel counts from the allocation of a request, which comes before all that is recorded, and cuts to whole ms.
    let ms = |operation| of(operation).map(|row| row.time - row.start).sum::<i64>() / 1_000_000;
    assert!(ms(read) <= counted(3) + 1 && ms(write) <= counted(7) + 1, "{} {} {stats:?}", ms(read), ms(write));
    // dd has one request at a time: each is served from its start to its end.
    assert!(rows.iter().all(|row| row.service == Some(row.time - row.start)));
    assert!(rows.iter().all(|row| (row.queue_start, row.queue_end) == (Some(0), Some(0))));
    assert!(rows.iter().all(|row| row.error.is_none() && row.parent.is_none()));
}
