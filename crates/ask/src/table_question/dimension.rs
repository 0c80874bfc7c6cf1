//! Dimensions: what rows are grouped by, and what the groups are called.

use tracesift_archive::{Archive, Error};
use tracesift_trace::{FrameId, StackId, ThreadId};

use crate::answer::{Column, Kind, View};
use crate::recording::OpenRecording;

/// What rows can be grouped by, and filtered with.
#[derive(Debug)]
pub struct Dimension<R: 'static> {
    /// The word of `--by`.
    pub(super) name: &'static str,
    /// How a row gives its value, and how a value gets its text.
    pub(super) of: Of<R>,
    /// The option that keeps rows by their value.
    pub(super) filter: Option<Filter>,
    /// Whether lists of single rows show it with `--details` only: another dimension says more.
    pub(super) is_coarse: bool,
    /// Other dimensions that each value of it has one value of: they stand beside it.
    pub(super) beside: &'static [&'static str],
}

/// Where the value of a row comes from. While rows are read it is a number; texts are made for the groups.
#[derive(Debug)]
pub(super) enum Of<R: 'static> {
    /// The process.
    Process,
    /// The thread, which has a process.
    Thread(fn(&R) -> Option<ThreadId>),
    /// The function at which the stack was taken, or that has the instruction.
    Method { place: fn(&R) -> (Option<StackId>, Option<FrameId>), column: Column },
    /// A number that stands for something.
    Number {
        number: fn(&R) -> Option<i64>,
        names: Names,
        column: Column,
        /// The column with the number itself.
        raw: Option<Column>,
        /// The text of rows without a number; empty: they have none.
        none: &'static str,
    },
    /// The whole stack.
    Stack { stack: fn(&R) -> Option<StackId>, column: Column },
    /// The module of the function that tells most about the stack.
    Module { stack: fn(&R) -> Option<StackId>, column: Column },
    /// The tag that rules give to the stack.
    Tag { stack: fn(&R) -> Option<StackId>, column: Column },
    /// A text of the row, or the part of it that `--level` says.
    Text { text: fn(&R) -> Option<&str>, cut: Option<Cut>, column: Column },
    /// Texts of the row, which is in a group for each of them.
    Texts { texts: TextsOf<R>, column: Column },
}

/// Gives the part of a text that has so many levels, or the usual number of them.
pub(super) type Cut = fn(&str, Option<usize>) -> &str;

/// The list of texts of a row.
pub(super) type TextsOf<R> = fn(&R) -> Option<&Vec<String>>;

/// Names of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Names {
    /// Known beforehand. The rows of the answer follow the numbers.
    Words(fn(i64) -> String),
    /// From another table of the archive. A number without a name is its own name. The rows of the answer follow the names.
    Table(NamesOf),
    /// Parts of paths. Numbers with the same part are one value. The rows of the answer follow the names.
    Paths(PathsOf),
}

/// Reads the names of numbers.
pub(super) type NamesOf = fn(&Archive) -> Result<Vec<(i64, String)>, Error>;

/// Reads the parts of paths that numbers stand for; `--dir-level` may say how many parts a directory has.
pub(super) type PathsOf = fn(&OpenRecording, Option<usize>) -> Result<Vec<(i64, String)>, Error>;

/// An option with patterns of texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter {
    /// With its dashes: `--calls`.
    pub(super) option: &'static str,
    /// What it lets pass: one, and many.
    pub(super) what: [&'static str; 2],
    /// One sentence for its help.
    pub(super) help: &'static str,
}

impl<R> Dimension<R> {
    const fn new(name: &'static str, of: Of<R>) -> Self {
        Self { name, of, filter: None, is_coarse: false, beside: &[] }
    }

    /// The process of the rows. Its columns are those that all questions have.
    #[must_use]
    pub const fn process() -> Self {
        Self::new("process", Of::Process)
    }

    /// The thread of the rows. A question with threads has processes, too.
    #[must_use]
    pub const fn thread(thread: fn(&R) -> Option<ThreadId>) -> Self {
        Self::new("thread", Of::Thread(thread))
    }

    /// The function at which the stack of a row was taken; of a row without a stack that of its instruction.
    #[must_use]
    pub const fn method(place: fn(&R) -> (Option<StackId>, Option<FrameId>)) -> Self {
        Self::new("method", Of::Method { place, column: text_column("method", "Method") })
    }

