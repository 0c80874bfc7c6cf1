//! `flame` and `export`: profiles as pictures and in the formats of other tools.

use std::path::{Path, PathBuf};

use tracesift_archive::Error;
use tracesift_ask::answer::Section;
use tracesift_ask::limit;
use tracesift_ask::measure::Measure;
use tracesift_ask::nothing;
use tracesift_ask::profile::{self, Found, PathProfile, PathQuestion};
use tracesift_ask::recording::OpenRecording;
use tracesift_ask::{Resolved, When};
use tracesift_export::flame::{Drawn, Flame};
use tracesift_export::{Folded, Format, Grouping, Listed, Profile, Writer};
use tracesift_grammar::TimeRange;

use crate::args::profile::ProfileArgs;
use crate::args::{ExportArgs, FileArgs, FlameArgs, RunArgs, Wanted};
use crate::command::sources::{Sources, sources};
use crate::exit::{Exit, UsageError};
use crate::output::target::Target;
use crate::terminal::Messages;
use crate::watching::answered;

/// Draws a flame graph.
pub(crate) fn flame(args: &FlameArgs, messages: &Messages) -> anyhow::Result<Exit> {
    let Some(one) = One::open(&args.profile.files, &args.profile.runs, messages)? else {
        return Ok(Exit::NothingUsable);
    };
    let (wanted, when) = (wanted(&args.profile, messages)?, args.profile.when.when());
    let flame = args.flame();
    let per_thread = flame.grouping == Grouping::Thread;
    let Some(after) = one.listed(&wanted, &when, per_thread, messages)? else { return Ok(Exit::NothingUsable) };
    let target = target(args.out(), &one.recording, &wanted, "svg");
    let drawn = match args.against() {
        None if one.is_nothing(after.weights.is_empty(), &wanted, &when, messages) => return Ok(Exit::NothingUsable),
        None => target.write(|mut out| Ok(flame.write(&after, &mut out)?))?,
        Some((path, change)) => {
            let files = FileArgs { paths: vec![path.to_owned()], file: Vec::new(), recursive: false };
            let Some(base) = One::open(&files, &RunArgs::default(), messages)? else { return Ok(Exit::NothingUsable) };
            let before = base.listed(&wanted, &when, per_thread, messages)?;
            let Some(before) = before else { return Ok(Exit::NothingUsable) };
            // What is in one of the two only is a change.
            if one.is_nothing(after.weights.is_empty() && before.weights.is_empty(), &wanted, &when, messages) {
                return Ok(Exit::NothingUsable);
            }
            // The title names the recording that is drawn; the other one must be named, too.
            let parts = [format!("before: {}", base.recording.file.name), flame.subtitle.clone()];
            let subtitle = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
            let flame = Flame { subtitle, ..flame };
            target.write(|mut out| Ok(flame.write_change(&before, &after, change, &mut out)?))?
        }
    };
    say(&target, &drawn, messages);
    Ok(Exit::Fine)
}

/// Writes a profile in the format of another tool.
pub(crate) fn export(args: &ExportArgs, messages: &Messages) -> anyhow::Result<Exit> {
    let Some(one) = One::open(&args.profile.files, &args.profile.runs, messages)? else {
        return Ok(Exit::NothingUsable);
    };
    let (wanted, when) = (wanted(&args.profile, messages)?, args.profile.when.when());
    let format = args.format();
    let target = target(args.out(), &one.recording, &wanted, format.extension());
    if target.is_terminal() && format != Format::Folded {
        return Err(UsageError::new("this format is not for terminals", "name a file with --out FILE").into());
    }
    let is_nothing = |is_empty: bool| one.is_nothing(is_empty, &wanted, &when, messages);
    let is_written = match format.writer() {
        // Without times there is no need to keep every sample.
        Writer::Stacks(write) => match one.listed(&wanted, &when, false, messages)? {
            Some(profile) if !is_nothing(profile.weights.is_empty()) => {
                target.write(|out| Ok(write((&profile).into(), out)?)).map(|()| true)?
            }
            _ => false,
        },
        Writer::Sums(write) => match one.folded(&wanted, &when, messages)? {
            Some(profile) if !is_nothing(profile.weights.is_empty()) => {
                target.write(|out| Ok(write(&profile, out)?)).map(|()| true)?
            }
            _ => false,
        },
        Writer::Times(write) => match one.timed(&wanted, &when, messages)? {
            Some(profile) if !is_nothing(profile.samples.is_empty()) => {
                target.write(|out| Ok(write(&profile, out)?)).map(|()| true)?
            }
            _ => false,
        },
    };
    if !is_written {
        return Ok(Exit::NothingUsable);
    }
    if let Target::File(path) = &target {
        messages.note(&format!("wrote {}", path.display()));
    }
    Ok(Exit::Fine)
}

