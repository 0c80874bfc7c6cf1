//! Dimensions: what rows are grouped by, and what the groups are called.

use tracesift_archive::{Archive, Error};
use tracesift_trace::{FrameId, StackId, ThreadId};

use super::row_names::RowNames;
use crate::answer::{Column, Kind, View};
use crate::recording::OpenRecording;

/// What rows can be grouped by, and filtered with.
#[derive(Debug)]
pub struct Dimension<R: 'static> {
    /// What is known of it without a row.
    pub(super) is: Described,
    /// How a row gives its value.
    pub(super) value: ValueOf<R>,
}

/// What is known of a dimension without a row.
#[derive(Debug)]
pub(super) struct Described {
    /// The word of `--by`.
    pub(super) name: &'static str,
    /// What its values are, and how a value gets its text.
    pub(super) of: Of,
    /// The column of its texts; `None`: its columns are those that processes and threads have in all questions.
    pub(super) column: Option<Column>,
    /// The option that keeps rows by their value.
    pub(super) filter: Option<Filter>,
    /// Whether lists of single rows show it with `--details` only: another dimension says more.
    pub(super) is_coarse: bool,
    /// Other dimensions that each value of it has one value of: they stand beside it.
    pub(super) beside: &'static [&'static str],
}

/// What the values of a dimension are. While rows are read they are numbers; texts are made for the groups.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of {
    /// Processes.
    Process,
    /// Threads, which have a process.
    Thread,
    /// Functions at which stacks were taken, or that have the instruction.
    Method,
    /// Numbers that stand for something.
    Number {
        names: Names,
        /// The column with the number itself.
        raw: Option<Column>,
        /// The text of rows without a number; empty: they have none.
        none: &'static str,
    },
    /// Whole stacks.
    Stack,
    /// The modules of the functions that tell most about stacks.
    Module,
    /// The tags that rules give to stacks.
    Tag,
    /// Texts of rows, or the parts of them that `--level` says.
    Text { cut: Option<Cut> },
    /// Lists of texts: a row is in a group for each of its texts.
    Texts,
}

/// How a row gives the value of a dimension.
#[derive(Debug)]
pub(super) enum ValueOf<R: 'static> {
    /// It is the process of the row.
    Process,
    /// The thread.
    Thread(fn(&R) -> Option<ThreadId>),
    /// The stack, or the instruction.
    Code(fn(&R) -> (Option<StackId>, Option<FrameId>)),
    /// A number.
    Number(fn(&R) -> Option<i64>),
    /// The stack.
    Stack(fn(&R) -> Option<StackId>),
    /// A text.
    Text(fn(&R) -> Option<&str>),
    /// A list of texts.
    Texts(TextsOf<R>),
}

// By hand, since functions can be copied whatever the rows are.
impl<R> Clone for ValueOf<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for ValueOf<R> {}

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
    /// From the rows of another table. The rest is as above.
    Rows(RowNamesOf),
    /// Parts of paths. Numbers with the same part are one value. The rows of the answer follow the names.
    Paths(PathsOf),
}

/// Reads the names of numbers.
pub(super) type NamesOf = fn(&Archive) -> Result<Vec<(i64, String)>, Error>;

