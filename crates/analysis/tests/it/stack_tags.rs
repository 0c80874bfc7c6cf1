//! Stack tags as documented and as shipped: the examples of the format's documentation, and what the built-in rules say of stacks.

use std::fmt::Write as _;

use tracesift_analysis::tags::{Nesting, TagFile, TagId, TagRow, TagSet, TagSource, Tagger};
use tracesift_analysis::{MethodId, MethodNames, MethodSource, StackMethods};
use tracesift_grammar::Pattern;
use tracesift_trace::rows::StackRow;
use tracesift_trace::{FrameId, StackId};

fn set(files: &[&str]) -> TagSet {
    let files = files.iter().map(|content| TagFile { name: "test", content: content.as_bytes() }).collect::<Vec<_>>();
    let set = TagSet::read(&files, Nesting::Names).expect("files of stack tags");
    assert_eq!(set.warnings(), []);
    set
}

/// A stack from lines `module!function`, leaf first.
fn stack(names: &mut MethodNames, frames: &[&str]) -> Vec<MethodId> {
    let method = |frame: &&str| match frame.split_once('!') {
        Some((module, "")) => names.without_symbol(module, 0x10),
        Some((module, function)) => names.function(Some(module), function),
        None => names.function(None, frame),
    };
    frames.iter().map(method).collect()
}

fn tag(set: &TagSet, frames: &[&str]) -> String {
    let mut names = MethodNames::new();
    let stack = stack(&mut names, frames);
    let mut tagger = Tagger::new(set, &names);
    let tag = tagger.tag(&stack);
    tagger.name(tag).to_owned()
}

/// The documentation's A -> B -> C -> D, of which B and C have tags.
#[test]
fn the_tag_nearest_to_the_leaf_summarises_the_stack() {
    let set = set(&[
        r#"<Tag Name=""><Tag Name="HTML"><Tag Name="Script"><Tag Name="OM"><Entrypoint Module="m" Method="B"/></Tag></Tag></Tag>
        <Tag Name="C"><Entrypoint Module="m" Method="C"/></Tag></Tag>"#,
    ]);
    assert_eq!(tag(&set, &["m!D", "m!C", "m!B", "m!A"]), "C");
    assert_eq!(tag(&set, &["m!D", "m!B", "m!A"]), "HTML\\Script\\OM");
    assert_eq!(tag(&set, &["m!D", "m!A"]), "Other");
    assert_eq!(tag(&set, &[]), "No stack");
}

