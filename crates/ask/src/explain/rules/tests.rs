//! The built-in list, and lists that are wrong.

use tracesift_analysis::disturbances::Disturbances;
use tracesift_analysis::tags::{Nesting, TagSet};
use tracesift_grammar::Pattern;

use super::{BUILT_IN, Look, Rule, RuleList, Scope};
use crate::asked::{Fold, How};
use crate::explain::limit::{Limit, Reference};
use crate::options::Plan;
use crate::question;

/// The words of a command, with a value in each gap.
fn filled(words: &[String]) -> Vec<String> {
    let of = |word: &String| match word.as_str() {
        "{file}" => vec![],
        "{process}" => vec!["-p".to_owned(), "7;12".to_owned()],
        "{window}" => vec!["--time=1s..2.5s".to_owned()],
        "{account}" => vec!["--window=process:app".to_owned()],
        _ => vec![word.clone()],
    };
    words.iter().flat_map(of).collect()
}

/// The columns of the answer of a command.
fn columns(words: &[String], rule: &Rule) -> Vec<&'static str> {
    let words = filled(words);
    let command = words[..2].join(" ");
    let known = question::DUMP.iter().find(|known| known.command == command);
    let known = known.unwrap_or_else(|| panic!("{}: {command} is no question", rule.name));
    let options: Vec<&str> = words[2..].iter().map(String::as_str).collect();
    let (when, plan) = known.plan(&options).unwrap_or_else(|error| panic!("{}: {words:?}: {error:?}", rule.name));
    match plan {
        Plan::Archives(asking) => when.columns(&*asking.question).iter().map(|column| column.key).collect(),
        // Of its own pages: `dump stats`.
        _ => Vec::new(),
    }
}

#[test]
fn every_command_of_the_built_in_list_can_be_asked_and_has_its_columns() {
    let list = RuleList::read(BUILT_IN).expect("the built-in list is sound");
    assert!(list.version > 0 && list.rules.len() > 10);
    for rule in &list.rules {
        columns(&rule.evidence, rule);
        for condition in &rule.conditions {
            let Look::Asked { words, fold } = &condition.look else { continue };
            let known = columns(words, rule);
            let has = |key: &str| assert!(known.contains(&key), "{}: {words:?} has no column {key}", rule.name);
            let has_fold = |Fold { how, key, kept }: &Fold| {
                // What stands above the rows, a recording tells.
                if *how != How::Head {
                    has(key);
                }
                kept.iter().for_each(|(key, _)| has(key));
            };
            has_fold(fold);
            if let Some(Reference::Column(key)) = &condition.limit.of {
                has(key);
            }
        }
        let of_column = rule.time.as_ref().filter(|time| time.how != How::Head);
        if let (Some(time), Look::Asked { words, .. }) = (of_column, &rule.conditions[0].look) {
            assert!(columns(words, rule).contains(&time.key.as_str()), "{}: {}", rule.name, time.key);
        }
    }
}

#[test]
fn rows_of_accounts_are_described_by_words_that_there_are() {
    let set = TagSet::built_in(Nesting::Names).expect("the built-in rules are sound");
    let is_tag =
        |pattern: &Pattern| set.tags().any(|tag| pattern.matches(set.name(tag))) || pattern.matches("the test itself");
    let kinds: Vec<String> = Disturbances::standard().kinds().iter().map(ToString::to_string).collect();
    for rule in &RuleList::built_in().rules {
        let fits = rule.conditions.iter().filter_map(|condition| match &condition.look {
            Look::Account(fits) => Some(fits),
            _ => None,
        });
        for fit in fits.flatten() {
            let is_among =
                |text: &Option<String>, words: &[&str]| text.as_deref().is_none_or(|text| words.contains(&text));
            assert!(is_among(&fit.state, &["run", "ready", "wait", "unknown"]), "{}", rule.name);
            assert!(is_among(&fit.ended_by, &["timer", "disk", "network", "interrupt"]), "{}", rule.name);
            let kind = fit.disturbance.as_ref();
            assert!(kind.is_none_or(|kind| kind == "none" || kinds.contains(kind)), "{}", rule.name);
            assert!(fit.tag.iter().chain(&fit.for_tag).all(is_tag), "{}: no such tag", rule.name);
        }
    }
}

