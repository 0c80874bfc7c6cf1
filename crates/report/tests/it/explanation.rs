//! Pages of made-up explanations: the shares add up to the window, names stay text, and commands are whole.

use roxmltree::{Document, Node};
use tracesift_report::explanation_page;
use tracesift_report::model::comparison::Kind;
use tracesift_report::model::explanation::{
    Account, Explanation, Figure, Finding, Place, Report, Row, Share, Unlooked,
};

use crate::{HOSTILE, main_of, values, with_class};

const MS: i64 = 1_000_000;

/// Shares with odd numbers: a word, its time, and whether it is a disturbance.
const SHARES: [(&str, i64, bool); 7] = [
    ("run", 8_554_760_229, false),
    ("wait", 1_003, false),
    ("ready", 3_000_001, false),
    ("unknown", 0, false),
    ("antivirus", 2_871_989_771, true),
    ("cpu-taken", 1_351_000_000, true),
    ("checkpoint", 77_777_777, true),
];

fn account(name: &str) -> Account {
    let kind = |word: &str, is_disturbance| Kind {
        word: word.to_owned(),
        label: if is_disturbance { format!("disturbed: {word}") } else { word.to_owned() },
        is_disturbance,
    };
    let shares: Vec<Share> = SHARES
        .iter()
        .map(|(word, time, is_disturbance)| Share { kind: kind(word, *is_disturbance), time: *time })
        .collect();
    let length = shares.iter().map(|share| share.time).sum();
    let own = shares.iter().filter(|share| !share.kind.is_disturbance).map(|share| share.time);
    Account {
        level: "full",
        process: Some(name.to_owned()),
        thread: Some("main".to_owned()),
        from: 400 * MS,
        length,
        undisturbed: own.sum(),
        shares,
        largest: [1_700, 1_283, 900]
            .map(|time| Row { text: format!("{name} main runs Ntfs.sys!NtfsCopyWriteA"), time: time * MS + 7 })
            .to_vec(),
        rows: 35,
    }
}

fn findings(name: &str) -> Vec<Finding> {
    let found = Finding {
        rule: "antivirus".to_owned(),
        sentence: format!("A virus scanner took 2,872.0 ms of the path of {name}, 22.5 % of the window."),
        figures: vec![Figure {
            text: "2,872.0 ms".to_owned(),
            number: 2_871_989_771.0,
            unit: "ns",
            share: Some(0.2247),
            threshold: "at least 2 % of the window".to_owned(),
        }],
        time: Some(2_871_989_771),
        is_on_path: true,
        place: Some(Place {
            span: [500 * MS, 9_000 * MS],
            longest: vec![[600 * MS, 640 * MS], [700 * MS, 700 * MS + 5], [8_000 * MS, 9_000 * MS]],
        }),
        command: format!("tracesift dump path {name}.sift -p FileWriter --level tag"),
    };
    let without_time = Finding {
        rule: "exceptions".to_owned(),
        sentence: "1,204 exceptions of one kind were thrown.".to_owned(),
        figures: vec![Figure {
            text: "1,204".to_owned(),
            number: 1_204.0,
            unit: "integer",
            share: None,
            threshold: "at least 100".to_owned(),
        }],
        command: format!("tracesift dump exceptions {name}.sift"),
        ..Finding::default()
    };
    let other = Finding {
        time: Some(40 * MS),
        place: Some(Place { span: [-MS, i64::MAX], longest: Vec::new() }),
        ..without_time.clone()
    };
    vec![found, without_time, other]
}

fn explanation(name: &str) -> Explanation {
    Explanation {
        name: name.to_owned(),
        sentence: format!("{name} took 12,858.5 ms, of which 33.4 % was not its own: most for antivirus, 2,872.0 ms."),
        account: Ok(account(name)),
        findings: findings(name),
        unlooked: vec![Unlooked {
            why: "clock rates: not recorded".to_owned(),
            rules: vec!["throttled".to_owned(), "slow-clock".to_owned()],
        }],
        warnings: vec![format!("{name} lost 3 events")],
    }
}

