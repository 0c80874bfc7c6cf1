//! The path, and the CPU time by stack, as flame graphs of the second set, coloured by the difference to the first one. What is within its own noise has no
//! colour.

use crate::html::{Html, at};
use crate::model::comparison::{Case, Node, Outcome};
use crate::numbers::{ms, signed};

const WIDTH: f64 = 1200.0;
const ROW: f64 = 20.0;

/// More parts are not drawn: they would be narrower than a pixel, and the table has them.
const MOST: usize = 800;

/// Narrower parts are not drawn, either.
const NARROWEST: f64 = 0.5;

/// Steps of colour in each direction.
const STEPS: f64 = 4.0;

/// A picture.
struct Graph<'a> {
    /// What it is of: `path` or `cpu`.
    word: &'static str,
    title: String,
    /// What is as wide as its time.
    part: &'static str,
    nodes: &'a [Node],
    means: [f64; 2],
    difference: i128,
}

/// The pictures with their legends: the path, and the CPU time where it is known.
pub(crate) fn add(html: &mut Html, case: &Case, outcome: &Outcome) {
    let [a, b] = &case.labels;
    let path = Graph {
        word: "path",
        title: format!("The path of {b}, coloured by its difference to {a}"),
        part: "A part is as wide as its mean time",
        nodes: &outcome.nodes,
        means: outcome.means,
        difference: outcome.difference,
    };
    html.raw("<div class=\"views\">");
    add_graph(html, case, &path, |html| add_gone(html, case, outcome));
    match &outcome.cpu {
        Some(cpu) => {
            let graph = Graph {
                word: "cpu",
                title: format!("The CPU time of {b} by stack, coloured by its difference to {a}"),
                part: "A frame is as wide as the mean CPU time of it and what it called",
                nodes: &cpu.nodes,
                means: cpu.means,
                difference: cpu.difference,
            };
            add_graph(html, case, &graph, |html| {
                let text = "CPU time is that of all threads of the test in its window, from samples. It does not add up to the duration.";
                html.element("p", &[("class", &"remark")], text);
            });
        }
        None if !outcome.no_cpu.is_empty() => {
            html.element("p", &[("class", &"remark")], &format!("No flame graph of the CPU: {}.", outcome.no_cpu));
        }
        None => {}
    }
    html.raw("</div>");
}

fn add_graph(html: &mut Html, case: &Case, graph: &Graph<'_>, add_rest: impl FnOnce(&mut Html)) {
    let total: f64 = graph.nodes.iter().filter(|node| node.depth == 0).map(|node| node.means[1].max(0.0)).sum();
    if total <= 0.0 {
        return;
    }
    let [a, b] = &case.labels;
    html.open("figure", &[("class", &"flame-figure"), ("data-view", &graph.word)]);
    html.element("figcaption", &[], &graph.title);
    let part = graph.part;
    let is_tested = graph.nodes.iter().any(|node| node.half_width.is_some());
    let note = if is_tested {
        format!(
            "{part} in {b}. Red: more than in {a}. Blue: less. Grey: the difference is smaller than half the width of its interval, so it \
             may be chance."
        )
    } else {
        format!(
            "{part} in {b}. Red: more than in {a}. Blue: less. Nothing is known of the noise of so few runs, so the colours show every \
             difference, chance or not."
        )
    };
    html.open("p", &[("class", &"remark")]);
    html.prose(&note);
    html.close("p");
    html.raw("<div class=\"flame\" tabindex=\"0\" role=\"group\" aria-label=\"Flame graph. Arrow keys walk, Enter zooms in, Escape zooms out.\">");
    let drawn = drawn(graph.nodes, total);
    let depths = drawn.iter().map(|(node, _)| node.depth).max().unwrap_or(0) + 2;
    let height = depths as f64 * ROW;
    html.open(
        "svg",
        &[("viewBox", &format!("0 0 {WIDTH} {height}")), ("aria-hidden", &"true"), ("data-total", &total)],
    );
    let root = Node {
        label: format!("{b}: {} ms", ms(total)),
        means: graph.means,
        delta: graph.difference,
        own: graph.difference,
        level: "all",
        ..Node::default()
    };
    block(html, &root, [0.0, WIDTH], 0, 0);
    let largest = drawn.iter().map(|(node, _)| node.own.unsigned_abs()).max().unwrap_or(0);
    for (node, x) in &drawn {
        let width = node.means[1] / total * WIDTH;
        block(html, node, [*x, width], node.depth + 1, step(node, largest));
    }
    html.raw("</svg><p class=\"info\" aria-live=\"polite\"></p></div>");
    add_rest(html);
    html.raw("</figure>");
}

