//! The list of rules, read from its file.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use tracesift_grammar::{Pattern, TimeUnit, parse_time};

use super::limit::Limit;
use crate::asked::Fold;

/// The list that the program has. Its head describes the format.
pub const BUILT_IN: &str = include_str!("rules.txt");

/// A test reads the list, so there is no error.
static LIST: LazyLock<RuleList> = LazyLock::new(|| RuleList::read(BUILT_IN).expect("a test reads the built-in list"));

/// A list of rules.
#[derive(Clone, Debug)]
pub struct RuleList {
    /// Its version: answers of different versions cannot be compared.
    pub version: u32,
    pub(crate) rules: Vec<Rule>,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub(crate) struct RuleError {
    /// Its number, from 1.
    pub(crate) line: usize,
    /// What is wrong there.
    pub(crate) problem: String,
}

/// Whose figures a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Of the processes of the test.
    Test,
    /// Of all processes.
    Machine,
    /// Of the test where one is known, else of all processes.
    Any,
}

/// An operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    /// Windows.
    Windows,
    /// Linux.
    Linux,
}

/// One rule.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// The name of its findings.
    pub(crate) name: String,
    /// Whose figures it looks at.
    pub(crate) scope: Scope,
    /// The only system whose recordings can have it.
    pub(crate) system: Option<System>,
    /// What must hold; the first one is what the finding is about.
    pub(crate) conditions: Vec<Condition>,
    /// The time that the finding explains, where the first figure is none.
    pub(crate) time: Option<Fold>,
    /// The sentence with its gaps.
    pub(crate) says: String,
    /// The words of the command with their gaps.
    pub(crate) evidence: Vec<String>,
}

/// A figure with its threshold.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// The figure.
    pub(crate) look: Look,
    /// What it must reach.
    pub(crate) limit: Limit,
}

/// Where a figure comes from, and which one it is.
#[derive(Clone, Debug)]
pub(crate) enum Look {
    /// The time of the rows of the account that fit one of these.
    Account(Vec<RowFit>),
    /// What the recording tells of itself.
    Recording(Own),
    /// A column of the answer of a command.
    Asked {
        /// The words of the command with their gaps.
        words: Vec<String>,
        /// The column.
        fold: Fold,
    },
}

/// A figure that a recording tells of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    /// Events and buffers that the recorder says it lost.
    Lost,
    /// Share of the sampled stacks that end early.
    EarlyStacks,
}

/// What a row of an account must have; what is empty does not matter.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowFit {
    /// Whether its thread is one of the test.
    pub(crate) is_of_test: bool,
    /// The state.
    pub(crate) state: Option<String>,
    /// The kind of disturbance; `none`: it is none.
    pub(crate) disturbance: Option<String>,
    /// Its tag, or one above it.
    pub(crate) tag: Option<Pattern>,
    /// The tag of the wait that it is for, or one above it.
    pub(crate) for_tag: Option<Pattern>,
    /// What ended a wait.
    pub(crate) ended_by: Option<String>,
    /// The mean length of its stretches of time, ns.
    pub(crate) mean: Option<RangeInclusive<i64>>,
}

impl RuleList {
    /// The list that the program has.
    #[must_use]
    pub fn built_in() -> &'static Self {
        &LIST
    }

    /// Reads a list.
    pub(crate) fn read(text: &str) -> Result<Self, RuleError> {
        let mut version = None;
        let mut blocks: Vec<Block> = Vec::new();
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.trim();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let (key, value) = content.split_once(char::is_whitespace).unwrap_or((content, ""));
            let value = value.trim();
            let wrong = |problem: String| RuleError { line, problem };
            if version.is_none() {
                let number = value.parse().ok().filter(|number| key == "version" && *number > 0);
                let number =
                    number.ok_or_else(|| wrong("the list begins with `version` and a number above 0".into()))?;
                version = Some(number);
            } else if key == "rule" {
                if blocks.iter().any(|block| block.name == value) {
                    return Err(wrong(format!("the rule `{value}` is in the list already")));
                }
                blocks.push(Block { name: value.to_owned(), line, lines: Vec::new() });
            } else {
                let block = blocks.last_mut().ok_or_else(|| wrong(format!("`{key}` stands before the first rule")))?;
                block.lines.push((line, key.to_owned(), value.to_owned()));
            }
        }
        let version = version.ok_or_else(|| RuleError { line: 1, problem: "the list has no `version`".into() })?;
        let rules = blocks.into_iter().map(Block::rule).collect::<Result<Vec<Rule>, RuleError>>()?;
        Ok(Self { version, rules })
    }
}

/// The lines of a rule.
struct Block {
    name: String,
    line: usize,
    lines: Vec<(usize, String, String)>,
}

/// A condition whose lines are not all read.
#[derive(Default)]
struct Draft {
    look: String,
    figures: Vec<String>,
    limit: Option<Limit>,
}

