//! The options of `dump regions`.

use std::path::PathBuf;

use clap::Args;
use tracesift_grammar::{Patterns, milliseconds};

use super::{By, COLUMNS, LIST, Pair, Question, Show, Sort};
use crate::ask::When;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Between;
use crate::regions::source;
use crate::usage_error::UsageError;
use crate::usual_options::UsualOptions;

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    usual: UsualOptions,
    /// Regions of this file, as Windows Performance Analyzer reads it; several add up, `builtin` stands for our own
    #[arg(long, value_name = "FILE")]
    region_file: Vec<PathBuf>,
    /// Regions from one event to another one, each a PROVIDER/EVENT: 'Shop/Order/Start;Shop/Order/Stop', 'Shop/1;Shop/2'
    #[arg(long, value_name = "START;STOP")]
    pair: Vec<Pair>,
    /// What both events of --pair have in common: thread, process, activity, or a field; several are separated by `,`
    #[arg(
        id = "match",
        long = "match",
        value_name = "WHAT",
        value_delimiter = ',',
        default_value = "thread",
        requires = "pair"
    )]
    matching: Vec<String>,
    /// Only regions whose definition has such a name, or path: 'GC/*'
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    region: String,
    /// Only regions with such a name
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    name: String,
    /// Only regions that took so long (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_duration: Option<i64>,
    /// Only regions that did not take longer
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_duration: Option<i64>,
    /// Add up: a row per value of this, or, separated by `,`, of several [default: process,region]
    #[arg(long, value_name = "WHAT", value_delimiter = ',', conflicts_with_all = ["list", "tree"])]
    by: Vec<By>,
    /// Single regions, without adding up
    #[arg(long, conflicts_with_all = ["bucket", "tree"])]
    list: bool,
    /// Regions below the regions that they lie in; --top is of each of these
    #[arg(long, conflicts_with = "bucket")]
    tree: bool,
    /// Order of the rows; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "sum")]
    sort: Sort,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form::usual("regions", || COLUMNS.descriptions()),
        Form {
            with: &[&["--list"]],
            title: "With `--list` a row is a single region:\n\n",
            ..Form::usual("regions", || LIST.descriptions())
        },
    ];
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "region_file", "pair", "match", "region", "by", "list", "tree", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump regions X.sift", "collections, compilations, requests …"),
        ("tracesift dump regions X.sift --region-file My.xml --tree", "regions in each other, of a file"),
        ("tracesift dump regions X.sift --pair 'Shop/Buy/Start;Shop/Buy/Stop'", "what lies between two events"),
        ("tracesift dump regions X.sift --region 'JIT/*' --by name --top 20", "which namespaces took longest"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--tree"],
        &["--by=name,thread"],
        &["--pair=*/a*;*/b*", "--match=process,Id"],
        &["--region=GC*", "--name=*a*", "--min-duration=1"],
    ];

    fn when(&self) -> When {
        self.usual.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let show = match (self.list, self.tree) {
            (true, _) => Show::List,
            (_, true) => Show::Tree,
            _ => Show::Groups,
        };
        if show != Show::List && self.sort == Sort::Start {
            return Err(UsageError::new("--sort start is of single regions", "add --list"));
        }
        if show == Show::List && matches!(self.sort, Sort::Count | Sort::Union) {
            return Err(UsageError::new(
                "a list of single regions has no counts and unions",
                "sort by sum, longest, exclusive, start or name",
            ));
        }
        let usual = Question::new(source::load(&self.region_file, &self.pair, &self.matching)?);
        let mut by = self.by.clone();
        by.sort_unstable();
        by.dedup();
        Ok(Plan::from(Question {
            filter: self.usual.filter.clone(),
            top: self.usual.top,
            region: Patterns::parse(&self.region),
            name: Patterns::parse(&self.name),
            duration: Between { min: self.min_duration, max: self.max_duration },
            by: if by.is_empty() { usual.by.clone() } else { by },
            show,
            sort: self.sort,
            ..usual
        }))
    }
}
