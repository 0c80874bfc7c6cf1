//! The options of `dump timeline`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tracesift_grammar::{Patterns, TimeRange, milliseconds};

use super::{Buckets, COLUMNS, LaneKind, Measure, Question, Sort, USUAL_BUCKETS, Way};
use crate::ask::{When, WhenOptions};
use crate::filter::ProcessFilter;
use crate::method_patterns::MethodPatterns;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::tag_files;
use crate::usage_error::UsageError;

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
    /// What has a row
    #[arg(long, value_name = "WHAT", default_value = "process")]
    lane: LaneKind,
    /// What is shown of it [default: cpu, or run without samples; of other rows bytes, operations, count or time]
    #[arg(long, value_name = "FIGURE", hide_default_value = true)]
    measure: Option<Measure>,
    /// With --measure counter: only these counters
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    counter: Patterns,
    /// With --lane method or --lane module: only these methods, or modules with such methods
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    methods: String,
    /// With --lane tag: take stack tags from this file; may be given several times; `builtin`: the built-in rules
    #[arg(long, value_name = "FILE")]
    tag_file: Vec<PathBuf>,
    /// Number of buckets, from the start of the time range to its end
    #[arg(
        long,
        value_name = "N",
        default_value_t = USUAL_BUCKETS,
        value_parser = clap::value_parser!(u16).range(1..=8192),
        conflicts_with = "bucket"
    )]
    buckets: u16,
    /// Length of a bucket (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    bucket: Option<i64>,
    /// Draw the buckets of each row
    #[arg(long)]
    spark: bool,
    /// Order of the rows; the largest stands last [default: total; lane for CPUs and disks]
    #[arg(long, value_name = "KEY", hide_default_value = true)]
    sort: Option<Sort>,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[Form::usual("timeline", || COLUMNS.descriptions())];
    const SHORT: &'static [&'static str] =
        &["process", "time", "lane", "measure", "buckets", "bucket", "spark", "top", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump timeline X.sift --spark --top 20", "when which process used the CPU"),
        ("tracesift dump timeline X.sift --lane cpu --spark", "how busy each CPU was"),
        ("tracesift dump timeline X.sift -p App --lane thread --measure wait", "when threads waited"),
        ("tracesift dump timeline X.sift --lane tag --spark", "what kind of code ran when"),
        ("tracesift dump timeline X.sift --lane module --methods 'ntfs.sys!*'", "when code of a module ran"),
        ("tracesift dump timeline X.sift --lane disk --buckets 200 --format csv", "for a picture"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--lane=thread", "--measure=wait"],
        &["--lane=thread", "--measure=run", "--bucket=10ms"],
        &["--lane=cpu"],
        &["--lane=disk"],
        &["--lane=disk", "--measure=busy"],
        &["--lane=event", "--spark"],
        &["--lane=file"],
        &["--lane=file", "--measure=time"],
        &["--lane=syscall"],
        &["--lane=network"],
        &["--lane=memory"],
        &["--lane=fault"],
        &["--lane=gc"],
        &["--lane=jit", "--measure=count"],
        &["--lane=region"],
        &["--lane=region", "--measure=count"],
        &["--measure=operations"],
        &["--measure=switches", "--buckets=1"],
        &["--lane=tag", "--spark"],
        &["--lane=method", "--top=5"],
        &["--lane=module", "--measure=samples"],
        &["--lane=cpu", "--measure=frequency"],
        &["--measure=counter"],
    ];

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        if let Some(measure) = self.measure.filter(|measure| !measure.is_of(self.lane)) {
            let of_lane = Measure::value_variants().iter().filter(|measure| measure.is_of(self.lane));
            let words: Vec<&str> = of_lane.map(|measure| measure.word()).collect();
            let message = format!("rows of this kind have no measure `{}`", measure.word());
            return Err(UsageError::new(message, format!("choose one of {}", words.join(", "))));
        }
        if self.lane == LaneKind::Memory && !self.filter.is_empty() {
            return Err(UsageError::new(
                "the memory of the machine is of no process",
                "leave out the filters of processes",
            ));
        }
        if !self.tag_file.is_empty() && self.lane != LaneKind::Tag {
            return Err(UsageError::new("--tag-file is of rows of stack tags", "add --lane tag"));
        }
        let methods = MethodPatterns::parse(&self.methods, false);
        if !methods.is_empty() && !matches!(self.lane, LaneKind::Method | LaneKind::Module) {
            let advice = "add --lane method or --lane module";
            return Err(UsageError::new("--methods is of rows of methods and modules", advice));
        }
        if !self.counter.is_empty() && self.measure != Some(Measure::Counter) {
            return Err(UsageError::new("--counter is of hardware counters", "add --measure counter"));
        }
        let tags = (self.lane == LaneKind::Tag).then(|| tag_files::load(&self.tag_file, false, warn)).transpose()?;
        Ok(Plan::from(Question {
            filter: self.filter.clone(),
            time: TimeRange::default(),
            origin: 0,
            lane: self.lane,
            measure: self.measure,
            counter: self.counter.clone(),
            methods,
            tags,
            buckets: self.bucket.map_or(Buckets::Number(self.buckets), Buckets::Length),
            sort: self.sort,
            top: self.top,
            spark: self.spark,
            way: Way::default(),
        }))
    }
}
