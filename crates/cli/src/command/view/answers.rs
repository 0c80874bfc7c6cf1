//! Command lines of a page, answered as the command would be.

use std::ffi::OsString;
use std::io;

use chrono::Local;
use tracesift_archive::Watch;
use tracesift_ask::answer::Answer;
use tracesift_ask::command_line::line;
use tracesift_ask::explain::explain_all;
use tracesift_ask::options::{Asking, Plan, QuestionOptions};
use tracesift_ask::recording::Source;
use tracesift_ask::{ask, every_question, nothing};
use tracesift_view::{Answered, Answers, Refused};

use super::words::{check, with_tag_files};
use crate::args::symbols::Symbols;
use crate::args::{self, Asked, Command, Dump, ExplainArgs, FileArgs};
use crate::command::printer::Printer;
use crate::command::{dump, found};
use crate::exit::UsageError;
use crate::output::{self, explanation_json};
use crate::terminal::Messages;

/// Answers the command lines of a page about the recordings of a session.
pub(crate) struct CommandLines {
    /// The archives.
    pub(crate) sources: Vec<Source>,
    /// What names each on a command line.
    pub(crate) files: Vec<String>,
    /// The files of stack tags `t0`, `t1` ….
    pub(crate) tag_files: Vec<String>,
}

impl Answers for CommandLines {
    fn ask(&self, recordings: &[usize], words: &[String], watch: &Watch) -> Result<Answered, Refused> {
        let words = with_tag_files(words, &self.tag_files)?;
        let name = ["tracesift".to_owned()];
        let format = ["--format".to_owned(), "json".to_owned()];
        let arguments: Vec<OsString> = name.iter().chain(&words).chain(&format).map(OsString::from).collect();
        let check =
            |definition: &clap::Command, matches: &clap::ArgMatches| check(definition, matches, &self.tag_files);
        let command = args::parse_checked(&arguments, check).map_err(|error| wrong(&error))??;
        let sources = recordings.iter().filter_map(|place| self.sources.get(*place));
        let files = recordings.iter().filter_map(|place| self.files.get(*place));
        let asked = OfPage {
            sources: sources.map(|source| source.clone().watched_by(watch)).collect(),
            files: files.cloned().collect(),
            messages: Messages::new(true, true),
        };
        let (body, notes) = asked.answer(&command.command)?;
        if watch.is_cancelled() {
            return Err(Refused::Cancelled);
        }
        // An option whose value may be left out would take a file behind it for its value.
        let (question, options) = words.split_at(question_words(&words));
        let command = line(name.iter().chain(question).chain(&asked.files).chain(options).map(String::as_str));
        Ok(Answered { body, command, notes })
    }
}

/// How many words name the question.
fn question_words(words: &[String]) -> usize {
    let has_two = words.first().is_some_and(|word| word == "dump" || word == "symbols");
    words.len().min(if has_two { 2 } else { 1 })
}

/// What clap says, in our form.
fn wrong(error: &clap::Error) -> Refused {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("words: no command");
    let first = first.strip_prefix("error: ").unwrap_or(first).to_owned();
    let hint = lines.find_map(|line| line.strip_prefix("tip: ")).map(str::to_owned);
    Refused::Words { error: first, hint }
}

fn usage(error: UsageError) -> Refused {
    Refused::Words { error: error.message, hint: error.hint }
}

/// Bytes of an answer, at most: a browser shows no such table.
const LARGEST: usize = 256 << 20;

