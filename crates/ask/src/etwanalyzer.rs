//! The switches of ETWAnalyzer, as a question declares them beside its options.
//!
//! The command line `-dump CPU -topn 10` is rewritten to `dump cpu --top=10`. Switches that many questions share are in one
//! table of the program; those of one question stand in its file.

/// The question in ETWAnalyzer's words.
#[derive(Clone, Copy, Debug)]
pub struct Legacy {
    /// Its name behind `-dump`, in lower case.
    pub name: &'static str,
    /// Its own switches. They go before shared ones of the same name.
    pub switches: &'static [Switch],
}

/// One switch.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// Its names in lower case, without the dash.
    pub names: &'static [&'static str],
    /// Its counterpart.
    pub to: To,
}

/// A switch with its counterpart.
#[must_use]
pub const fn switch(names: &'static [&'static str], to: To) -> Switch {
    Switch { names, to }
}

/// Words of ETWAnalyzer, each with the one of tracesift.
pub type Words = &'static [(&'static str, &'static str)];

/// The counterpart of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// A positional argument.
    Path,
    /// A flag.
    Flag(&'static str),
    /// An option with the value. Flags may stand before it.
    Value(&'static str),
    /// An option whose value may be missing; these values are translated.
    Optional(&'static str, Words),
    /// An option with the value translated. Flags may stand before it.
    Word(&'static str, Words),
    /// A value that stands for options of ours, or for none.
    Choice(Words),
    /// Two options for the ends of a range, `min [max]` or `min-max`; bare numbers get the unit.
    Range(&'static str, &'static str, &'static str),
    /// Two options for the ends of a range of instants, in seconds. `0 0` means that there is no such time, for which an option stands.
    Instants(&'static str, &'static str, &'static str),
    /// Two options for `n [skip]`. Flags may stand before the first.
    Top(&'static str, &'static str),
    /// `-fld [first] [last]`: a table shows both times in the first format.
    FirstLast,
    /// A format of times, with changes of `--columns`.
    ProcessTimes(&'static str),
    /// `-zerotime`: the landmark of time zero, with its pattern.
    ZeroTime,
    /// Changes of `--columns`: in rows of processes, in rows of methods.
    Columns(&'static str, &'static str),
    /// `--columns` with names that are translated; without a table they stay.
    ChosenColumns(Words),
    /// A flag for rows of processes; rows of methods have nothing like it there either.
    OfProcesses(&'static str),
    /// `-smi [Driver|filter]`
    Modules,
    /// A table that an extract leaves out.
    LeaveOut(&'static str),
    /// Dropped with so many values, for a reason: it shapes ETWAnalyzer's own output or work.
    Dropped(usize, &'static str),
    /// Left out with so many values; a note says so.
    Left(usize, &'static str),
    /// Another command answers, with an option of it whose value may be missing: without one the command alone.
    Instead(&'static str, &'static str),
    /// Refused, with the reason and with what to do in its place.
    Refused(&'static str, &'static str),
}