#[test]
fn sentences_name_figures_that_there_are() {
    for rule in &RuleList::built_in().rules {
        let mut rest = rule.says.clone();
        for (number, condition) in (1..).zip(&rule.conditions) {
            rest = rest.replace(&format!("{{{number}}}"), "");
            if condition.limit.of.is_some() {
                rest = rest.replace(&format!("{{{number}%}}"), "");
            }
        }
        if rule.time.is_some() {
            rest = rest.replace("{time}", "");
        }
        // Of the other rules it is known whose figures they have.
        if rule.scope == Scope::Any {
            rest = rest.replace("{whose}", "");
        }
        assert!(!rest.contains('{'), "{}: {rest}", rule.name);
        assert!(rest.ends_with('.'), "{}", rule.name);
        assert!(rule.evidence.iter().any(|word| word == "{file}"), "{}", rule.name);
    }
}

#[test]
fn thresholds_are_read_and_shown() {
    for (text, is_least, shown, reached, missed) in [
        ("2 % of window", true, "at least 2 % of the window", 2.0, 1.999),
        ("100 % of cpus", true, "at least 100 % of the time of all CPUs", 100.0, 99.9),
        ("34 % of cpu_ns", true, "at least 34 % of cpu_ns", 34.0, 33.9),
        ("75", false, "at most 75", 75.0, 75.1),
        ("1.5 ms", true, "at least 1.5 ms", 1_500_000.0, 1_499_999.0),
    ] {
        let limit = Limit::read(is_least, text).expect(text);
        assert_eq!(limit.to_string(), shown);
        assert!(limit.is_reached(reached) && !limit.is_reached(missed), "{text}");
    }
}

#[test]
fn wrong_lines_are_named() {
    let rule =
        "version 1\nrule a\nof test\nlook account\nfigure state=run\nat-least 1\nsays A.\nevidence dump path {file}\n";
    assert_eq!(RuleList::read(rule).map(|list| list.rules.len()), Ok(1));
    for (from, to, line, problem) in [
        ("version 1", "version 0", 1, "the list begins with `version` and a number above 0"),
        ("version 1", "", 2, "the list begins with `version` and a number above 0"),
        ("rule a\n", "", 2, "`of` stands before the first rule"),
        ("of test\n", "", 2, "rule `a`: it needs `of`, `look`, `says` and `evidence`"),
        ("of test", "of tests", 3, "`tests` is none of `test`, `machine` and `any`"),
        ("look account\n", "", 4, "`figure` needs a `look`"),
        ("look account", "look window", 2, "rule `a`: `window` is none of `account`, `recording` and `dump …`"),
        ("look account", "look recording", 2, "rule `a`: `state=run` is no figure of a recording"),
        ("figure state=run\n", "", 2, "rule `a`: `account` needs a `figure`"),
        ("state=run", "method=x", 2, "rule `a`: `method=x` is nothing that a row of an account has"),
        ("state=run", "of=all", 2, "rule `a`: `of=all` is not `of=test`"),
        ("state=run", "state", 2, "rule `a`: `state` is not KEY=PATTERN"),
        ("at-least 1\n", "", 2, "rule `a`: `account` needs `at-least` or `at-most`"),
        ("at-least 1", "at-least many", 6, "`many` is no number"),
        ("at-least 1", "at-least 1 % window", 6, "`1 % window` is no threshold"),
        ("says A.", "claims A.", 7, "`claims` is no key of a rule"),
    ] {
        let error = RuleList::read(&rule.replace(from, to)).expect_err(problem);
        let problem = problem.replace("`method=x` is nothing", "`method` is nothing");
        assert_eq!((error.line, error.problem), (line, problem));
    }
    let twice = format!("{rule}rule a\n");
    assert_eq!(RuleList::read(&twice).expect_err("twice").problem, "the rule `a` is in the list already");
}