    /// The routine of a row that has stacks, too: the function that has the instruction.
    #[must_use]
    pub const fn routine(place: fn(&R) -> (Option<StackId>, Option<FrameId>)) -> Self {
        Self::new("routine", Of::Method { place, column: text_column("routine", "Routine") })
    }

    /// A number with words for its values.
    #[must_use]
    pub const fn words(
        name: &'static str,
        title: &'static str,
        number: fn(&R) -> Option<i64>,
        words: fn(i64) -> String,
    ) -> Self {
        let column = text_column(name, title);
        Self::new(name, Of::Number { number, names: Names::Words(words), column, raw: None, none: "" })
    }

    /// A number whose names are rows of another table.
    #[must_use]
    pub const fn named(name: &'static str, title: &'static str, number: fn(&R) -> Option<i64>, names: NamesOf) -> Self {
        let column = text_column(name, title);
        Self::new(name, Of::Number { number, names: Names::Table(names), column, raw: None, none: "" })
    }

    /// A number that stands for a path, or for the part of a path. `--dir-level` changes that part.
    #[must_use]
    pub const fn paths(name: &'static str, title: &'static str, number: fn(&R) -> Option<i64>, paths: PathsOf) -> Self {
        let column = text_column(name, title);
        Self::new(name, Of::Number { number, names: Names::Paths(paths), column, raw: None, none: "" })
    }

    /// The stack of the rows, a line per function below each row.
    #[must_use]
    pub const fn stack(stack: fn(&R) -> Option<StackId>) -> Self {
        let column = Column { kind: Kind::Below, ..text_column("stack", "Stack") };
        Self::new("stack", Of::Stack { stack, column })
    }

    /// The module of the stack of the rows: of the first function that is neither of the operating system nor of a standard library,
    /// as answers about waits choose it.
    #[must_use]
    pub const fn module(stack: fn(&R) -> Option<StackId>) -> Self {
        Self::new("module", Of::Module { stack, column: text_column("module", "Module") })
    }

    /// The tag of the stack of the rows.
    #[must_use]
    pub const fn tag(stack: fn(&R) -> Option<StackId>) -> Self {
        let help = "Tag that the rules of `--tag-file`, or the built-in ones, give to the stack.";
        Self::new("tag", Of::Tag { stack, column: text_column("tag", "Tag") }).meaning(help)
    }

    /// A text of the rows.
    #[must_use]
    pub const fn text(name: &'static str, title: &'static str, text: fn(&R) -> Option<&str>) -> Self {
        Self::new(name, Of::Text { text, cut: None, column: text_column(name, title) })
    }

    /// The same dimension, of which only a part of each text counts. `--level` changes its length.
    #[must_use]
    pub const fn cut(mut self, to: Cut) -> Self {
        if let Of::Text { cut, .. } = &mut self.of {
            *cut = Some(to);
        }
        self
    }

    /// Texts of the rows: a row is in a group for each of its texts. Totals count it once.
    #[must_use]
    pub const fn texts(name: &'static str, title: &'static str, texts: TextsOf<R>) -> Self {
        Self::new(name, Of::Texts { texts, column: text_column(name, title) })
    }

    /// The same dimension, whose column has another key than the word of `--by`.
    #[must_use]
    pub const fn keyed(mut self, key: &'static str) -> Self {
        if let Of::Number { column, .. } = &mut self.of {
            column.key = key;
        }
        self
    }

    /// The same dimension with its meaning, for the documents.
    #[must_use]
    pub const fn meaning(mut self, help: &'static str) -> Self {
        match &mut self.of {
            Of::Method { column, .. }
            | Of::Number { column, .. }
            | Of::Stack { column, .. }
            | Of::Module { column, .. }
            | Of::Tag { column, .. }
            | Of::Text { column, .. }
            | Of::Texts { column, .. } => column.help = help,
            Of::Process | Of::Thread(_) => {}
        }
        self
    }

    /// The same dimension with the number in a column of its own, which no table shows. Numbers of the same name stay apart.
    #[must_use]
    pub const fn with_number(mut self, key: &'static str, title: &'static str, help: &'static str) -> Self {
        if let Of::Number { raw, .. } = &mut self.of {
            *raw = Some(Column { key, title, kind: Kind::Id, view: View::Machine, help });
        }
        self
    }