/// One instruction alone is no stack, nor is a stack without frames or one that nobody knows.
#[test]
fn without_a_stack_there_is_no_tag_of_a_rule() {
    let set = set(&[r#"<Tag Name="all"><Entrypoint Module="*"/></Tag>"#]);
    let mut names = MethodNames::new();
    let mut stacks = StackMethods::new();
    stacks.add_frame(FrameId(0), &stack(&mut names, &["m!f"]));
    stacks.add_stack(&StackRow { stack: StackId(0), frames: vec![FrameId(0)] });
    stacks.add_stack(&StackRow { stack: StackId(1), frames: vec![] });
    let mut source = TagSource::new(stacks, Tagger::new(&set, &names));
    let mut rows = Vec::new();
    let wild = [0, i32::MAX, i32::MIN].map(StackId);
    wild.iter().for_each(|&stack| source.stack(stack, &mut rows));
    source.stack(StackId(1), &mut rows);
    assert_eq!([0, 1, i32::MAX, 1].map(|stack| source.representative(StackId(stack)).0), [0, 1, 1, 1]);
    source.frame(FrameId(0), &mut rows);
    source.no_stack(&mut rows);
    let all = TagRow::Own(set.find("all").expect("a tag"));
    let none = TagRow::Own(TagId::NO_STACK);
    assert_eq!(rows.into_iter().map(TagRow::of).collect::<Vec<_>>(), [all, none, none, none, none, none]);
}

/// The documentation's hint tag for what RPC calls.
#[test]
fn hint_tags_name_what_they_find() {
    let rpc = |attributes: &str| {
        let hint = format!("<HintTag Name=\"RPC\" HintOperator=\"{attributes}>");
        set(&[&format!("<Tag Name=\"\">{hint}<Entrypoint Module=\"rpcrt4.dll\" Method=\"Invoke\"/></HintTag></Tag>")])
    };
    let login = ["ntdll.dll!x", "wbemcore.dll!CWbemLevel1Login::NTLMLogin", "rpcrt4.dll!Invoke", "rpcrt4.dll!Dispatch"];
    assert_eq!(tag(&rpc("Callee\""), &login), "RPC\\wbemcore.dll");
    let with_method = rpc("Callee\" OnlyShowModule=\"false\"");
    assert_eq!(tag(&with_method, &login), "RPC\\wbemcore.dll\\CWbemLevel1Login::NTLMLogin");
    assert_eq!(tag(&rpc("Caller\" OnlyShowModule=\"false\""), &login), "RPC\\rpcrt4.dll\\Dispatch");
    // Nobody was called, or nobody called.
    assert_eq!(tag(&with_method, &["rpcrt4.dll!Invoke", "rpcrt4.dll!Dispatch"]), "RPC");
    assert_eq!(tag(&rpc("Caller\""), &["a.dll!f", "rpcrt4.dll!Invoke"]), "RPC");

    // Tags that were found stand behind those of the files, each once, below their parents.
    let mut names = MethodNames::new();
    let stacks = [&login[..], &["wbemcore.dll!CWbemNamespace::GetObjectW", "rpcrt4.dll!Invoke"], &login]
        .map(|frames| stack(&mut names, frames));
    let mut tagger = Tagger::new(&with_method, &names);
    let [first, second, again] = stacks.map(|stack| tagger.tag(&stack));
    assert_eq!(first, again);
    let rpc = with_method.find("RPC").expect("a tag");
    let module = tagger.parent(first).expect("a parent");
    assert_eq!(
        (tagger.name(module), tagger.parent(second), tagger.parent(module)),
        ("RPC\\wbemcore.dll", Some(module), Some(rpc))
    );
    assert_eq!(tagger.tags().len(), with_method.tags().len() + 3);
}

/// What a user asked for when the format had it not: collections of the application apart from those of others.
#[test]
fn children_are_told_apart_from_the_same_elsewhere() {
    let own = r#"<Tag Name="MyApplication"><Tag Name="Main"><Entrypoint Module="LowLatencyGC.exe" Method="*Program::Main*"/>
        <Tag Name="GC" IsChild="true"><Entrypoint Module="clr.dll" Method="*GC*"/></Tag></Tag></Tag>"#;
    let clr = |priority: &str| {
        format!(
            "<Tag Name=\"CLR\"><Tag Name=\"GC\" {priority}><Entrypoint Module=\"clr.dll\" Method=\"*GC*\"/></Tag></Tag>"
        )
    };
    let copy = r#"<Tag Name="Copy"><Entrypoint Module="*" Method="memcpy"/></Tag>"#;
    let below_main = ["clr.dll!memcpy", "clr.dll!WKS::GCHeap::Mark", "LowLatencyGC.exe!App.Program.Main"];
    let elsewhere = ["clr.dll!memcpy", "clr.dll!WKS::GCHeap::Mark", "clr.dll!Thread::Start"];
    // In whatever order the files come.
    for files in [[own, &clr("")], [&clr(""), own]] {
        let set = set(&files);
        assert_eq!(tag(&set, &below_main), "MyApplication\\Main\\GC");
        assert_eq!(tag(&set, &elsewhere), "CLR\\GC");
        assert_eq!(tag(&set, &below_main[2..]), "MyApplication\\Main");
        assert_eq!(set.parent(set.find("MyApplication\\Main\\GC").expect("a tag")), set.find("MyApplication\\Main"));
    }
    // What beats the generic tag beats its child, too; and what the generic tag beats, its child does.
    assert_eq!(tag(&set(&[own, &clr(""), copy]), &below_main), "Copy");
    assert_eq!(tag(&set(&[own, &clr("Priority=\"7\""), copy]), &below_main), "MyApplication\\Main\\GC");
    // Without the attribute it is as in other tools: the first in the order of the files.
    let plain = own.replace(" IsChild=\"true\"", "");
    assert_eq!(tag(&set(&[&plain, &clr("")]), &elsewhere), "MyApplication\\Main\\GC");
    let nested = TagSet::read(&[TagFile { name: "own", content: plain.as_bytes() }], Nesting::Children).expect("a set");
    assert_eq!(
        (tag(&nested, &elsewhere), tag(&nested, &below_main)),
        ("Other".to_owned(), "MyApplication\\Main\\GC".to_owned())
    );
}

#[test]
fn hashes_tell_sets_apart() {
    let read = |files: &[&str], nesting| {
        let files = files.iter().map(|content| TagFile { name: "x", content: content.as_bytes() }).collect::<Vec<_>>();
        TagSet::read(&files, nesting).expect("a set").hash()
    };
    let (a, b) = ("<Tag Name=\"a\"/>", "<Tag Name=\"b\"/>");
    let hashes = [
        read(&[], Nesting::Names),
        read(&[a], Nesting::Names),
        read(&[a], Nesting::Children),
        read(&[a, b], Nesting::Names),
        read(&[b, a], Nesting::Names),
    ];
    for (number, hash) in hashes.iter().enumerate() {
        assert_eq!(hash.len(), 16);
        assert!(!hashes[..number].contains(hash));
    }
    // It is kept in caches, so it must not change by chance.
    assert_eq!(hashes[1], "41362292e949bfdb");
}

fn built_in() -> TagSet {
    let set = TagSet::built_in(Nesting::Names).expect("the built-in rules");
    assert_eq!(set.warnings(), []);
    set
}

#[test]
fn the_built_in_rules_are_sound() {
    let set = built_in();
    // Two tags of one name would be one, so there are as many as elements with a name, and the two that are always there.
    let elements = tracesift_analysis::tags::BUILT_IN.matches("<Tag Name=").count() - 1;
    assert_eq!(set.tags().len(), elements + 2);
    let names = set.tags().map(|tag| set.name(tag)).collect::<Vec<_>>();
    let matching = |pattern: &str| {
        let pattern = Pattern::new(pattern);
        names.iter().filter(|name| pattern.matches(name)).copied().collect::<Vec<_>>()
    };
    for vendor in [
        "AppLocker",
        "Avast",
        "CrowdStrike",
        "CyberArk",
        "Windows Defender",
        "ESET",
        "McAfee",
        "Palo Alto",
        "Sentinel One",
        "Sophos",
        "Symantec",
        "Trend Micro",
    ] {
        assert!(names.contains(&format!("Antivirus\\{vendor}").as_str()), "{vendor}");
    }
    assert!(matching("*virus*").len() > 30);
    assert_eq!(matching("*checkpoint*"), ["File system\\NTFS\\NTFS Checkpoint Volume"]);
    assert_eq!((set.name(TagId::NO_STACK), set.name(TagId::OTHER)), ("No stack", "Other"));
}

/// Stacks as recorders see them, and the tags that they have. A line is a stack, leaf first.
#[test]
fn what_the_built_in_rules_say() {
    let set = built_in();
    let mut found = String::new();
    for line in include_str!("stack_tags/stacks.txt").lines().filter(|line| !line.is_empty()) {
        let frames = line.split_once(" => ").map_or(line, |(frames, _)| frames);
        writeln!(found, "{frames} => {}", tag(&set, &frames.split(" < ").collect::<Vec<_>>())).expect("a text");
    }
    assert_eq!(found, include_str!("stack_tags/stacks.txt").replace("\n\n", "\n"), "{found}");
}

/// Inputs that fuzzing starts from; with `WRITE_CORPUS=1` they are written.
#[test]
fn the_corpus_is_what_its_names_say() {
    const PLAIN: &str =
        r#"<Tag Name=""><Tag Name="a" Priority="-1"><Entrypoint Module="m*" Method="*::f?"/></Tag></Tag>"#;
    const CHILD: &str = r#"<Tag Name=""><Tag Name="a"><Entrypoint Method="main"/><Tag Name="b" IsChild="true"><Entrypoint Module="m"/></Tag></Tag></Tag>"#;
    const HINT: &str = r#"<Tag Name=""><HintTag Name="h" HintOperator="Caller" OnlyShowModule="false"><Entrypoint Module="m"/></HintTag></Tag>"#;
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/stack_tags");
    for (name, files, frames, expected) in [
        ("two_files", [PLAIN, HINT], "x!y\nmm!A.f1\nmain", "a"),
        ("child", [CHILD, PLAIN], "m!\nmm!A::f2\nmain", "a\\b"),
        ("hint", [HINT, ""], "m!\na!b", "h\\a\\b"),
        ("damaged", [PLAIN, "<Tag"], "mm!A::f2", "a"),
    ] {
        let content = format!("{}\0{}\0{frames}", files[0], files[1]);
        if std::env::var_os("WRITE_CORPUS").is_some() {
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join(name), &content).expect("written");
        }
        assert_eq!(std::fs::read_to_string(folder.join(name)).expect("it is there"), content, "{name}");
        let read = files.map(|content| TagFile { name, content: content.as_bytes() });
        let set =
            TagSet::read(&read, Nesting::Names).or_else(|_| TagSet::read(&read[..1], Nesting::Names)).expect("rules");
        assert_eq!(tag(&set, &frames.lines().collect::<Vec<_>>()), expected, "{name}");
    }
}

#[test]
fn the_examples_of_the_documentation_are_files() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/stack-tags.md");
    let text = std::fs::read_to_string(path).expect("the documentation");
    let examples = text.split("```xml\n").skip(1).filter_map(|rest| rest.split_once("```")).collect::<Vec<_>>();
    let [(format, _), (children, _)] = examples[..] else { panic!("two examples") };
    let (format, children) = (set(&[format]), set(&[children]));
    assert_eq!(tag(&format, &["Ntfs.sys!NtfsCheckpointVolume"]), "Windows\\NTFS Checkpoint Volume");
    let invoked = ["wbemcore.dll!CWbemLevel1Login::NTLMLogin", "rpcrt4.dll!Invoke"];
    assert_eq!(tag(&format, &invoked), "RPC\\wbemcore.dll\\CWbemLevel1Login::NTLMLogin");
    assert_eq!(tag(&children, &["clr.dll!GCHeap::Alloc", "MyApp.exe!My.Program.Main"]), "MyApplication\\Main\\GC");
    assert_eq!(tag(&children, &["clr.dll!GCHeap::Alloc"]), "Other");
}
