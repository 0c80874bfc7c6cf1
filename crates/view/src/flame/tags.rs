//! The stack tags of boxes: a box has the tag of the stack that ends in it.

use rustc_hash::FxHashMap;
use tracesift_analysis::tags::{TagId, TagSet, Tagger};
use tracesift_analysis::{MethodId, MethodNames};

use super::boxes::Line;

/// Options that change what a line is: its frames are then not those of a stack, of which rules are.
const OTHERS: [&str; 7] = ["--callers", "--by", "--fold", "--cut", "--root", "--include-args", "--fold-unresolved"];

/// Whether the lines of such a question have tags.
pub(super) fn are_known(words: &[String]) -> bool {
    let is_other = |word: &String| OTHERS.contains(&word.split('=').next().unwrap_or_default());
    !words.iter().any(is_other)
}

/// The tag of each line; `None`: the line stands for several stacks.
pub(super) fn of_lines(lines: &[Line], tags: &TagSet) -> Vec<Option<String>> {
    let mut names = MethodNames::new();
    let methods: Vec<Option<MethodId>> = lines
        .iter()
        .map(|line| line.method.as_ref().map(|method| names.function(line.module.as_deref(), method)))
        .collect();
    let place: FxHashMap<usize, usize> = lines.iter().enumerate().map(|(place, line)| (line.row, place)).collect();
    let mut tagger = Tagger::new(tags, &names);
    let mut stack = Vec::new();
    let mut all = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        if line.kind == "no stack" {
            all.push(Some(tagger.name(TagId::NO_STACK).to_owned()));
            continue;
        }
        stack.clear();
        let (mut next, mut is_whole) = (Some(at), true);
        // Parents stand before their children, so this ends.
        while let Some(now) = next {
            match methods.get(now).copied().flatten() {
                Some(method) => stack.push(method),
                None => is_whole = false,
            }
            let parent = lines.get(now).and_then(|line| line.parent);
            next = parent.and_then(|parent| place.get(&parent).copied()).filter(|parent| *parent < now);
        }
        all.push(is_whole.then(|| tagger.tag(&stack)).map(|tag| tagger.name(tag).to_owned()));
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tracesift_analysis::tags::{Nesting, TagFile, TagId, TagSet};

    use super::{are_known, of_lines};

    #[test]
    fn a_box_has_the_tag_of_the_stack_that_ends_in_it() {
        let line = |row: usize, parent: Option<usize>, kind: &str, method: Option<&str>| {
            json!({ "row": row, "parent": parent, "process": "App", "pid": 1, "start_ns": null, "total_ns": 1,
                "self_ns": 1, "kind": kind, "more": null, "module": "app.dll", "method": method })
        };
        let lines = json!([
            line(0, None, "method", Some("Main")),
            line(1, Some(0), "method", Some("Save")),
            line(2, Some(1), "method", Some("Copy")),
            line(3, Some(1), "more", None),
            line(4, Some(0), "method", Some("Copy")),
            line(9, None, "no stack", None),
        ]);
        let lines: Vec<_> = serde_json::from_value(lines).unwrap();
        let rules = br#"<?xml version="1.0"?><Tag Name="">
            <Tag Name="Saving" Priority="1"><Entrypoint Module="app.dll" Method="Save"/></Tag>
            <Tag Name="Copying"><Entrypoint Module="app.dll" Method="Copy"/></Tag></Tag>"#;
        let set = TagSet::read(&[TagFile { name: "t", content: rules }], Nesting::Names).unwrap();
        let found = of_lines(&lines, &set);
        let other = set.name(TagId::OTHER);
        let expected =
            [Some(other), Some("Saving"), Some("Saving"), None, Some("Copying"), Some(set.name(TagId::NO_STACK))];
        assert_eq!(found.iter().map(Option::as_deref).collect::<Vec<_>>(), expected);
        assert!(are_known(&["dump".to_owned(), "stacks".to_owned()]));
        assert!(!are_known(&["--by=module".to_owned()]) && !are_known(&["--callers".to_owned()]));
    }
}