    /// The same dimension with a text for rows without a value.
    #[must_use]
    pub const fn or(mut self, text: &'static str) -> Self {
        if let Of::Number { none, .. } = &mut self.of {
            *none = text;
        }
        self
    }

    /// The same dimension. Lists of single rows show it with `--details` only, as another dimension says more about a row.
    #[must_use]
    pub const fn coarse(mut self) -> Self {
        self.is_coarse = true;
        self
    }

    /// The same dimension, beside which other dimensions stand: each of its values has one value of them.
    #[must_use]
    pub const fn with(mut self, beside: &'static [&'static str]) -> Self {
        self.beside = beside;
        self
    }

    /// The same dimension with an option that keeps rows by patterns of their texts and numbers. `what` names one and many of them.
    #[must_use]
    pub const fn filtered(mut self, option: &'static str, what: [&'static str; 2], help: &'static str) -> Self {
        self.filter = Some(Filter { option, what, help });
        self
    }
}

/// A status of Windows that is a warning or an error, as headers write its number; `None`: another number.
pub(super) fn status(number: i64) -> Option<String> {
    u32::try_from(number).ok().filter(|number| *number >= 0x8000_0000).map(|number| format!("{number:#x}"))
}

const fn text_column(key: &'static str, title: &'static str) -> Column {
    Column { key, title, kind: Kind::Text, view: View::Always, help: "" }
}

/// An option that keeps rows by a figure of theirs.
#[derive(Debug)]
pub struct Limit<R: 'static> {
    /// The options, the lower and the upper limit, with their dashes.
    pub(super) options: [&'static str; 2],
    /// The figure, with nothing cut off by a time range.
    pub(super) figure: fn(&R) -> Option<i64>,
    /// What the figure is: it decides the units that the options take.
    pub(super) kind: Kind,
    /// One sentence for the help of each.
    pub(super) help: [&'static str; 2],
}

impl<R> Limit<R> {
    /// Limits of a time, ms where no unit is given. `options` are such as `--min-duration` and `--max-duration`.
    #[must_use]
    pub const fn time(options: [&'static str; 2], figure: fn(&R) -> Option<i64>, help: [&'static str; 2]) -> Self {
        Self { options, figure, kind: Kind::Milliseconds, help }
    }

    /// Limits of an instant, ms where no unit is given. They are counted from the same zero as the times of `--time`.
    #[must_use]
    pub const fn instant(options: [&'static str; 2], figure: fn(&R) -> Option<i64>, help: [&'static str; 2]) -> Self {
        Self { options, figure, kind: Kind::Time, help }
    }

    /// Limits of a number of bytes.
    #[must_use]
    pub const fn bytes(options: [&'static str; 2], figure: fn(&R) -> Option<i64>, help: [&'static str; 2]) -> Self {
        Self { options, figure, kind: Kind::Bytes, help }
    }

    /// Limits of a number of things.
    #[must_use]
    pub const fn count(options: [&'static str; 2], figure: fn(&R) -> Option<i64>, help: [&'static str; 2]) -> Self {
        Self { options, figure, kind: Kind::Count, help }
    }
}

/// An option without a value that keeps the rows of which something is true.
#[derive(Debug)]
pub struct Condition<R: 'static> {
    /// With its dashes: `--timed-out`.
    pub option: &'static str,
    /// What is true of the rows that stay.
    pub holds: fn(&R) -> bool,
    /// One sentence for its help.
    pub help: &'static str,
}

/// Makes a row that the end of its process ended one that is open; `None`: it is another row.
pub(super) type AsOpen<R> = fn(&R) -> Option<R>;

/// What becomes of a row with `--include-exited`.
#[derive(Debug)]
pub struct Exited<R: 'static> {
    /// The row as if it were open; `None`: the end of its process did not end it.
    pub row: AsOpen<R>,
    /// One sentence for the help.
    pub help: &'static str,
}

/// An option that stands for a grouping.
#[derive(Clone, Copy, Debug)]
pub struct Shorthand {
    /// With its dashes: `--per-thread`.
    pub option: &'static str,
    /// The dimensions.
    pub by: &'static [&'static str],
    /// The word of `--sort` without that option; `None`: that of the question.
    pub sort: Option<&'static str>,
    /// One sentence for its help.
    pub help: &'static str,
}
