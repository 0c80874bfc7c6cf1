//! Files of stack tags: up to the first byte 0 a file, behind it another one, then the frames of stacks, one per line. What is read must
//! give each stack one tag, the same each time.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_analysis::tags::{Nesting, TagFile, TagId, TagSet, Tagger};
use tracesift_analysis::{MethodId, MethodNames};

/// Frames that are tagged, and the bytes of a name: patterns may take the product of their length and a name's.
const FRAMES: usize = 64;
const NAME: usize = 200;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(3, |byte| *byte == 0);
    let mut part = || parts.next().unwrap_or_default();
    let files = [part(), part()].map(|content| TagFile { name: "fuzz", content });
    let frames = String::from_utf8_lossy(part());
    let mut names = MethodNames::new();
    let stack = frames.lines().take(FRAMES).map(|frame| {
        let frame: String = frame.chars().take(NAME).collect();
        match frame.split_once('!') {
            Some((module, "")) => names.without_symbol(module, 0x10),
            Some((module, function)) => names.function(Some(module), function),
            None if frame.is_empty() => names.unknown(),
            None => names.function(None, &frame),
        }
    });
    let stack: Vec<MethodId> = stack.collect();
    for nesting in [Nesting::Names, Nesting::Children] {
        // The second file may be none.
        let set = TagSet::read(&files, nesting).or_else(|_| TagSet::read(&files[..1], nesting));
        let Ok(set) = set else { continue };
        assert!(set.tags().all(|tag| set.parent(tag).is_none_or(|parent| parent < tag)));
        assert_eq!(set.tags().len() >= 2, set.find("No stack") == Some(TagId::NO_STACK));
        let mut tagger = Tagger::new(&set, &names);
        assert_eq!(tagger.tag(&[]), TagId::NO_STACK);
        for start in 0..stack.len() {
            let tag = tagger.tag(&stack[start..]);
            assert_eq!(tagger.tag(&stack[start..]), tag);
            assert!(!tagger.name(tag).is_empty());
        }
        let _ = tagger.tag(&[MethodId(u32::MAX)]);
    }
});