/// Reads the rows whose names numbers stand for.
pub(super) type RowNamesOf = fn(&Archive) -> Result<RowNames, Error>;

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
    const fn new(name: &'static str, of: Of, column: Option<Column>, value: ValueOf<R>) -> Self {
        let is = Described { name, of, column, filter: None, is_coarse: false, beside: &[] };
        Self { is, value }
    }

    const fn number([name, title]: [&'static str; 2], number: fn(&R) -> Option<i64>, names: Names) -> Self {
        let of = Of::Number { names, raw: None, none: "" };
        Self::new(name, of, Some(text_column(name, title)), ValueOf::Number(number))
    }

    /// The process of the rows. Its columns are those that all questions have.
    #[must_use]
    pub const fn process() -> Self {
        Self::new("process", Of::Process, None, ValueOf::Process)
    }

    /// The thread of the rows. A question with threads has processes, too.
    #[must_use]
    pub const fn thread(thread: fn(&R) -> Option<ThreadId>) -> Self {
        Self::new("thread", Of::Thread, None, ValueOf::Thread(thread))
    }

    /// The function at which the stack of a row was taken; of a row without a stack that of its instruction.
    #[must_use]
    pub const fn method(place: fn(&R) -> (Option<StackId>, Option<FrameId>)) -> Self {
        Self::new("method", Of::Method, Some(text_column("method", "Method")), ValueOf::Code(place))
    }

    /// The routine of a row that has stacks, too: the function that has the instruction.
    #[must_use]
    pub const fn routine(place: fn(&R) -> (Option<StackId>, Option<FrameId>)) -> Self {
        Self::new("routine", Of::Method, Some(text_column("routine", "Routine")), ValueOf::Code(place))
    }

    /// A number with words for its values.
    #[must_use]
    pub const fn words(
        name: &'static str,
        title: &'static str,
        number: fn(&R) -> Option<i64>,
        words: fn(i64) -> String,
    ) -> Self {
        Self::number([name, title], number, Names::Words(words))
    }

    /// A number whose names are rows of another table.
    #[must_use]
    pub const fn named(name: &'static str, title: &'static str, number: fn(&R) -> Option<i64>, names: NamesOf) -> Self {
        Self::number([name, title], number, Names::Table(names))
    }

    /// A number of a row of another table, which has a name made of several columns.
    #[must_use]
    pub(crate) const fn named_row(
        name: &'static str,
        title: &'static str,
        number: fn(&R) -> Option<i64>,
        names: RowNamesOf,
    ) -> Self {
        Self::number([name, title], number, Names::Rows(names))
    }

    /// A number that stands for a path, or for the part of a path. `--dir-level` changes that part.
    #[must_use]
    pub const fn paths(name: &'static str, title: &'static str, number: fn(&R) -> Option<i64>, paths: PathsOf) -> Self {
        Self::number([name, title], number, Names::Paths(paths))
    }

    /// The stack of the rows, a line per function below each row.
    #[must_use]
    pub const fn stack(stack: fn(&R) -> Option<StackId>) -> Self {
        let column = Column { kind: Kind::Below, ..text_column("stack", "Stack") };
        Self::new("stack", Of::Stack, Some(column), ValueOf::Stack(stack))
    }

    /// The module of the stack of the rows: of the first function that is neither of the operating system nor of a standard library,
    /// as answers about waits choose it.
    #[must_use]
    pub const fn module(stack: fn(&R) -> Option<StackId>) -> Self {
        Self::new("module", Of::Module, Some(text_column("module", "Module")), ValueOf::Stack(stack))
    }

    /// The tag of the stack of the rows.
    #[must_use]
    pub const fn tag(stack: fn(&R) -> Option<StackId>) -> Self {
        let help = "Tag that the rules of `--tag-file`, or the built-in ones, give to the stack.";
        Self::new("tag", Of::Tag, Some(text_column("tag", "Tag")), ValueOf::Stack(stack)).meaning(help)
    }

    /// A text of the rows.
    #[must_use]
    pub const fn text(name: &'static str, title: &'static str, text: fn(&R) -> Option<&str>) -> Self {
        Self::new(name, Of::Text { cut: None }, Some(text_column(name, title)), ValueOf::Text(text))
    }

    /// The same dimension, of which only a part of each text counts. `--level` changes its length.
    #[must_use]
    pub const fn cut(mut self, to: Cut) -> Self {
        if let Of::Text { cut } = &mut self.is.of {
            *cut = Some(to);
        }
        self
    }

    /// Texts of the rows: a row is in a group for each of its texts. Totals count it once.
    #[must_use]
    pub const fn texts(name: &'static str, title: &'static str, texts: TextsOf<R>) -> Self {
        Self::new(name, Of::Texts, Some(text_column(name, title)), ValueOf::Texts(texts))
    }

    /// The same dimension, whose column has another key than the word of `--by`.
    #[must_use]
    pub const fn keyed(mut self, key: &'static str) -> Self {
        if let Some(column) = &mut self.is.column {
            column.key = key;
        }
        self
    }

    /// The same dimension with its meaning, for the documents.
    #[must_use]
    pub const fn meaning(mut self, help: &'static str) -> Self {
        if let Some(column) = &mut self.is.column {
            column.help = help;
        }
        self
    }

    /// The same dimension with the number in a column of its own, which no table shows. Numbers of the same name stay apart.
    #[must_use]
    pub const fn with_number(mut self, key: &'static str, title: &'static str, help: &'static str) -> Self {
        if let Of::Number { raw, .. } = &mut self.is.of {
            *raw = Some(Column { key, title, kind: Kind::Id, view: View::Machine, help });
        }
        self
    }

    /// The same dimension with a text for rows without a value.
    #[must_use]
    pub const fn or(mut self, text: &'static str) -> Self {
        if let Of::Number { none, .. } = &mut self.is.of {
            *none = text;
        }
        self
    }

    /// The same dimension. Lists of single rows show it with `--details` only, as another dimension says more about a row.
    #[must_use]
    pub const fn coarse(mut self) -> Self {
        self.is.is_coarse = true;
        self
    }

    /// The same dimension, beside which other dimensions stand: each of its values has one value of them.
    #[must_use]
    pub const fn with(mut self, beside: &'static [&'static str]) -> Self {
        self.is.beside = beside;
        self
    }

    /// The same dimension with an option that keeps rows by patterns of their texts and numbers. `what` names one and many of them.
    #[must_use]
    pub const fn filtered(mut self, option: &'static str, what: [&'static str; 2], help: &'static str) -> Self {
        self.is.filter = Some(Filter { option, what, help });
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