fn wanted(args: &ProfileArgs, messages: &Messages) -> Result<Wanted, UsageError> {
    args.wanted(&mut |warning| messages.warning(warning))
}

/// The one recording that a picture is of.
struct One {
    recording: OpenRecording,
    /// Keeps the archive of a raw recording.
    _sources: Sources,
}

impl One {
    /// Opens it. `None` where there is nothing usable, which was said.
    fn open(files: &FileArgs, runs: &RunArgs, messages: &Messages) -> anyhow::Result<Option<Self>> {
        let Some(found) = sources(files, runs, messages)? else { return Ok(None) };
        match found.list.as_slice() {
            [] => Ok(None),
            [source] => {
                let recording = OpenRecording::open(source)?;
                if recording.file.is_imported {
                    anyhow::bail!("{}: was imported from sums, and has no stacks", recording.file.name);
                }
                Ok(Some(Self { recording, _sources: found }))
            }
            many => Err(UsageError::new(
                format!("a profile is of one recording, and there are {}", many.len()),
                format!(
                    "name one, such as {}",
                    many.first().map(|source| source.shown.display().to_string()).unwrap_or_default()
                ),
            )
            .into()),
        }
    }

    fn within(
        &self,
        question: &profile::Question,
        when: &When,
        messages: &Messages,
    ) -> anyhow::Result<profile::Question> {
        let (time, origin) = self.resolve(when, messages)?;
        let has_switches = self.recording.info().has_switches;
        if question.measure.is_cpu() && !self.recording.file.has_samples && has_switches {
            messages.note(&self.recording.file.note_of_precise_cpu());
        }
        let needed = if question.measure.is_cpu() { &["cpu_samples"] } else { question.measure.tables() };
        if let Some(warning) = self.recording.file.warning_of_left_out(needed) {
            messages.warning(&format!("{}: {}", self.recording.file.name, warning.text));
        }
        if let Some(note) = question.note_of_early_ends(&self.recording)? {
            messages.note(&format!("{}: {note}", self.recording.file.name));
        }
        Ok(profile::Question { time, origin, ..question.clone() })
    }

    /// The part of the recording, and the instant from which times are counted.
    fn resolve(&self, when: &When, messages: &Messages) -> anyhow::Result<(TimeRange, i64)> {
        let Resolved { time, origin, found } =
            when.resolve(&self.recording).map_err(|failure| anyhow::anyhow!("{}", failure.reason))?;
        if let Some(warning) = when.not_found(found) {
            messages.warning(&format!("{}: {}", self.recording.file.name, warning.text));
        }
        Ok((time, origin))
    }

    /// The profile of a path. `None` where there is none, which was said.
    fn path<P>(
        &self,
        question: &PathQuestion,
        when: &When,
        messages: &Messages,
        make: fn(&PathQuestion, &OpenRecording) -> Result<Found<P>, Error>,
    ) -> anyhow::Result<Option<P>> {
        let name = &self.recording.file.name;
        let (_, origin) = self.resolve(when, messages)?;
        if let Some(warning) = self.recording.file.warning_of_left_out(&["context_switches", "cpu_samples"]) {
            messages.warning(&format!("{name}: {}", warning.text));
        }
        let made = answered(1, || make(&PathQuestion { origin, ..question.clone() }, &self.recording))??;
        self.warn(true, messages);
        match made {
            Ok(PathProfile { profile, notes, warning }) => {
                notes.iter().for_each(|note| messages.note(&format!("{name}: {note}")));
                warning.iter().for_each(|warning| messages.warning(&format!("{name}: {warning}")));
                Ok(Some(profile))
            }
            Err(why) => {
                messages.error(&format!("{name}: {why}"));
                Ok(None)
            }
        }
    }

