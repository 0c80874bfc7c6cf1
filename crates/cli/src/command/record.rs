//! `record`: drives perf or wpr.

pub(crate) mod status;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use chrono::Local;
use tracesift_ask::command_line;
use tracesift_record::session::Session;
use tracesift_record::{
    EndedBy, Error, MachineFacts, Options, ProfileFile, Recorded, Recorder, Rotation, Scope, Shortfall, profiles,
    windows,
};

use crate::args::RecordArgs;
use crate::args::record::Platform;
use crate::exit::{Exit, UsageError};
use crate::output::cell;
use crate::terminal::Messages;

/// Records, or does what else was asked for.
pub(crate) fn run(args: &RecordArgs, messages: &Messages) -> anyhow::Result<Exit> {
    match act(args, messages) {
        Ok(exit) => Ok(exit),
        Err(error) => match error.downcast_ref::<Error>() {
            Some(known) => failed(known, messages),
            None => Err(error),
        },
    }
}

fn act(args: &RecordArgs, messages: &Messages) -> anyhow::Result<Exit> {
    if args.list_profiles {
        return list_profiles();
    }
    if args.list_counters {
        return list_counters(messages);
    }
    if let Some(text) = &args.mark {
        let number = Session::of_this_user()?.mark(text)?;
        messages.note(&format!("mark {number} is written: {text}"));
        return Ok(Exit::Fine);
    }
    if args.status {
        return status::run(messages);
    }
    if args.cancel {
        let output = Session::of_this_user()?.cancel()?;
        messages.note(&format!("the recording has ended and is thrown away: {}", status::near(&output)));
        return Ok(Exit::Fine);
    }
    if args.stop {
        return stop();
    }
    let options = options(args)?;
    if args.dry_run {
        return dry_run(args, &options, messages);
    }
    let output = output(args)?;
    match (&args.session, args.start) {
        (Some(directory), _) => background(options, &output, directory, messages),
        (None, true) => start(args, &output, messages),
        (None, false) => record(args, options, &output, messages),
    }
}

/// Wrong words on the command line are wrong usage; all else is a recording that was not made.
fn failed(error: &Error, messages: &Messages) -> anyhow::Result<Exit> {
    let exit = match error {
        Error::UnknownProfile(_) => Exit::Usage,
        _ => Exit::NothingUsable,
    };
    messages.error(&error.to_string());
    if let Some(hint) = error.hint() {
        messages.hint(&hint);
    }
    Ok(exit)
}

fn options(args: &RecordArgs) -> anyhow::Result<Options> {
    let mut options = Options { profiles: Vec::new(), ..Options::default() };
    for name in &args.profiles {
        match name.rsplit_once('!') {
            Some((file, profile)) => {
                options.profile_files.push(ProfileFile { path: file.into(), profile: Some(profile.to_owned()) })
            }
            None if name.to_ascii_lowercase().ends_with(".wprp") => {
                options.profile_files.push(ProfileFile { path: name.into(), profile: None });
            }
            None => {
                let profile = profiles::find(name).ok_or_else(|| Error::UnknownProfile(name.clone()))?;
                options.profiles.push(profile);
            }
        }
    }
    options.rate = args.rate.unwrap_or_default();
    options.stacks = args.stacks.clone().unwrap_or_default();
    options.call_graph = args.call_graph.unwrap_or_default();
    options.counters.clone_from(&args.counters);
    options.ring = args.ring;
    options.buffer = args.buffer;
    options.rotation = args.rotate.map(|each| Rotation { each, keep: args.keep });
    options.stop_when.clone_from(&args.stop_when);
    options.overwrite = args.overwrite;
    options.scope = scope(args)?;
    options.heap = args.heap;
    Ok(options)
}

fn scope(args: &RecordArgs) -> Result<Scope, UsageError> {
    match args.only_process.as_deref() {
        None => Ok(args.heap.map_or(Scope::Machine, |pid| Scope::Processes(vec![pid]))),
        Some("") if args.command.is_empty() && !args.dry_run => Err(UsageError::new(
            "--only-process needs a command behind --, or a process",
            "--only-process=PID or --only-process=NAME records a process that runs already",
        )),
        Some("") => Ok(Scope::Command),
        Some(process) => match process.parse() {
            Ok(pid) => Ok(Scope::Processes(vec![pid])),
            Err(_) => {
                let pids = tracesift_record::process::named(process);
                let none = || UsageError::new(format!("no process is called {process}"), "it may also be a process id");
                if pids.is_empty() { Err(none()) } else { Ok(Scope::Processes(pids)) }
            }
        },
    }
}

