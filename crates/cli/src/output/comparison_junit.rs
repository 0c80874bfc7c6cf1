//! The gates of a comparison as a report of JUnit: a suite for each two sets, a case for each gate and test case.

use tracesift_ask::compare::gate::Gate;
use tracesift_ask::compare::gates::{GateOutcome, GateState};
use tracesift_ask::compare::{Case, Compared};
use xml::writer::{EmitterConfig, EventWriter, XmlEvent};

use super::comparison::row_line;
use super::report_text::xml_line;

/// Rows below the sentence of a failure.
const ROWS: usize = 5;

/// The attribute that counts skipped cases.
const SKIPPED: &str = "skipped";

/// A test case of the report.
struct Test {
    class: String,
    name: String,
    result: TestResult,
}

enum TestResult {
    Passed,
    Failed { message: String, lines: Vec<String> },
    Skipped(String),
}

/// The report. A case of one set alone has all gates, skipped.
pub(crate) fn text(compared: &Compared, gates: &[Gate]) -> String {
    let mut suites: Vec<(String, Vec<Test>)> = Vec::new();
    for case in &compared.cases {
        let [a, b] = &case.labels;
        let name = format!("tracesift compare {a} {b}");
        let tests = case.gates.iter().map(|gate| test(case, gate));
        match suites.last_mut().filter(|(last, _)| *last == name) {
            Some((_, of_suite)) => of_suite.extend(tests),
            None => suites.push((name, tests.collect())),
        }
    }
    if !compared.unpaired.is_empty() {
        let of_case = |(case, label): &(String, String)| {
            let test = |gate: &Gate| Test {
                class: case.clone(),
                name: gate.to_string(),
                result: TestResult::Skipped(format!("the test case is in {label} only")),
            };
            gates.iter().map(test).collect::<Vec<Test>>()
        };
        suites.push(("tracesift compare".to_owned(), compared.unpaired.iter().flat_map(of_case).collect()));
    }
    let mut report = Report::new();
    let all = suites.iter().flat_map(|(_, tests)| tests);
    // Schemas of JUnit count skipped cases by suite alone.
    let sums = counts(all).into_iter().filter(|(name, _)| *name != SKIPPED).collect();
    report.element("testsuites", sums, |report| {
        for (name, tests) in &suites {
            let attributes = [vec![("name", name.clone())], counts(tests)].concat();
            report.element("testsuite", attributes, |report| tests.iter().for_each(|test| add(report, test)));
        }
    });
    report.finish()
}

fn counts<'a>(tests: impl IntoIterator<Item = &'a Test>) -> Vec<Attribute> {
    let (mut count, mut failed, mut skipped) = (0, 0, 0);
    for test in tests {
        count += 1;
        match test.result {
            TestResult::Passed => {}
            TestResult::Failed { .. } => failed += 1,
            TestResult::Skipped(_) => skipped += 1,
        }
    }
    [("tests", count), ("failures", failed), ("errors", 0), (SKIPPED, skipped)]
        .map(|(name, count)| (name, count.to_string()))
        .to_vec()
}

fn test(case: &Case, gate: &GateOutcome) -> Test {
    let result = match gate.state {
        GateState::Passed => TestResult::Passed,
        GateState::Undecided => TestResult::Skipped(gate.reason.clone()),
        GateState::Failed => {
            let sentence = case.result.iter().map(|result| result.sentence.clone());
            let rows = case.result.iter().flat_map(|result| result.difference.shown.iter().take(ROWS));
            let lines = sentence.chain(rows.map(|shown| row_line(shown, case))).collect();
            TestResult::Failed { message: gate.reason.clone(), lines }
        }
    };
    Test { class: case.name.clone(), name: gate.text.clone(), result }
}

fn add(report: &mut Report, test: &Test) {
    let attributes = vec![("classname", test.class.clone()), ("name", test.name.clone())];
    report.element("testcase", attributes, |report| match &test.result {
        TestResult::Passed => {}
        TestResult::Skipped(why) => report.element("skipped", vec![("message", why.clone())], |_| {}),
        TestResult::Failed { message, lines } => {
            let attributes = vec![("message", message.clone()), ("type", "gate".to_owned())];
            report.element("failure", attributes, |report| report.text(lines));
        }
    });
}

/// A name of an attribute, and its value.
type Attribute = (&'static str, String);

/// A document that grows from its beginning to its end. Names in it are one line without control characters, which XML cannot have.
struct Report(EventWriter<Vec<u8>>);

impl Report {
    fn new() -> Self {
        Self(EmitterConfig::new().perform_indent(true).pad_self_closing(false).create_writer(Vec::new()))
    }

    fn element(&mut self, name: &'static str, attributes: Vec<Attribute>, inside: impl FnOnce(&mut Self)) {
        let values: Vec<(&str, String)> = attributes.iter().map(|(name, value)| (*name, xml_line(value))).collect();
        let start = XmlEvent::start_element(name);
        self.write(values.iter().fold(start, |start, (name, value)| start.attr(*name, value)));
        inside(self);
        self.write(XmlEvent::end_element());
    }

    fn text(&mut self, lines: &[String]) {
        let lines: Vec<String> = lines.iter().map(|line| xml_line(line)).collect();
        self.write(XmlEvent::characters(&lines.join("\n")));
    }

    fn write<'a>(&mut self, event: impl Into<XmlEvent<'a>>) {
        // A vector takes all bytes, and `element` closes only an element that it opened. So no error is possible.
        let _ = self.0.write(event);
    }

    fn finish(self) -> String {
        let mut text = String::from_utf8_lossy(&self.0.into_inner()).into_owned();
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Report;

    #[test]
    fn names_stay_text() {
        let mut report = Report::new();
        let hostile = "a]]>&\"<b>\u{1b}\u{0}\u{ffff}\u{202e}\nc";
        report.element("x", vec![("y", hostile.to_owned())], |report| report.text(&[hostile.to_owned()]));
        let text = report.finish();
        let document = roxmltree::Document::parse(&text).unwrap();
        let element = document.root_element();
        assert_eq!((element.attribute("y"), element.text()), (Some("a]]>&\"<b> c"), Some("a]]>&\"<b> c")));
        assert!(!text.contains("]]>"), "{text}");
    }
}