fn report(explanations: Vec<Explanation>) -> Report {
    Report { tool_version: "0.1.0".to_owned(), explanations }
}

fn text_of(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect()
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

fn rows<'a>(table: Node<'a, 'a>, part: &str) -> Vec<Node<'a, 'a>> {
    let part = table.children().find(|node| node.has_tag_name(part)).unwrap();
    part.children().filter(|node| node.has_tag_name("tr")).collect()
}

#[test]
fn shares_add_up_to_the_window_in_numbers_and_in_the_picture() {
    let page = explanation_page(&report(vec![explanation("App")]));
    let document = Document::parse(main_of(&page)).unwrap();
    let account = account("App");
    let table = with_class(&document, "table", "shares")[0];
    let shares: Vec<f64> = rows(table, "tbody").into_iter().map(|row| values(row)[0].unwrap()).collect();
    assert_eq!(shares.len(), SHARES.len());
    let sums: Vec<f64> = rows(table, "tfoot").into_iter().map(|row| values(row)[0].unwrap()).collect();
    assert_eq!(sums, [account.length as f64, account.undisturbed as f64]);
    assert_eq!(shares.iter().sum::<f64>() as i64, account.length);
    // The largest rows do so with the row for all others.
    let table = with_class(&document, "table", "largest")[0];
    let (foot, body) = (rows(table, "tfoot"), rows(table, "tbody"));
    let parts = body.into_iter().chain([foot[0]]).map(|row| values(row)[0].unwrap());
    assert_eq!(parts.sum::<f64>() as i64, account.length);
    assert!(text_of(foot[0]).contains("all others (32 rows)"));

    // Each part of the bar begins where the one before it ended, and the last one ends at the end of the window.
    let parts = with_class(&document, "g", "share");
    assert_eq!(parts.len(), SHARES.iter().filter(|(_, time, _)| *time > 0).count());
    let mut at = 20.0;
    for part in &parts {
        let shapes: Vec<Node<'_, '_>> = part.children().collect();
        let (x, width) = (number(shapes[0], "x"), number(shapes[0], "width"));
        assert!((x - at).abs() < 1e-9, "{x} {at}");
        let expected = number(*part, "data-v") / account.length as f64 * 910.0;
        assert!((width - expected).abs() <= 0.1, "{width} {expected}");
        assert_eq!(shapes.len() == 2, part.attribute("data-tip").unwrap().starts_with("disturbed"), "hatched");
        at = x + width;
    }
    assert!((at - 930.0).abs() < 1e-9);
}

#[test]
fn findings_have_figures_places_and_whole_commands() {
    let name = "a very long name of a directory/".repeat(40);
    let page = explanation_page(&report(vec![explanation(&name)]));
    let document = Document::parse(main_of(&page)).unwrap();
    let found = with_class(&document, "div", "finding");
    let commands: Vec<String> = document.descendants().filter(|node| node.has_tag_name("code")).map(text_of).collect();
    let expected = findings(&name);
    assert_eq!(commands, expected.iter().map(|finding| finding.command.clone()).collect::<Vec<_>>());
    for (node, finding) in found.iter().zip(&expected) {
        assert_eq!(node.attribute("data-rule"), Some(finding.rule.as_str()));
        let table = node.descendants().find(|node| node.attribute("class") == Some("found numbers")).unwrap();
        let figure = &finding.figures[0];
        let row = rows(table, "tbody")[0];
        assert_eq!(values(row), [Some(figure.number), figure.share, None]);
        assert!(text_of(row).contains(&figure.threshold));
    }
    let marks: Vec<[i64; 2]> = found[0]
        .descendants()
        .filter(|node| node.attribute("data-from").is_some())
        .map(|node| ["data-from", "data-to"].map(|name| node.attribute(name).unwrap().parse().unwrap()))
        .collect();
    let place = expected[0].place.clone().unwrap();
    assert_eq!(marks, [vec![place.span], place.longest].concat());
    // Whatever a place is, its marks lie in the picture.
    for shape in document.descendants().filter(|node| node.has_tag_name("rect")) {
        let (x, width) = (number(shape, "x"), number(shape, "width"));
        assert!(x >= 0.0 && width >= 0.0 && x + width <= 930.05, "{x} {width}");
    }
    // A time that no figure tells stands beside them.
    assert!(text_of(found[2]).contains("40.0 ms") && !text_of(found[1]).contains("the time that the finding explains"));
    // Headings are in their order.
    let levels: Vec<u32> =
        document.descendants().filter_map(|node| node.tag_name().name().strip_prefix('h')?.parse().ok()).collect();
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1) && levels[0] == 2, "{levels:?}");
}

