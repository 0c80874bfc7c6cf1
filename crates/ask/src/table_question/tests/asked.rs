//! Random questions about the rows of a table.

use tracesift_grammar::TimeRange;

use super::plain::Plain;
use super::random::Random;
use crate::answer::Value;
use crate::filter::{ProcessFilter, ProcessPatterns};
use crate::order::Between;
use crate::table_question::{BY_NAME, Question, TableQuestion};

/// A question, and the same in words that a plain reading understands.
#[derive(Debug)]
pub(super) struct Asked<Q: TableQuestion> {
    pub(super) question: Question<Q>,
    /// The word of `--sort`.
    pub(super) sort: &'static str,
    /// Dimensions with patterns of their texts.
    pub(super) patterns: Vec<(usize, String)>,
    /// Places of limits.
    pub(super) limits: Vec<(usize, Between)>,
    /// Places of measures.
    pub(super) group_limits: Vec<(usize, Between)>,
    /// Places of conditions.
    pub(super) conditions: Vec<usize>,
}

impl<Q: TableQuestion> Asked<Q> {
    pub(super) fn random(random: &mut Random, plain: &Plain<'_, Q>) -> Self {
        let dimensions: Vec<&'static str> = Question::<Q>::dimensions().collect();
        let mut by: Vec<&'static str> = dimensions.iter().copied().filter(|_| random.once_in(3)).collect();
        if by.is_empty() {
            by = Q::BY.to_vec();
        }
        let words: Vec<&'static str> = Question::<Q>::orders().flatten().copied().collect();
        let sort = if random.once_in(4) { BY_NAME } else { random.one_of(&words) };
        let mut question = Question::<Q>::default();
        let range = random.range();
        question.time = if Q::ONLY_WHOLE { TimeRange::default() } else { range };
        if random.once_in(3) {
            let process = ProcessPatterns::parse(["a", "!a", "103", "a;Idle"][random.below(4)]);
            question.filter = ProcessFilter { process, ..ProcessFilter::default() };
        }
        question = question.by(&by).and_then(|question| question.sorted_by_word(sort)).expect("names of the question");
        let mut patterns = Vec::new();
        for (place, dimension) in Q::DIMENSIONS.iter().enumerate() {
            let Some(filter) = dimension.is.filter.filter(|_| random.once_in(4)) else { continue };
            let text = plain.some_text(place, random);
            // A function of a stack stands for the stack.
            let text = text.lines().next().unwrap_or_default().to_owned();
            let list = match random.below(4) {
                0 => text,
                1 => format!("!{text}"),
                2 => format!("{}*", text.chars().next().unwrap_or('x')),
                _ => "*".to_owned(),
            };
            question = question.matching(filter.option, &list).expect("an option of the question");
            patterns.push((place, list));
        }
        let mut limits = Vec::new();
        for (place, limit) in Q::LIMITS.iter().enumerate() {
            if !random.once_in(4) {
                continue;
            }
            let between = Between { min: Some(random.number(0, 100)), max: random.once_in(2).then_some(200) };
            question = question.between(limit.is.options[0], between).expect("an option of the question");
            limits.push((place, between));
        }
        let mut group_limits = Vec::new();
        for (place, measure) in Q::MEASURES.iter().enumerate() {
            let Some(limits) = measure.is.limits.filter(|_| random.once_in(4)) else { continue };
            let between = Between { min: Some(random.number(0, 100)), max: random.once_in(2).then_some(200) };
            question = question.groups_between(limits.options[0], between).expect("an option of the question");
            group_limits.push((place, between));
        }
        let mut conditions = Vec::new();
        for (place, condition) in Q::CONDITIONS.iter().enumerate() {
            if random.once_in(4) {
                question = question.on_condition(condition.option).expect("an option of the question");
                conditions.push(place);
            }
        }
        question.include_exited = Q::EXITED.is_some() && random.once_in(3);
        Self { question, sort, patterns, limits, group_limits, conditions }
    }

    /// Whether the limits of groups let a group with these measures pass.
    pub(super) fn lets_group_pass(&self, value: impl Fn(usize) -> Value) -> bool {
        let figure = |measure| if let Value::Int(figure) = value(measure) { Some(figure) } else { None };
        self.group_limits.iter().all(|(place, between)| between.contains(figure(*place)))
    }
}
