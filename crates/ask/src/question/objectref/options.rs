//! The options of `dump objectref`.

use clap::{Args, ValueEnum};
use tracesift_grammar::{Patterns, TimeRange, milliseconds, parse_size};

use super::{Question, columns, history, references, views};
use crate::ask::{When, WhenOptions};
use crate::etwanalyzer::{Legacy, To, switch};
use crate::filter::{ProcessFilter, ProcessPatterns};
use crate::method_patterns::MethodPatterns;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::{Between, Top};
use crate::shown::Shown;
use crate::usage_error::UsageError;

/// Order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By the number of handles; usual for objects.
    #[default]
    Handles,
    /// By the number of handles that are open at the end.
    Open,
    /// By the number of processes that have handles.
    Processes,
    /// By the number of references taken.
    References,
    /// By the life inside the recording.
    Duration,
    /// By the time of creation or mapping.
    Created,
    /// By the time of deletion or unmapping.
    Destroyed,
    /// By size; usual for views.
    Size,
}

/// Whether views are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Views {
    /// Only mapped views
    Only,
    /// Only objects that have mapped views
    Objects,
    /// Only objects
    No,
}

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    filter: ProcessFilter,
    #[command(flatten)]
    when: WhenOptions,
    #[command(flatten)]
    top: Top,
    /// Order of the rows; the largest stands last (default: handles; with --map size)
    #[arg(long, value_name = "KEY")]
    sort: Option<Sort>,
    /// Only objects that these processes made, and views that they have: name, name.exe, name(pid) or pid
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    creator: ProcessPatterns,
    /// Only objects with a handle that was made in the time range and not closed, while its process runs on
    #[arg(long)]
    leak: bool,
    /// Handles that the end of their process closed are leaks, too
    #[arg(long, requires = "leak")]
    include_exited: bool,
    /// Only objects of which several processes have handles
    #[arg(long)]
    multi_process: bool,
    /// Only objects of which a process got a handle from its creator
    #[arg(long)]
    inherited: bool,
    /// Only objects of which a process has several handles at once
    #[arg(long)]
    overlapped: bool,
    /// Only objects of these types: File, Event, Section
    #[arg(long = "type", value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    types: Patterns,
    /// Only objects at these addresses: 0xffff8a0012345678
    #[arg(long = "object", value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    objects: Patterns,
    /// Only objects with these names, or views of these files
    #[arg(long = "name", value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    names: Patterns,
    /// Only objects with such a handle: 0x1a4
    #[arg(long = "handle", value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    handles: Patterns,
    /// Shortest life inside the recording (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_duration: Option<i64>,
    /// Longest life inside the recording
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_duration: Option<i64>,
    /// Only objects that were created, or views that were mapped, at this time or later (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_time: Option<i64>,
    /// The same, up to this time
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_time: Option<i64>,
    /// Smallest number of an object, in the order in which the recording has them
    #[arg(long, value_name = "N")]
    min_id: Option<i64>,
    /// Largest number of an object
    #[arg(long, value_name = "N")]
    max_id: Option<i64>,
    /// Only objects with such a function in a stack: of their creation or deletion, or of one of their handles
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    stack: String,
    /// Only objects that were created, or views that were mapped, with such a function in the stack
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    create_stack: String,
    /// Only objects that were deleted, or views that were unmapped, with such a function in the stack
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    destroy_stack: String,
    /// Below each object its events in order: created, handles, mapped, unmapped, references, deleted
    #[arg(long)]
    history: bool,
    /// Each event of the references to an object; they need `extract --events all`
    #[arg(long)]
    references: bool,
    /// Mapped views in place of objects; `=objects`: objects with views; `=no`: objects
    #[arg(long, value_name = "VIEWS", num_args = 0..=1, require_equals = true, default_missing_value = "only")]
    map: Option<Views>,
    /// Smallest view
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    min_map_size: Option<i64>,
    /// Largest view
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_map_size: Option<i64>,
    /// Only views that have this address: 0x7ff612340000
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    address_in_map: Option<i64>,
    /// Only views at these addresses
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    view_base: Patterns,
}