impl Block {
    fn rule(self) -> Result<Rule, RuleError> {
        let mut rule = Rule {
            name: self.name,
            scope: Scope::Test,
            system: None,
            conditions: Vec::new(),
            time: None,
            says: String::new(),
            evidence: Vec::new(),
        };
        let mut drafts: Vec<Draft> = Vec::new();
        let mut has_scope = false;
        for (line, key, value) in self.lines {
            let wrong = |problem: String| RuleError { line, problem };
            let draft = |drafts: &mut Vec<Draft>| drafts.pop().ok_or_else(|| wrong(format!("`{key}` needs a `look`")));
            match key.as_str() {
                "of" => (rule.scope, has_scope) = (scope(&value).map_err(wrong)?, true),
                "system" => rule.system = Some(system(&value).map_err(wrong)?),
                "look" => drafts.push(Draft { look: value, ..Draft::default() }),
                "figure" => {
                    let mut of = draft(&mut drafts)?;
                    of.figures.push(value);
                    drafts.push(of);
                }
                "at-least" | "at-most" => {
                    let limit = Limit::read(key == "at-least", &value).map_err(wrong)?;
                    let of = draft(&mut drafts)?;
                    drafts.push(Draft { limit: Some(limit), ..of });
                }
                "time" => rule.time = Some(Fold::read(&value).map_err(wrong)?),
                "says" => rule.says = value,
                "evidence" => rule.evidence = value.split_whitespace().map(str::to_owned).collect(),
                other => return Err(wrong(format!("`{other}` is no key of a rule"))),
            }
        }
        let wrong =
            |problem: String| RuleError { line: self.line, problem: format!("rule `{}`: {problem}", rule.name) };
        if !has_scope || drafts.is_empty() || rule.says.is_empty() || rule.evidence.is_empty() {
            return Err(wrong("it needs `of`, `look`, `says` and `evidence`".into()));
        }
        let conditions = drafts.into_iter().map(Draft::condition).collect::<Result<_, String>>().map_err(wrong)?;
        Ok(Rule { conditions, ..rule })
    }
}

impl Draft {
    fn condition(self) -> Result<Condition, String> {
        let one = || match self.figures.as_slice() {
            [figure] => Ok(figure.as_str()),
            _ => Err(format!("`{}` needs one `figure`", self.look)),
        };
        let look = match self.look.as_str() {
            "account" if self.figures.is_empty() => return Err("`account` needs a `figure`".to_owned()),
            "account" => Look::Account(self.figures.iter().map(|text| RowFit::read(text)).collect::<Result<_, _>>()?),
            "recording" => Look::Recording(match one()? {
                "lost" => Own::Lost,
                "early-stacks" => Own::EarlyStacks,
                other => return Err(format!("`{other}` is no figure of a recording")),
            }),
            command if command.starts_with("dump ") => Look::Asked {
                words: command.split_whitespace().map(str::to_owned).collect(),
                fold: Fold::read(one()?)?,
            },
            other => return Err(format!("`{other}` is none of `account`, `recording` and `dump …`")),
        };
        let limit = self.limit.ok_or_else(|| format!("`{}` needs `at-least` or `at-most`", self.look))?;
        Ok(Condition { look, limit })
    }
}

impl RowFit {
    fn read(text: &str) -> Result<Self, String> {
        let mut fit = Self::default();
        for word in text.split_whitespace() {
            let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not KEY=PATTERN"))?;
            match key {
                "of" if value == "test" => fit.is_of_test = true,
                "of" => return Err(format!("`of={value}` is not `of=test`")),
                "state" => fit.state = Some(value.to_owned()),
                "disturbance" => fit.disturbance = Some(value.to_owned()),
                "tag" => fit.tag = Some(Pattern::new(value)),
                "for-tag" => fit.for_tag = Some(Pattern::new(value)),
                "ended-by" => fit.ended_by = Some(value.to_owned()),
                "mean" => fit.mean = Some(lengths(value)?),
                other => return Err(format!("`{other}` is nothing that a row of an account has")),
            }
        }
        Ok(fit)
    }
}

/// Two lengths of time, the ends included.
fn lengths(text: &str) -> Result<RangeInclusive<i64>, String> {
    let time = |text: &str| parse_time(text, TimeUnit::Milliseconds).map_err(|error| error.to_string());
    let (from, to) = text.split_once("..").ok_or_else(|| format!("`{text}` is not A..B"))?;
    Ok(time(from)?..=time(to)?)
}

fn scope(text: &str) -> Result<Scope, String> {
    match text {
        "test" => Ok(Scope::Test),
        "machine" => Ok(Scope::Machine),
        "any" => Ok(Scope::Any),
        other => Err(format!("`{other}` is none of `test`, `machine` and `any`")),
    }
}

fn system(text: &str) -> Result<System, String> {
    match text {
        "windows" => Ok(System::Windows),
        "linux" => Ok(System::Linux),
        other => Err(format!("`{other}` is none of `windows` and `linux`")),
    }
}

#[cfg(test)]
mod tests;