    fn listed(
        &self,
        wanted: &Wanted,
        when: &When,
        per_thread: bool,
        messages: &Messages,
    ) -> anyhow::Result<Option<Listed>> {
        match wanted {
            Wanted::Path(question) => self.path(question, when, messages, PathQuestion::listed),
            Wanted::Measure(question) => {
                let within = self.within(question, when, messages)?;
                let profile = answered(1, || within.listed(&self.recording, per_thread))??;
                self.warn(self.needs_switches(question.measure), messages);
                Ok(Some(profile))
            }
        }
    }

    fn folded(&self, wanted: &Wanted, when: &When, messages: &Messages) -> anyhow::Result<Option<Folded>> {
        match wanted {
            Wanted::Path(question) => self.path(question, when, messages, PathQuestion::folded),
            Wanted::Measure(question) => {
                let within = self.within(question, when, messages)?;
                let profile = answered(1, || within.folded(&self.recording))??;
                self.warn(self.needs_switches(question.measure), messages);
                Ok(Some(profile))
            }
        }
    }

    fn timed(&self, wanted: &Wanted, when: &When, messages: &Messages) -> anyhow::Result<Option<Profile>> {
        match wanted {
            Wanted::Path(question) => self.path(question, when, messages, PathQuestion::timed),
            Wanted::Measure(question) => {
                let within = self.within(question, when, messages)?;
                let profile = answered(1, || within.timed(&self.recording))??;
                self.warn(self.needs_switches(question.measure), messages);
                Ok(Some(profile))
            }
        }
    }

    /// Whether what limits switches limits the figures: sampled CPU and the rows of other tables do not depend on them.
    fn needs_switches(&self, measure: Measure) -> bool {
        match measure {
            Measure::Threads(_) => !(measure.is_cpu() && self.recording.file.has_samples),
            Measure::Rows(_) => false,
        }
    }

    /// Says what limits the figures.
    fn warn(&self, needs_switches: bool, messages: &Messages) {
        let file = &self.recording.file;
        let tells = |limit: &&limit::Limit| needs_switches || !limit.kind.is_of_switches();
        let section = Section { warnings: file.warnings.iter().filter(tells).cloned().collect(), ..Section::default() };
        limit::in_two_lines(&[section], true).iter().for_each(|line| messages.warning(line));
    }

    /// Passes on whether there is nothing to write, and says so: an empty picture would look like a quiet machine.
    fn is_nothing(&self, is_empty: bool, wanted: &Wanted, when: &When, messages: &Messages) -> bool {
        if is_empty {
            messages.error(&format!("{}: there is nothing of what was asked for", self.recording.file.name));
            let Wanted::Measure(question) = wanted else { return true };
            if let Measure::Rows(rows) = question.measure
                && let Some(why) = rows.missing(&self.recording)
            {
                messages.hint(&format!("{}: {why}", rows.what));
                return true;
            }
            let filter = (&question.filter, &question.methods);
            let why = answered(1, || nothing::why_of_profile(&self.recording, filter, when)).unwrap_or_default();
            why.iter().for_each(|line| messages.hint(line));
        }
        is_empty
    }
}

/// Where it goes: a name of its own in the current directory where none is given.
fn target(out: Option<&PathBuf>, recording: &OpenRecording, wanted: &Wanted, extension: &str) -> Target {
    match out {
        Some(path) if path == Path::new("-") => Target::Stdout,
        Some(path) => Target::File(path.clone()),
        None => {
            let name = format!("{}.{}.{extension}", recording.file.name, wanted.measure().key);
            // The name comes from a path that was found, not from inside the recording, and is a file name by itself.
            Target::File(PathBuf::from(Path::new(&name).file_name().unwrap_or_default()))
        }
    }
}

fn say(target: &Target, drawn: &Drawn, messages: &Messages) {
    if let Target::File(path) = target {
        let left =
            if drawn.folded > 0 { format!(", {} small ones in their callers", drawn.folded) } else { String::new() };
        messages.note(&format!("wrote {}: {} frames{left}", path.display(), drawn.frames));
    }
}