/// Memory for an answer, as much as one may take.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len().saturating_add(bytes.len()) > LARGEST {
            return Err(io::Error::other("larger than 256 MiB; choose fewer rows with --top"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is printed, and what is said beside it.
type Said = (Vec<u8>, Vec<String>);

/// The recordings that a question of the page is about.
struct OfPage {
    sources: Vec<Source>,
    files: Vec<String>,
    messages: Messages,
}

macro_rules! dump_question {
    ($($(#[$about:meta])* $variant:ident($module:ident),)*) => {
        impl OfPage {
            fn dump(&self, dump: &Dump) -> Result<Said, Refused> {
                match dump {
                    $(Dump::$variant(asked) => self.question(asked),)*
                }
            }
        }
    };
}

every_question!(dump_question);

impl OfPage {
    fn answer(&self, command: &Command) -> Result<Said, Refused> {
        match command {
            Command::Dump(args) => self.dump(&args.question),
            Command::Overview(asked) => self.question(asked),
            Command::Time(asked) => self.question(asked),
            Command::Explain(args) => self.explain(args),
            Command::Symbols(args) => match &args.action {
                Symbols::Missing(asked) => self.question(asked),
                _ => Err(not_asked()),
            },
            _ => Err(not_asked()),
        }
    }

    fn question<O: QuestionOptions>(&self, asked: &Asked<O>) -> Result<Said, Refused> {
        let printer = Printer::new(&asked.output, true, &self.messages).map_err(usage)?;
        let printer = printer.with_time_format(asked.options.time_format());
        let mut notes = Vec::new();
        let plan = asked.options.plan(&mut |warning| notes.push(warning.to_owned())).map_err(usage)?;
        let selection = asked.runs.selection(Local::now().naive_local());
        let files = FileArgs { paths: self.files.clone(), file: Vec::new(), recursive: false };
        let answer = match plan {
            Plan::Archives(asking) => return self.archives(asking, &asked.options, asked, &printer, notes),
            Plan::Names(question) => {
                let (found, _) = found::find(&files.inputs(), &self.messages);
                question.answer(&found::runs(&found, &selection))
            }
            Plan::Files(question) => {
                let (found, _) = dump::files_as_they_are(&files, &selection, &self.messages);
                let of_files = question.answer(&found.recordings, &self.sources_of(&found.archives));
                notes.extend(of_files.failures);
                notes.extend(of_files.why_empty.into_iter().flatten());
                of_files.answer.ok_or_else(|| Refused::Failed(notes.join("; ")))?
            }
            Plan::Answer(answer) => answer,
        };
        let chosen = printer.choose(&answer.columns).map_err(usage)?;
        printed(answer, &chosen, &printer).map(|body| (body, notes))
    }

    /// The archives among those of the session that have these paths.
    fn sources_of(&self, archives: &[std::path::PathBuf]) -> Vec<Source> {
        self.sources.iter().filter(|source| archives.contains(&source.archive)).cloned().collect()
    }

    fn archives<O: QuestionOptions>(
        &self,
        Asking { question, columns, then }: Asking,
        options: &O,
        asked: &Asked<O>,
        printer: &Printer,
        mut notes: Vec<String>,
    ) -> Result<Said, Refused> {
        let when = options.when();
        let question = question.as_ref();
        let chosen = match &columns {
            Some(columns) => printer.choose(columns),
            None => printer.choose(&when.columns(question)),
        };
        let chosen = chosen.map_err(usage)?;
        let shown = if columns.is_none() { printer.shown(&chosen) } else { None };
        let narrowed = shown.and_then(|shown| question.showing(&shown));
        let mut outcome = ask(&self.sources, narrowed.as_deref().unwrap_or(question), &when);
        if let Some(first) = outcome.failures.first().filter(|_| outcome.answer.sections.is_empty()) {
            return Err(Refused::Failed(first.reason.clone()));
        }
        notes.extend(outcome.failures.iter().map(|failure| failure.reason.clone()));
        if nothing::is_empty(&outcome.answer) {
            notes.extend(nothing::why(&self.sources, question, &when, &outcome.answer, false));
        }
        then(&mut outcome.answer, &asked.runs.selection(Local::now().naive_local()));
        printed(outcome.answer, &chosen, printer).map(|body| (body, notes))
    }

    fn explain(&self, args: &ExplainArgs) -> Result<Said, Refused> {
        let mut notes = Vec::new();
        let accounts = args.accounts(&mut |warning| notes.push(warning.to_owned())).map_err(usage)?;
        let (explanations, failures) = explain_all(&self.sources, &accounts);
        notes.extend(failures.iter().map(|failure| failure.reason.clone()));
        if explanations.is_empty() {
            return Err(Refused::Failed(notes.join("; ")));
        }
        Ok((explanation_json::text(&explanations).into_bytes(), notes))
    }
}

fn not_asked() -> Refused {
    Refused::Words {
        error: "words: they are no question that a page may ask".to_owned(),
        hint: Some("dump QUESTION, overview, explain, time, symbols missing".to_owned()),
    }
}

/// What the command prints.
fn printed(
    mut answer: Answer,
    chosen: &tracesift_ask::column_choice::Chosen,
    printer: &Printer,
) -> Result<Vec<u8>, Refused> {
    chosen.apply(&mut answer);
    let mut body = Bounded(Vec::new());
    let written = output::write_to(&mut body, &answer, args::Format::Json, None, printer.style());
    written.map_err(|error| Refused::Failed(format!("answer: {error}")))?;
    Ok(body.0)
}