/// `{command}_{date-time}`, the name of a recording that was given none.
fn usual_name(args: &RecordArgs, time: &str, extension: &str) -> String {
    let program = args.command.first().map(Path::new).and_then(Path::file_stem);
    let name = program.map_or_else(|| "machine".into(), |name| name.to_string_lossy());
    format!("{name}_{time}.{extension}")
}

/// Where the recording goes.
fn output(args: &RecordArgs) -> anyhow::Result<PathBuf> {
    if let Some(output) = &args.output {
        // The recording is begun by another process where it is started only.
        return std::path::absolute(output).context("the current directory is gone");
    }
    let time = Local::now().format("%Y%m%d-%H%M%S").to_string();
    let name = usual_name(args, &time, tracesift_record::EXTENSION);
    std::path::absolute(name).context("the current directory is gone")
}

/// Records a command, or until Ctrl-C.
fn record(args: &RecordArgs, options: Options, output: &Path, messages: &Messages) -> anyhow::Result<Exit> {
    let cancel = interrupts()?;
    status::say_leftovers(output.parent().unwrap_or(Path::new(".")), Some(output), messages);
    status::warn_of_little_room(&options, output, messages);
    let recorder = Recorder::new(options)?.with_cancel(cancel);
    say_all(recorder.shortfalls(), messages);
    let known = recorder.shortfalls().len();
    let recorded = match args.command.split_first() {
        Some((program, arguments)) => {
            let mut command = Command::new(program);
            command.args(arguments);
            recorder.record(&mut command, output)?
        }
        None => recorder.record_until_cancelled(output, &mut |_| {
            messages.note("recording; Ctrl-C ends it");
        })?,
    };
    say_all(recorded.warnings.get(known..).unwrap_or_default(), messages);
    say(&recorded, messages)?;
    match recorded.exit_status.filter(|status| recorded.ended_by != EndedBy::User && !status.success()) {
        Some(status) => {
            messages.warning(&format!("the command failed: {status}"));
            Ok(Exit::SomeFailed)
        }
        None => Ok(Exit::Fine),
    }
}

/// What will be missing, and the commands that help.
fn say_all(shortfalls: &[Shortfall], messages: &Messages) {
    for shortfall in shortfalls {
        messages.warning(&shortfall.what);
        if let Some(remedy) = &shortfall.remedy {
            messages.hint(remedy);
        }
    }
}

/// One line per file, on standard error: standard output is the command's. Then how to go on.
fn say(recorded: &Recorded, messages: &Messages) -> anyhow::Result<()> {
    let mut err = io::stderr().lock();
    for file in &recorded.files {
        let bytes = file.metadata().map_or(0, |file| file.len());
        let facts = MachineFacts::path_of(file);
        let facts = facts.file_name().unwrap_or_default().to_string_lossy();
        let line = format!("{}: {}, facts of the machine in {facts}", file.display(), super::extract::size(bytes));
        writeln!(err, "{}", cell::clean(&line))?;
    }
    if let EndedBy::Condition(condition) = &recorded.ended_by {
        writeln!(err, "ended by {condition}")?;
    }
    drop(err);
    let files: Vec<String> = recorded.files.iter().map(|file| status::near(file)).collect();
    if !files.is_empty() {
        let symbols = if cfg!(windows) { "msdl" } else { "local" };
        let words = ["tracesift", "extract"].into_iter().chain(files.iter().map(String::as_str));
        messages.next(&command_line::line(words.chain(["--symbols", symbols])));
    }
    Ok(())
}

/// `--start`: this program once more, as a process of its own with the same arguments.
fn start(args: &RecordArgs, output: &Path, messages: &Messages) -> anyhow::Result<Exit> {
    let options = options(args)?;
    status::say_leftovers(output.parent().unwrap_or(Path::new(".")), Some(output), messages);
    status::warn_of_little_room(&options, output, messages);
    let mut command = Command::new(std::env::current_exe().context("this program cannot be found")?);
    let arguments = std::env::args_os().skip(1).filter(|argument| argument != "--start");
    command.args(arguments).arg("--output").arg(output).arg("--session");
    let said = Session::of_this_user()?.start(&mut command, output)?;
    io::stderr().lock().write_all(said.as_bytes())?;
    let names: Vec<&str> = profiles::complete(&options.profiles).iter().map(|profile| profile.name).collect();
    messages.note(&format!("recording {} into {}", names.join(", "), status::near(output)));
    messages.next("tracesift record --stop   (or --mark TEXT, --status, --cancel)");
    Ok(Exit::Fine)
}