/// An address, hexadecimal behind `0x`, else decimal.
fn address(text: &str) -> Result<i64, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let number = digits.map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16));
    number.map(u64::cast_signed).map_err(|_| "it must be an address such as 0x7ff612340000".to_owned())
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form {
            objects: &[
                ("The objects of `handles`:\n\n", columns::handle_columns),
                ("The objects of `views`:\n\n", columns::view_columns),
                ("The objects of `reference_events`:\n\n", references::columns),
                ("The objects of `history`:\n\n", history::columns),
            ],
            ..Form::usual("objectref", || columns::COLUMNS.descriptions())
        },
        Form {
            with: &[&["--map", "--min-map-size=1", "--max-map-size=1", "--address-in-map=0x1000", "--view-base=*"]],
            title: "With `--map`:\n\n",
            ..Form::usual("objectref", || views::COLUMNS.descriptions())
        },
    ];
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "sort", "leak", "multi_process", "overlapped", "types", "map", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump objectref X.sift --leak --type File", "files with handles that nobody closed"),
        ("tracesift dump objectref X.sift --multi-process --top 10", "objects that processes share"),
        ("tracesift dump objectref X.sift -p app.exe --inherited", "what a process got from its creator"),
        (
            "tracesift dump objectref X.sift --map=objects --address-in-map 0x7ff612340000",
            "the section behind an address, with its handles and views",
        ),
        ("tracesift dump objectref X.sift --object '*e6f0' --history", "the events of an object in their order"),
        ("tracesift dump objectref X.sift --map --top 10", "the largest mapped views"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--leak", "--include-exited", "--handle=*4"],
        &["--multi-process", "--overlapped", "--sort=references"],
        &["--inherited", "--type=*e*", "--name=*", "--object=*", "--min-duration=1"],
        &["--min-time=1", "--max-id=50", "--references"],
        &["--stack=*", "--create-stack=!none", "--destroy-stack=*"],
        &["--creator=*", "--history"],
        &["--map=objects", "--min-map-size=1", "--history", "--references"],
        &["--map", "--leak", "--address-in-map=0x1000", "--sort=destroyed"],
    ];
    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "objectref",
        switches: &[
            switch(&["leak"], To::Flag("--leak")),
            switch(&["multiprocess"], To::Flag("--multi-process")),
            switch(&["inherit"], To::Flag("--inherited")),
            switch(&["overlapped"], To::Flag("--overlapped")),
            switch(&["type"], To::Value("--type")),
            switch(&["object"], To::Value("--object")),
            switch(&["objectname"], To::Value("--name")),
            switch(&["handle"], To::Value("--handle")),
            switch(&["minmaxduration"], To::Range("--min-duration", "--max-duration", "s")),
            switch(&["map"], To::Word("--map", &[("0", "no"), ("1", "only")])),
            switch(&["ptrinmap"], To::Value("--address-in-map")),
            switch(&["viewbase"], To::Value("--view-base")),
            switch(&["minmaxmapsize"], To::Range("--min-map-size", "--max-map-size", "")),
            switch(&["pn", "processname"], To::Value("--creator")),
            switch(&["relatedprocess"], To::Value("--process")),
            switch(&["showref"], To::Flag("--references")),
            switch(&["createstack"], To::Value("--create-stack")),
            switch(&["destroystack"], To::Value("--destroy-stack")),
            switch(&["stackfilter"], To::Value("--stack")),
            switch(&["minmaxtime"], To::Range("--min-time", "--max-time", "s")),
            switch(&["minmaxid"], To::Range("--min-id", "--max-id", "")),
            switch(&["showstack"], To::Flag("--details")),
        ],
    });

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let map_size = Between { min: self.min_map_size, max: self.max_map_size };
        let is_of_views = map_size != Between::default() || self.address_in_map.is_some() || !self.view_base.is_empty();
        let map = self.map.map_or(is_of_views, |map| map == Views::Only);
        self.check(map)?;
        Ok(Plan::from(Question {
            filter: self.filter.clone(),
            creator: self.creator.clone(),
            time: TimeRange::default(),
            map,
            leak: self.leak,
            with_exited: self.include_exited,
            multi_process: self.multi_process,
            inherited: self.inherited,
            overlapped: self.overlapped,
            types: self.types.clone(),
            objects: self.objects.clone(),
            names: self.names.clone(),
            handles: self.handles.clone(),
            duration: Between { min: self.min_duration, max: self.max_duration },
            begin: Between { min: self.min_time, max: self.max_time },
            number: Between { min: self.min_id, max: self.max_id },
            stack: MethodPatterns::parse(&self.stack, false),
            create_stack: MethodPatterns::parse(&self.create_stack, false),
            destroy_stack: MethodPatterns::parse(&self.destroy_stack, false),
            references: self.references,
            history: self.history,
            mapped: self.map == Some(Views::Objects),
            map_size,
            address: self.address_in_map,
            bases: self.view_base.clone(),
            sort: self.sort,
            top: self.top,
            shown: Shown::default(),
        }))
    }
}

impl Options {
    /// Refuses options that mean nothing for these rows.
    fn check(&self, map: bool) -> Result<(), UsageError> {
        let of_objects = [
            (self.multi_process, "--multi-process"),
            (self.inherited, "--inherited"),
            (self.overlapped, "--overlapped"),
            (!self.types.is_empty(), "--type"),
            (!self.handles.is_empty(), "--handle"),
            (self.min_id.is_some(), "--min-id"),
            (self.max_id.is_some(), "--max-id"),
            (self.references, "--references"),
            (self.history, "--history"),
        ];
        if let Some((_, option)) = of_objects.into_iter().find(|(is_given, _)| map && *is_given) {
            let message = format!("{option} is about objects, and the rows are mapped views");
            return Err(UsageError::new(message, "leave out --map and the other options of views"));
        }
        let is_wrong = |sort: Sort| match sort {
            Sort::Handles | Sort::Open | Sort::Processes | Sort::References => map,
            Sort::Size => !map,
            Sort::Duration | Sort::Created | Sort::Destroyed => false,
        };
        match self.sort.filter(|sort| is_wrong(*sort)).and_then(|sort| sort.to_possible_value()) {
            None => Ok(()),
            Some(key) => {
                let what = if map { "mapped views" } else { "objects" };
                let message = format!("{what} have no order by {}", key.get_name());
                Err(UsageError::new(message, "--sort duration, created and destroyed are for both"))
            }
        }
    }
}
