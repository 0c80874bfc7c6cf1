//! The options of `dump events`.

use clap::{Args, ValueEnum};
use tracesift_grammar::{Patterns, TimeRange};

use super::dimension::By;
use super::sums::Figure;
use super::{Question, answer};
use crate::ask::{SeriesOptions, When, WhenOptions};
use crate::events::{EventFilter, FieldFilter, FieldPath, IdRanges};
use crate::filter::ProcessFilter;
use crate::inside_options::InsideOptions;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::usage_error::UsageError;

/// By what events are grouped where nobody says.
const USUAL: &str = "provider,event,id";
/// Parts of a group, and fields with figures: more columns nobody looks at.
const MOST: usize = 16;

/// Order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By number of events
    Count,
    /// By the names in front
    Name,
    /// By the first event
    Time,
    /// By the sum of the numbers
    Sum,
    /// By the smallest number
    Min,
    /// By the largest number
    Max,
    /// By the mean
    Mean,
    /// By the median
    P50,
    /// By the percentile 95
    P95,
    /// By the percentile 99
    P99,
    /// By the number of distinct texts
    Distinct,
}

impl Sort {
    /// The key of its column.
    pub(super) fn key(self) -> Option<&'static str> {
        Some(match self {
            Self::Count => "count",
            Self::Name => return None,
            Self::Time => "first_ns",
            other => other.figure()?.key(),
        })
    }

    /// The figure of a field that it looks at.
    pub(super) fn figure(self) -> Option<Figure> {
        Some(match self {
            Self::Count | Self::Name | Self::Time => return None,
            Self::Sum => Figure::Sum,
            Self::Min => Figure::Min,
            Self::Max => Figure::Max,
            Self::Mean => Figure::Mean,
            Self::P50 => Figure::P50,
            Self::P95 => Figure::P95,
            Self::P99 => Figure::P99,
            Self::Distinct => Figure::Distinct,
        })
    }
}

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    processes: ProcessFilter,
    #[command(flatten)]
    when: WhenOptions,
    #[command(flatten)]
    inside: InsideOptions,
    #[command(flatten)]
    series: SeriesOptions,
    #[command(flatten)]
    top: Top,

    /// Only these providers, by name or GUID; `;` separates, `!` excludes, `*` and `?` are wildcards
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, help_heading = "Events")]
    provider: Patterns,

    /// Only events of these classes: what stands before the slash in their names, such as Process, TcpIp, GC
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, help_heading = "Events")]
    class: Patterns,

    /// Only events with these names: 'GC/Start', '*/Stop'
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, help_heading = "Events")]
    name: Patterns,

    /// Only events with these ids, of kernel events opcodes: 3006,3008 or 1..9
    #[arg(long, value_name = "IDS", help_heading = "Events")]
    id: Option<IdRanges>,

    /// Only events of these threads
    #[arg(long, value_name = "IDS", help_heading = "Events")]
    tid: Option<IdRanges>,

    /// Only events whose fields say so: 'Size > 4096 and not Name ~ *.log'; several must all hold
    #[arg(long = "where", value_name = "CONDITION", help_heading = "Events")]
    conditions: Vec<FieldFilter>,

    /// Figures of these fields: sum, mean, percentiles of numbers, distinct texts
    ///
    /// A path names a member or an element: Connection.Port, Values[0].TypeName
    #[arg(long, value_name = "FIELDS", default_value = "", hide_default_value = true)]
    sum: String,

    /// A row for each: process, thread, provider, event, class, id, stack …, or a field such as Size
    ///
    /// All: process, thread, provider, event, class, id, version, opcode, level, cpu, activity, stack, or a field. `field:process` is the
    /// field process
    #[arg(long, value_name = "LIST", default_value = USUAL)]
    by: String,

    /// A cell in the row for each value of this, which may be all that --by takes
    #[arg(long, value_name = "WHAT")]
    pivot: Option<String>,

    /// The figure in a cell of --pivot [default: the sum of the field of --sum, else the number of events]
    #[arg(long, value_name = "FIGURE", requires = "pivot")]
    figure: Option<Figure>,

    /// Order of the rows; the largest stands last [default: sum with --sum, else count]
    #[arg(long, value_name = "KEY")]
    sort: Option<Sort>,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form::usual("events", || answer::columns(&usual(), &[], false)),
        Form {
            with: &[&["--sum=Size"]],
            title: "With `--sum FIELD`:\n\n",
            ..Form::usual("events", || answer::columns(&usual(), &[FieldPath::new("Size")], false))
        },
        Form {
            with: &[&["--pivot=event"]],
            title: "With `--pivot`:\n\n",
            ..Form::usual("events", || {
                answer::columns(&By::parse_list("provider,id").unwrap_or_default(), &[FieldPath::new("Size")], true)
            })
        },
    ];
    const SHORT: &'static [&'static str] =
        &["process", "time", "bucket", "top", "provider", "name", "conditions", "sum", "by", "pivot", "sort"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump events X.sift", "which events there are, and how many"),
        ("tracesift dump events X.sift --sum Size --by process", "a field, per process"),
        ("tracesift dump events X.sift --name '*/Stop' --where 'Status != 0'", "by a field"),
        ("tracesift dump events X.sift --by process --pivot event", "a cell for each event"),
        ("tracesift dump events X.sift --sum Size --by event --bucket 1s", "a series"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--by=process,thread,stack,activity,class,version,opcode,level,cpu", "--sort=name"],
        &["--sum=a,b[0].c", "--by=d,field:process", "--sort=p99"],
        &["--where=a > 1 and not b ~ c*", "--by=process", "--sort=time"],
        &["--pivot=a", "--sum=b", "--figure=mean", "--by=event"],
    ];

    fn when(&self) -> When {
        When { bucket: self.series.bucket, ..self.when.when() }
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let sums: Vec<FieldPath> =
            self.sum.split([',', ';']).map(str::trim).filter(|name| !name.is_empty()).map(FieldPath::new).collect();
        let pivot = self.pivot.as_deref().map(By::parse).transpose()?;
        let mut by = By::parse_list(&self.by)?;
        // What stands in the cells does not stand in front of them, too.
        by.retain(|by| Some(by) != pivot.as_ref());
        if by.len() > MOST || sums.len() > MOST {
            return Err(UsageError::new(format!("--by and --sum take up to {MOST} names"), "ask twice"));
        }
        let figure = self.figure.unwrap_or(if sums.is_empty() { Figure::Count } else { Figure::Sum });
        let sorts_by_figure = self.sort.is_some_and(|sort| sort.figure().is_some());
        if sums.is_empty() && (sorts_by_figure || figure != Figure::Count) {
            return Err(UsageError::new(
                "this figure is of a field, and no field is named",
                "name one with --sum, as in --sum Size --sort max",
            ));
        }
        if pivot.is_some() && sorts_by_figure {
            return Err(UsageError::new(
                "rows of --pivot have their figures in cells, by which they cannot be sorted",
                "--sort takes count, name or time with --pivot",
            ));
        }
        let filter = EventFilter {
            provider: self.provider.clone(),
            class: self.class.clone(),
            name: self.name.clone(),
            ids: self.id.clone().unwrap_or_default(),
            processes: self.processes.clone(),
            threads: self.tid.clone().unwrap_or_default(),
            ..EventFilter::default()
        };
        let (fields, time, inside) = (self.conditions.clone(), TimeRange::default(), self.inside.inside()?);
        let (sort, top) = (self.sort, self.top);
        Ok(Plan::from(Question { filter, fields, time, inside, by, sums, pivot, figure, sort, top }))
    }
}

fn usual() -> Vec<By> {
    By::parse_list(USUAL).unwrap_or_default()
}