/// The process behind `--start`.
fn background(options: Options, output: &Path, session: &Path, messages: &Messages) -> anyhow::Result<Exit> {
    let cancel = interrupts()?;
    let session = Session::told(session.to_owned());
    session.watch(&cancel);
    let recorder = Recorder::new(options)?.with_cancel(cancel);
    say_all(recorder.shortfalls(), messages);
    let known = recorder.shortfalls().len();
    let mut announced = Ok(());
    let recorded = recorder.record_until_cancelled(output, &mut |marks| announced = session.announce(marks))?;
    announced?;
    say_all(recorded.warnings.get(known..).unwrap_or_default(), messages);
    if session.finish()? {
        for file in &recorded.files {
            std::fs::remove_file(file)?;
            std::fs::remove_file(MachineFacts::path_of(file))?;
        }
        return Ok(Exit::Fine);
    }
    say(&recorded, messages)?;
    Ok(Exit::Fine)
}

fn stop() -> anyhow::Result<Exit> {
    let said = Session::of_this_user()?.stop()?;
    io::stderr().lock().write_all(said.as_bytes())?;
    Ok(Exit::Fine)
}

/// Ctrl-C and its like end the recording; a second time they end the program, and the recorder with it.
fn interrupts() -> anyhow::Result<Arc<AtomicBool>> {
    let cancel = Arc::new(AtomicBool::new(false));
    tracesift_record::interrupt::watch(&cancel).context("cannot watch for Ctrl-C")?;
    Ok(cancel)
}

fn list_profiles() -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    for profile in profiles::PROFILES {
        writeln!(out, "{:<13} {}", profile.name, profile.about)?;
    }
    Ok(Exit::Fine)
}

fn list_counters(messages: &Messages) -> anyhow::Result<Exit> {
    let counters = tracesift_record::counters()?;
    if counters.is_empty() {
        messages.note("this machine shows no hardware counters; virtual machines often have none");
        return Ok(Exit::Fine);
    }
    let mut out = io::stdout().lock();
    for counter in counters {
        writeln!(out, "{}", cell::clean(&counter))?;
    }
    Ok(Exit::Fine)
}

/// `--dry-run`: the command lines, and for wpr the recording profile that it is given.
fn dry_run(args: &RecordArgs, options: &Options, messages: &Messages) -> anyhow::Result<Exit> {
    let here = if cfg!(windows) { Platform::Windows } else { Platform::Linux };
    let program = args.command.first().map(|program| Path::new(program).file_name().unwrap_or(program));
    let program = program.map(|name| name.to_string_lossy().into_owned());
    let extension = match args.platform.unwrap_or(here) {
        Platform::Windows => "etl",
        Platform::Linux => "data",
    };
    let output = args.output.clone().unwrap_or_else(|| usual_name(args, "DATE-TIME", extension).into());
    let mut out = io::stdout().lock();
    match args.platform.unwrap_or(here) {
        Platform::Linux => {
            let (arguments, shortfalls) = tracesift_record::linux::dry_run(options, &output)?;
            say_all(&shortfalls, messages);
            writeln!(out, "{}", cell::clean(&shell_line("perf", &arguments)))?;
            drop(out);
            messages.note(&status::room_text(options, &output));
            status::warn_of_little_room(options, &output, messages);
        }
        Platform::Windows => {
            let file = output.with_extension("wprp");
            let temporary = output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let plan = windows::command::plan(options, &file, temporary, &output);
            say_all(&plan.shortfalls, messages);
            let calls = plan.before.iter().chain([&plan.start, &plan.stop]).chain(&plan.after);
            for call in calls {
                writeln!(out, "{}", cell::clean(&windows_line("wpr", call)))?;
            }
            let process = windows::profile::process_filter(options, program.as_deref());
            let text = windows::profile::recording_profile(options, process.as_deref());
            writeln!(out, "\n{}:\n\n{text}", file.display())?;
        }
    }
    Ok(Exit::Fine)
}

/// The line as a shell takes it.
fn shell_line(program: &str, arguments: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+%@".contains(c);
    let quoted = arguments.iter().map(|argument| match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.clone(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    });
    std::iter::once(program.to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

/// The line as a console of Windows takes it.
fn windows_line(program: &str, arguments: &[String]) -> String {
    let quoted =
        arguments.iter().map(|argument| match argument.is_empty() || argument.contains([' ', '&', '^', '(', ')']) {
            true => format!("\"{argument}\""),
            false => argument.clone(),
        });
    std::iter::once(program.to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}
