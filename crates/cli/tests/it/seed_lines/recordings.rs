//! The recordings that the posts' command lines name, beside those of the demo. Where a post states a figure, they have it.

use std::path::Path;

use super::film::Film;
use super::film::Part::{Runs, Waits};

const SYSTEM_CALL: &str = "ntoskrnl.exe!KiSystemServiceCopyEnd";

/// Writes all of them below `root`, and their symbols into a store.
pub(super) fn write(root: &Path, symbols: &Path) {
    let put = |path: &str, film: Film| film.write(&root.join(path), symbols);
    // The post's loads ran with 12 threads. The second recording has too little CPU time, which is what the post looks for.
    put("hybrid/P_Cores_Normal.etl", load_stress(1, 10_000));
    put("hybrid/E_Cores_Normal.etl", load_stress(2, 9_000));
    put("disk/c:/temp/ManySlowCalls_MAGNON.03-07-2023.23-21-41.etl", many_slow_calls());
    put("drivers/Intercepted.etl", intercepted());
    put("disk/D:/Source/git/SerializerTests/SerializerTestResults/_0_14_06/FirstCall.etl", first_calls());
    put("browsing/WebBrowsingRouterOn_SKYRMION.10-06-2022.19-46-16.etl", web_browsing());
    put("disk/c:/temp/SlowSystem.etl", slow_system());
    put("placeholder/Placeholder.etl", placeholder(8));
    put("failing/test.etl", placeholder(9));
}

/// The post on processors with two kinds of cores: 12 threads with so many milliseconds of CPU time each.
fn load_stress(number: u32, each: i64) -> Film {
    let mut film = Film::new(number, 12, 500);
    let process = film.process(400, "LoadStress.exe", "LoadStress.exe -threads 12");
    for _ in 0..12 {
        film.thread(process, 1, &[Runs(each, &["LoadStress.exe!Spin"])]);
    }
    film
}

/// The post on many slow calls: which processes run .NET 7.
fn many_slow_calls() -> Film {
    let mut film = Film::new(3, 2, 1);
    film.version("coreclr.dll", "7.0.323.6910", "Microsoft .NET");
    let process = film.process(500, "ManySlowCalls.exe", "ManySlowCalls.exe");
    film.load(process, "coreclr.dll");
    film.thread(process, 1, &[Runs(20, &["ManySlowCalls.exe!SleepOften"])]);
    let other = film.process(501, "Native.exe", "Native.exe");
    film.thread(other, 1, &[Runs(10, &["Native.exe!Work"])]);
    film
}

/// The same post: a driver of a virus scanner intercepts the calls of two processes, with over 100 s of CPU time in one of them.
fn intercepted() -> Film {
    let mut film = Film::new(4, 3, 1_000);
    film.version("tedrdrv.sys", "8.0.1.32767", "Cortex XDR");
    let stack = &["tedrdrv.sys+", SYSTEM_CALL, "SlowCalls.exe!SleepOften"];
    let slow = film.process(600, "SlowCalls.exe", "SlowCalls.exe");
    film.thread(slow, 1, &[Runs(75_000, stack)]);
    film.thread(slow, 1, &[Runs(75_000, stack)]);
    let other = film.process(601, "Other.exe", "Other.exe");
    film.thread(other, 1, &[Runs(60_000, &["tedrdrv.sys+", SYSTEM_CALL, "Other.exe!Work"])]);
    film
}

/// The post on serializers: three processes that are started one after the other by a shell.
fn first_calls() -> Film {
    let mut film = Film::new(5, 4, 1);
    film.version("SerializerTests.exe", "1.0.0.0", "protobuf");
    let shell = film.process(700, "cmd.exe", "cmd.exe /c RunAll.cmd");
    let by = film.thread(shell, 1, &[Runs(3_000, &["cmd.exe!ExecPgm"])]);
    for (number, runs, line) in [
        (0, 220, "-test firstcall cross -serializer firstcall#datacontract"),
        (1, 455, "-test firstcall ngen -serializer firstcall#datacontract"),
        (2, 330, "-test firstcall -serializer firstcall#protobuf"),
    ] {
        let process = film.process(710 + number, "SerializerTests.exe", &format!("SerializerTests.exe {line}"));
        let from = 100 + 1_000 * i64::from(number);
        let thread = film.thread(process, from, &[Runs(runs, &["SerializerTests.exe!Main"])]);
        film.lives(thread, from, from + runs, by);
    }
    film
}

/// The post on slow browsing: the browser waits 10.55 s for a name.
fn web_browsing() -> Film {
    let mut film = Film::new(6, 1, 1);
    let process = film.process(800, "firefox.exe", "firefox.exe");
    let query = &["dnsapi.dll!DnsQueryEx", "xul.dll!nsHostResolver::ThreadFunc"];
    let parse = &["dnsapi.dll!DnsParseMessage", "xul.dll!nsHostResolver::ThreadFunc"];
    film.thread(process, 1_000, &[Runs(2, query), Waits(10_550, query), Runs(3, parse)]);
    film
}

/// The post on a slow system: a scanner checks what the shell starts and what the explorer opens.
fn slow_system() -> Film {
    let mut film = Film::new(7, 6, 1);
    film.version("WdFilter.sys", "4.18.2203.5", "Microsoft Windows Operating System");
    let busy = film.process(900, "devenv.exe", "devenv.exe");
    film.thread(busy, 1, &[Runs(3_000, &["devenv.exe!Compile"])]);
    let engine = film.process(901, "MsMpEng.exe", "MsMpEng.exe");
    film.thread(engine, 1, &[Runs(2_000, &["MsMpEng.exe!Scan"])]);
    let shell = film.process(902, "cmd.exe", "cmd.exe");
    let checked = &["WdFilter.sys+", SYSTEM_CALL, "KERNELBASE.dll!CreateProcessInternalW", "cmd.exe!ExecPgm"];
    film.thread(shell, 500, &[Runs(11, checked), Waits(1_349, checked), Runs(5, &["cmd.exe!ExecPgm"])]);
    let explorer = film.process(903, "explorer.exe", "explorer.exe");
    let opens = &["WdFilter.sys+", SYSTEM_CALL, "KERNELBASE.dll!CreateFileW", "explorer.exe!OpenIcon"];
    film.thread(explorer, 700, &[Runs(7, opens), Waits(1_000, opens), Runs(8, opens), Waits(600, opens)]);
    // Too short for the post's ranges, and long enough for its first question.
    let indexer = film.process(904, "SearchIndexer.exe", "SearchIndexer.exe");
    let reads = &["WdFilter.sys+", SYSTEM_CALL, "KERNELBASE.dll!CreateFileW", "SearchIndexer.exe!Crawl"];
    film.thread(indexer, 100, &[Waits(40, reads), Runs(3, reads)]);
    let quiet = film.process(905, "quiet.exe", "quiet.exe");
    film.thread(quiet, 100, &[Waits(9, &["WdFilter.sys+", "quiet.exe!Main"]), Runs(1, &["quiet.exe!Main"])]);
    film
}

/// One post writes `xxx` for any method.
fn placeholder(number: u32) -> Film {
    let mut film = Film::new(number, 1, 1);
    let process = film.process(1_000, "test.exe", "test.exe");
    film.thread(process, 1, &[Runs(40, &["test.exe!xxx", "test.exe!Main"]), Runs(2, &["test.exe!Main"])]);
    film
}