/// The nodes that are wide enough, with their places.
fn drawn(nodes: &[Node], total: f64) -> Vec<(&Node, f64)> {
    let mut free: Vec<f64> = vec![0.0];
    let mut placed: Vec<(&Node, f64)> = Vec::new();
    for node in nodes {
        free.truncate(node.depth + 1);
        let Some(x) = free.last().copied() else { continue };
        let width = node.means[1].max(0.0) / total * WIDTH;
        if let Some(last) = free.last_mut() {
            *last += width;
        }
        free.push(x);
        if width >= NARROWEST {
            placed.push((node, x));
        }
    }
    let mut widths: Vec<f64> = placed.iter().map(|(node, _)| node.means[1]).collect();
    widths.sort_by(|x, y| y.total_cmp(x));
    if let Some(least) = widths.get(MOST) {
        placed.retain(|(node, _)| node.means[1] > *least);
    }
    placed
}

/// A colour from −4 to 4. The root brings out small changes beside a large one.
fn step(node: &Node, largest: u128) -> i32 {
    let size = node.own.unsigned_abs() as f64;
    if node.half_width.is_some_and(|half| size < half) || largest == 0 || node.own == 0 {
        return 0;
    }
    let step = ((size / largest as f64).sqrt() * STEPS).ceil().clamp(1.0, STEPS) as i32;
    if node.own > 0 { step } else { -step }
}

fn block(html: &mut Html, node: &Node, [x, width]: [f64; 2], depth: usize, step: i32) {
    let class = match step {
        0 => "f".to_owned(),
        step if step > 0 => format!("f r{step}"),
        step => format!("f b{}", -step),
    };
    html.open(
        "g",
        &[
            ("class", &class),
            ("data-level", &node.level),
            ("data-name", &node.label),
            ("data-a", &node.means[0]),
            ("data-b", &node.means[1]),
            ("data-delta", &node.delta),
            ("data-half", &node.half_width.map_or_else(String::new, |half| half.to_string())),
        ],
    );
    let y = depth as f64 * ROW;
    let place = [at(x), at(y), at((width - 0.6).max(0.3)), at(ROW - 1.0)];
    let [left, top, wide, high] = &place;
    html.shape("rect", &[("x", left), ("y", top), ("width", wide), ("height", high)]);
    if node.is_disturbance {
        html.shape("rect", &[("class", &"hatched"), ("x", left), ("y", top), ("width", wide), ("height", high)]);
    }
    let room = ((width - 8.0) / 6.7).max(0.0) as usize;
    let shown =
        if room < 3 { String::new() } else { tracesift_export::escape::shorten(&node.label, room).into_owned() };
    html.element("text", &[("x", &at(x + 4.0)), ("y", &at(y + 14.0))], &shown);
    html.close("g");
}

/// What only the first set has takes no room in a picture of the second.
fn add_gone(html: &mut Html, case: &Case, outcome: &Outcome) {
    let gone: Vec<_> = outcome.rows.iter().filter(|row| row.means[1] <= 0.0 && row.means[0] > 0.0).collect();
    if gone.is_empty() {
        return;
    }
    let sum: i128 = gone.iter().map(|row| row.delta).sum();
    let rows = if gone.len() == 1 { "1 row".to_owned() } else { format!("{} rows", gone.len()) };
    let [a, b] = &case.labels;
    let text = format!(
        "Not in the picture: {rows} that {a} has and {b} has not, {} ms together. The table of all rows has them.",
        signed(sum as f64)
    );
    html.element("p", &[("class", &"remark")], &text);
}