#[test]
fn names_of_explanations_stay_text() {
    let mut one = explanation(HOSTILE);
    let hostile = || HOSTILE.to_owned();
    if let Ok(account) = &mut one.account {
        account.thread = Some(hostile());
        account.shares[4].kind = Kind { word: hostile(), label: hostile(), is_disturbance: true };
    }
    for finding in &mut one.findings {
        (finding.rule, finding.sentence) = (hostile(), hostile());
        finding.figures.iter_mut().for_each(|figure| (figure.text, figure.threshold) = (hostile(), hostile()));
    }
    one.unlooked.push(Unlooked { why: hostile(), rules: vec![hostile()] });
    let none = Explanation { account: Err(hostile()), ..one.clone() };
    let page = explanation_page(&report(vec![one, none]));
    assert_eq!(page.matches("<script").count(), 1, "its own");
    assert!(!page.contains("alert(1)</script>") && !page.contains(['\u{202e}', '\u{1b}']));
    let document = Document::parse(main_of(&page)).unwrap();
    let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
    assert!(texts.iter().any(|text| text.starts_with("<script>alert(1)</script>\"'&\u{fffd}gpj")), "{texts:?}");
    // Attributes with a style would be refused; addresses would be a network.
    assert!(!page.contains(" style=") && !page.contains("http://") && !page.contains("https://"));
}

#[test]
fn several_explanations_have_a_table_that_leads_to_each() {
    let empty = Explanation {
        account: Err("nothing tells which program is tested".to_owned()),
        findings: Vec::new(),
        unlooked: Vec::new(),
        warnings: Vec::new(),
        ..explanation("Two")
    };
    let page = explanation_page(&report(vec![explanation("One"), empty]));
    let document = Document::parse(main_of(&page)).unwrap();
    for (place, name) in ["One", "Two"].iter().enumerate() {
        assert!(page.contains(&format!("<a href=\"#case-{place}\">{name}</a>")), "{name}");
        assert!(page.contains(&format!("id=\"case-{place}\" data-case=\"{name}\"")), "{name}");
    }
    let index = rows(with_class(&document, "table", "index")[0], "tbody");
    let account = account("One");
    let part = account.undisturbed as f64 / account.length as f64;
    let times = [account.length, account.undisturbed].map(|time| Some(time as f64));
    assert_eq!(values(index[0]), [times[0], times[1], Some(part), None, None]);
    assert_eq!(values(index[1]), [None; 5]);
    assert!(text_of(index[0]).ends_with("antivirusantivirus"));
    assert!(
        page.contains("There is no account: nothing tells which program is tested") && page.contains("No rule fits.")
    );
    assert_eq!(document.descendants().filter(|node| node.attribute("role") == Some("img")).count(), 3);
}

#[test]
fn an_empty_window_has_a_page() {
    let mut one = explanation("App");
    one.account = Ok(Account::default());
    let page = explanation_page(&report(vec![one]));
    let main = main_of(&page);
    Document::parse(main).unwrap();
    assert!(!main.contains("NaN") && !main.contains("inf"));
}

/// Writes pages to look at while the style changes: `cargo test -p tracesift-report pages_to_look_at -- --ignored`.
#[test]
#[ignore = "it writes files for people"]
fn explanation_pages_to_look_at() {
    for (name, count) in [("one", 1), ("three", 3)] {
        let explanations = (0..count).map(|number| explanation(&format!("Create_{number}"))).collect();
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("explained-{name}.html"));
        std::fs::write(path, explanation_page(&report(explanations))).unwrap();
    }
}
