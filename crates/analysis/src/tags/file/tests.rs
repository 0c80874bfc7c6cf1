use super::{EntryPoint, Hint, HintOperator, MAX_DEPTH, Nesting, read};

fn content(xml: &str) -> super::Content {
    read("my.stacktags", xml.as_bytes(), Nesting::Names).expect("a file of stack tags")
}

fn error(xml: &str) -> String {
    read("my.stacktags", xml.as_bytes(), Nesting::Names).expect_err("an error").to_string()
}

#[test]
fn names_are_those_of_the_tags_around() {
    let content = content(
        r#"<?xml version="1.0" encoding="utf-8"?>
        <Tag Name="">
          <Tag Name="Windows">
            <Tag Name="NTFS Checkpoint Volume" Priority="-3">
              <Entrypoint Module="Ntfs.sys" Method="NtfsCheckpointVolume*"/>
            </Tag>
            <Tag Name=""><Tag Name="Loader"><Entrypoint Module="ntdll.dll"/></Tag></Tag>
          </Tag>
        </Tag>"#,
    );
    let names = content.tags.iter().map(|tag| tag.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names, ["Windows", "Windows\\NTFS Checkpoint Volume", "Windows\\Loader"]);
    assert_eq!(content.tags.iter().map(|tag| tag.parent).collect::<Vec<_>>(), [None, Some(0), Some(0)]);
    assert_eq!(content.warnings, []);
    let [checkpoint, loader] = &content.rules[..] else { panic!("two rules") };
    assert_eq!((checkpoint.tag, checkpoint.priority, checkpoint.hint), (1, -3, None));
    assert_eq!((loader.tag, loader.priority), (2, 0));
    let entry = |module: &str, method: &str| EntryPoint { module: module.to_owned(), method: method.to_owned() };
    assert_eq!(checkpoint.entry_points, [entry("Ntfs.sys", "NtfsCheckpointVolume*")]);
    assert_eq!(loader.entry_points, [entry("ntdll.dll", "*")]);
}

#[test]
fn hint_tags() {
    let hint = |attributes: &str| {
        let xml = format!("<Tag Name=\"\"><{attributes}><Entrypoint Module=\"rpcrt4.dll\" Method=\"Invoke\"/>");
        let element = attributes.split(' ').next().expect("an element");
        content(&format!("{xml}</{element}></Tag>")).rules.pop().expect("a rule").hint
    };
    let expected = |operator, only_module| Some(Hint { operator, only_module });
    assert_eq!(hint("HintTag Name=\"RPC\" HintOperator=\"Callee\""), expected(HintOperator::Callee, true));
    assert_eq!(
        hint("HintTag Name=\"RPC\" HintOperator=\"caller\" OnlyShowModule=\"False\""),
        expected(HintOperator::Caller, false)
    );
    assert_eq!(hint("HintTag Name=\"RPC\""), expected(HintOperator::Callee, true));
    assert_eq!(hint("Tag Name=\"RPC\" HintOperator=\"Callee\""), expected(HintOperator::Callee, true));
    assert_eq!(hint("Tag Name=\"RPC\" OnlyShowModule=\"true\""), None);
}

#[test]
fn what_is_not_understood_is_told_and_passed_over() {
    let content = content(
        "<Tag Name=\"\">\n<Tag Name=\"a\" Color=\"red\">\n<EntryPoint Module=\"m\" Line=\"7\"/><Comment/>\n<Entrypoint/></Tag>\n\
         <Tag><Entrypoint Module=\"m\"/></Tag>\n<Tag Name=\"b\" IsChild=\"true\"><Entrypoint Module=\"m\"/></Tag>\n<HintTag Name=\"c\"/></Tag>",
    );
    let warnings = content.warnings.iter().map(ToString::to_string).collect::<Vec<_>>();
    let expected = [
        "my.stacktags:2:1: the attribute Color is not known",
        "my.stacktags:3:1: the attribute Line is not known",
        "my.stacktags:4:1: an entry point without Module and Method is left out",
        "my.stacktags:3:34: <Comment> is not known",
        "my.stacktags:5:1: the tag has no Name",
        "my.stacktags:5:1: the entry points of a tag without a name are left out",
        "my.stacktags:6:1: no tag around this one has entry points, so it is nobody's child",
        "my.stacktags:7:1: a hint tag without entry points matches nothing",
    ];
    assert_eq!(warnings, expected);
    assert_eq!(content.rules.len(), 2);
}

#[test]
fn errors_are_one_line_with_place_and_valid_forms() {
    for (xml, place) in [
        (
            "<Tag Name=\"\">\n  <Tag Name=\"a\">\n</Tag>",
            "my.stacktags:3:7: this is no well-formed XML: the root node was opened but never closed",
        ),
        (
            "<Tag Name=\"\"><Tag Name=\"a\" Priority=\"high\"/></Tag>",
            "my.stacktags:1:14: Priority=\"high\" is not a whole number",
        ),
        ("<Tag Name=\"\" Priority=\"99999999999\"/>", "my.stacktags:1:1: Priority="),
        (
            "<Tag Name=\"\">\n<HintTag Name=\"a\" HintOperator=\"Next\"/></Tag>",
            "my.stacktags:2:1: HintOperator=\"Next\" is not Callee or Caller",
        ),
        ("<Tag Name=\"\" IsChild=\"yes\"/>", "my.stacktags:1:1: IsChild=\"yes\" is not true or false"),
        (
            "<WindowsPerformanceRecorder/>",
            "my.stacktags:1:1: the outermost element is <WindowsPerformanceRecorder> and no <Tag>",
        ),
        ("", "my.stacktags:1:1: this is no well-formed XML: "),
        (
            "<!DOCTYPE t [<!ENTITY a \"aaa\">]><Tag Name=\"&a;\"/>",
            "my.stacktags:1:1: this is no well-formed XML: XML with DTD detected",
        ),
    ] {
        let error = error(xml);
        assert!(error.starts_with(place), "{error}");
        assert!(error.contains("<Entrypoint Module=") && !error.contains('\n'), "{error}");
    }
}

#[test]
fn hostile_files_are_refused() {
    let deep = "<Tag Name=\"a\">".repeat(MAX_DEPTH + 1) + &"</Tag>".repeat(MAX_DEPTH + 1);
    assert!(error(&deep).contains("deep"));
    let attributes = (0..1000).map(|number| format!(" a{number}=\"\"")).collect::<String>();
    assert!(error(&format!("<Tag{attributes}/>")).contains("attributes"));
    assert!(error(&format!("<Tag Name=\"{}\"/>", "a".repeat(3000))).contains("names"));
    let many = "<Tag Name=\"b\"/>".repeat(100_000);
    assert!(error(&format!("<Tag Name=\"{}\">{many}</Tag>", "a".repeat(1900))).contains("16 MiB"));
    assert!(error(&"<Tag>".repeat(1_000_000)).contains("more than 4 MiB"));
    assert!(
        error(&format!("<Tag Name=\"\"><Tag Name=\"a\"><Entrypoint Module=\"{}\"/></Tag></Tag>", "a".repeat(3000)))
            .contains("pattern")
    );
}

#[test]
fn unknown_things_without_end_have_few_warnings() {
    let content = content(&format!("<Tag Name=\"\">{}</Tag>", "<a/>".repeat(50_000)));
    assert_eq!(content.warnings.len(), super::MAX_WARNINGS);
}
