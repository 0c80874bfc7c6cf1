//! A regular expression that tries the same things again and again.

use std::process::ExitCode;

use tracesift_workloads::{Arguments, Kind, Method, Opt, Report, Usage, extra_cpu, measure, run, thread_cpu_ns, told};

const USAGE: Usage = Usage {
    name: "busy-regex",
    problem: "A regular expression with a repetition inside of a repetition looks for what is not there: the CPU is busy, \
              exponentially long for a text of a few bytes.",
    options: &[
        Opt { name: "seconds", kind: Kind::Time, default: "2", meaning: "CPU time after which no other text is tried" },
        Opt {
            name: "length",
            kind: Kind::Count(1),
            default: "22",
            meaning: "bytes of the text; each one doubles the work",
        },
        Opt {
            name: "texts",
            kind: Kind::Count(0),
            default: "0",
            meaning: "how many are tried, whatever time that takes; 0: for the time of --seconds",
        },
    ],
    keys: &[
        ("truth.texts", "texts that were tried"),
        ("truth.steps", "steps of the matcher"),
        ("truth.match_cpu_ns", "CPU time in `match_busy_expression`"),
        ("truth.match_elapsed_ns", "time in it"),
    ],
    methods: &[Method {
        name: "match_busy_expression",
        parts: |arguments| match arguments.number("texts") {
            0 => Err("give --texts".to_owned()),
            texts => Ok(texts),
        },
    }],
    lock: None,
};

/// A regular expression.
enum Node {
    Byte(u8),
    Sequence(Vec<Node>),
    /// Once or more often, as often as possible first.
    Repeat(Box<Node>),
}

/// A matcher that backtracks, as most libraries have it.
struct Matcher<'a> {
    text: &'a [u8],
    steps: u64,
}

impl Matcher<'_> {
    /// Whether the node matches at a place, and what comes after it behind that.
    fn try_node(&mut self, node: &Node, at: usize, then: &mut dyn FnMut(&mut Self, usize) -> bool) -> bool {
        self.steps += 1;
        match node {
            Node::Byte(byte) => self.text.get(at) == Some(byte) && then(self, at + 1),
            Node::Sequence(nodes) => self.try_sequence(nodes, at, then),
            Node::Repeat(inner) => self.try_node(inner, at, &mut |this, end| {
                // The empty match repeats for ever.
                (end > at && this.try_node(node, end, then)) || then(this, end)
            }),
        }
    }

    fn try_sequence(&mut self, nodes: &[Node], at: usize, then: &mut dyn FnMut(&mut Self, usize) -> bool) -> bool {
        match nodes {
            [] => then(self, at),
            [first, rest @ ..] => self.try_node(first, at, &mut |this, end| this.try_sequence(rest, end, then)),
        }
    }
}

/// Whether the expression matches at the start of the text, and after how many steps that was known.
#[inline(never)]
fn match_busy_expression(expression: &Node, text: &[u8]) -> (bool, u64) {
    let mut matcher = Matcher { text, steps: 0 };
    let found = matcher.try_node(expression, 0, &mut |_, _| true);
    extra_cpu!("match_busy_expression");
    (found, matcher.steps)
}

/// `(a+)+b`
fn expression() -> Node {
    let inner = Node::Repeat(Box::new(Node::Byte(b'a')));
    Node::Sequence(vec![Node::Repeat(Box::new(inner)), Node::Byte(b'b')])
}

fn work(arguments: &Arguments, report: &mut Report) -> std::io::Result<()> {
    let time = i64::try_from(arguments.time("seconds").as_nanos()).unwrap_or(i64::MAX);
    let (expression, text) = (expression(), vec![b'a'; arguments.size("length")]);
    let (told, (texts, steps, piece)) = report.phase("match", || {
        told("main", || {
            let (mut texts, mut steps) = (0_u64, 0);
            let (end, most) = (thread_cpu_ns() + time, arguments.number("texts"));
            let (piece, ()) = measure(|| {
                while texts < most || (most == 0 && thread_cpu_ns() < end) {
                    steps += match_busy_expression(&expression, &text).1;
                    texts += 1;
                }
            });
            (texts, steps, piece)
        })
    });
    report.thread(&told, &[]);
    report.tell("texts", texts);
    report.tell("steps", steps);
    report.tell("match_cpu_ns", piece.cpu);
    report.tell("match_elapsed_ns", piece.elapsed);
    Ok(())
}

fn main() -> ExitCode {
    run(&USAGE, work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_matches_what_it_should_and_each_byte_doubles_the_steps() {
        let expression = expression();
        for (text, found) in [("ab", true), ("aaab", true), ("b", false), ("aaa", false), ("aabx", true), ("", false)] {
            assert_eq!(match_busy_expression(&expression, text.as_bytes()).0, found, "{text}");
        }
        let steps = |length| match_busy_expression(&expression, &vec![b'a'; length]).1;
        assert!(steps(13) > 19 * steps(12) / 10, "{} {}", steps(12), steps(13));
    }
}
