//! The picture as text. All that stands in it besides figures is a stranger's, so every name goes through the escapes; the script gets
//! none at all and reads them from the picture.

use std::fmt::Write;

use unicode_width::UnicodeWidthChar;

use super::colour::{self, FAMILIES, STEPS};
use super::halves::in_halves;
use super::layout::{Cell, Layout};
use super::select::Selection;
use super::text::{count, figure, grouped, percent, share};
use super::{Change, Orientation};
use crate::escape::{plain, push_xml, shorten};
use crate::profile::{Measure, Unit};
use crate::tree::{Kind, Node, Tree};

/// Width of the still picture in pixels. In a browser it takes the width of the window.
const WIDTH: f64 = 1_200.0;
/// Pixels to the left and to the right of the rows. The script knows them, too.
const MARGIN: f64 = 10.0;
/// Width of the longest row in pixels.
const ROW_WIDTH: f64 = WIDTH - 2.0 * MARGIN;
/// Narrower frames have no border, which would leave nothing of them.
const BORDERED: f64 = 3.0;
/// Height of a row in pixels.
const ROW: u32 = 18;
/// Height of what stands above the rows.
const HEAD: u32 = 76;
/// Height of what stands below the rows.
const FOOT: u32 = 58;
/// Width of a character in pixels: the widest of the usual fonts.
const CHARACTER: f64 = 7.25;
/// Pixels of a row that a name cannot have.
const PADDING: f64 = 7.0;
/// No name of a function or module in the file is longer, in characters: some of C++ take kilobytes.
const LONGEST_NAME: usize = 300;
/// No title is longer, in characters.
const LONGEST_TITLE: usize = 160;

/// More than everything besides the frames takes in the file, in bytes.
pub(super) const FIXED_BYTES: usize = 40 << 10;

/// Digits that two places in the picture have at most beyond those that were counted, in bytes.
const LONGEST_PLACE: usize = 20;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// How the colours of two profiles come about.
pub(super) struct Comparison {
    change: Change,
    /// The change that has the strongest colour: the largest of a function, or a hundredth of the whole.
    most: f64,
    /// The part of the first profile that the second has no frames for.
    gone: f64,
}

impl Comparison {
    /// Of a tree with the second profile as its first, since that is the one that is drawn.
    pub(super) fn new(tree: &Tree, change: Change) -> Self {
        let (after, before) = (tree.nodes[0].sum.weight, tree.nodes[0].other.weight);
        let mut comparison = Self { change, most: 0.0, gone: share(tree.missing, before) };
        let code = (1..tree.nodes.len()).filter(|&node| tree.name(node).kind != Kind::Group);
        let most = code.map(|node| comparison.of(tree, node).abs()).fold(0.0, f64::max);
        // Two recordings are never quite the same: where nothing changed by more than a hundredth, nothing shall look as if.
        comparison.most = most.max(match change {
            Change::Share => 0.01,
            Change::Absolute => (after.max(before) as f64 * 0.01).max(1.0),
        });
        comparison
    }

    /// The change of a node: of its share, or in the unit of the measure.
    fn of(&self, tree: &Tree, node: usize) -> f64 {
        let (all, node) = (&tree.nodes[0], &tree.nodes[node]);
        match self.change {
            Change::Share => share(node.sum.weight, all.sum.weight) - share(node.other.weight, all.other.weight),
            Change::Absolute => node.sum.weight as f64 - node.other.weight as f64,
        }
    }

    fn text(&self, change: f64, measure: Measure) -> String {
        match self.change {
            Change::Share => format!("{:+.2} percentage points", change * 100.0),
            Change::Absolute => {
                let sign = if change < 0.0 { "−" } else { "+" };
                format!("{sign}{}", figure(change.abs() as u64, measure))
            }
        }
    }
}

/// How frames are written.
pub(super) struct Cells<'a> {
    pub(super) tree: &'a Tree,
    pub(super) comparison: Option<&'a Comparison>,
    pub(super) measure: Measure,
}

impl Cells<'_> {
    /// At most as many bytes as a frame takes in the file, wherever it will be.
    pub(super) fn bytes(&self, node: usize, scratch: &mut String) -> usize {
        let Node { depth, sum, .. } = self.tree.nodes[node];
        scratch.clear();
        // A third of the whole has as many digits as any place.
        let cell = Cell { node: node as u32, depth, start: self.total() / 3, weight: sum.weight };
        self.push(scratch, &cell, 999_999);
        scratch.len() + LONGEST_PLACE
    }

    fn total(&self) -> u64 {
        self.tree.nodes[0].sum.weight
    }

    /// Adds a frame whose row begins at `top`.
    fn push(&self, out: &mut String, cell: &Cell, top: u32) {
        let node = cell.node as usize;
        let name = self.tree.name(node);
        let (function, module) = (self.tree.text(name.text), self.tree.text(name.module));
        let function = if function.is_empty() { "[unknown]" } else { function };
        let class = match &self.comparison {
            Some(comparison) if name.kind != Kind::Group => {
                colour::change_class(comparison.of(self.tree, node) / comparison.most)
            }
            Some(_) => "z".to_owned(),
            None => colour::class(name.kind, module, function),
        };
        let pixels = share(cell.weight, self.total()) * ROW_WIDTH;
        let thin = if pixels < BORDERED { " thin" } else { "" };
        let _ = write!(out, "<g class=\"{class}{thin}\"><title>");
        let function = shorten(function, LONGEST_NAME);
        push_xml(out, &function);
        if !module.is_empty() {
            out.push('\n');
            push_xml(out, &shorten(module, LONGEST_NAME));
        }
        let _ = write!(out, "\n{}</title>", self.figures(cell));
        let x = place(cell.start, self.total());
        let width = place(cell.weight, self.total());
        let _ = write!(out, "<rect x=\"{x}%\" y=\"{top}\" width=\"{width}%\" height=\"{}\"/>", ROW - 1);
        if let Some(shown) = fit(&plain(&function), room(pixels)) {
            let _ = write!(out, "<text x=\"{x}%\" y=\"{}\" dx=\"4\">", top + 13);
            push_xml(out, &shown);
            out.push_str("</text>");
        }
        out.push_str("</g>\n");
    }

    /// The line of a frame's figures.
    fn figures(&self, cell: &Cell) -> String {
        let node = &self.tree.nodes[cell.node as usize];
        let total = self.total();
        let mut text = format!("{}, {}", figure(cell.weight, self.measure), percent(share(cell.weight, total)));
        match &self.comparison {
            None => {
                if self.measure.unit != Unit::Count {
                    let _ = write!(text, ", {} {}", grouped(node.sum.count), self.measure.counted);
                }
                let _ = write!(text, "; own {}, {}", figure(node.own, self.measure), percent(share(node.own, total)));
            }
            Some(comparison) => {
                let before = node.other.weight;
                let _ = write!(
                    text,
                    "; before {}, {}; {}",
                    figure(before, self.measure),
                    percent(share(before, self.tree.nodes[0].other.weight)),
                    match before {
                        0 => "new".to_owned(),
                        _ => comparison.text(comparison.of(self.tree, cell.node as usize), self.measure),
                    },
                );
            }
        }
        text
    }
}

/// All that a picture shows.
pub(super) struct Picture<'a> {
    pub(super) tree: &'a Tree,
    pub(super) layout: &'a Layout,
    pub(super) selection: &'a Selection,
    pub(super) comparison: Option<Comparison>,
    pub(super) title: &'a str,
    pub(super) subtitle: &'a str,
    pub(super) orientation: Orientation,
    pub(super) measure: Measure,
}

/// How many characters a row of this width has room for.
fn room(pixels: f64) -> usize {
    ((pixels - PADDING) / CHARACTER).max(0.0) as usize
}

/// The text cut to the room that it has, or none where too little would be left to read.
fn fit(text: &str, room: usize) -> Option<String> {
    let width = |c: char| c.width().unwrap_or(0);
    if room < 3 {
        return None;
    }
    if text.chars().map(width).sum::<usize>() <= room {
        return Some(text.to_owned());
    }
    let mut cut = String::new();
    let mut left = room - 1;
    for c in text.chars() {
        match left.checked_sub(width(c)) {
            Some(rest) => left = rest,
            None => break,
        }
        cut.push(c);
    }
    cut.push('…');
    Some(cut)
}

/// A part of the whole in percent, as places in the picture are given. Five digits are enough to zoom in ten thousand times.
fn place(part: u64, whole: u64) -> String {
    let text = format!("{:.5}", share(part, whole) * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Picture<'_> {
    /// The file.
    pub(super) fn svg(&self) -> String {
        let height = HEAD + self.layout.rows * ROW + FOOT;
        let mut out = String::with_capacity(FIXED_BYTES + self.layout.cells.len() * 300);
        let mut label = String::new();
        push_xml(&mut label, &shorten(self.title, LONGEST_TITLE));
        let _ = write!(
            out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" width=\"{WIDTH}\" \
             height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" aria-label=\"{label}\" data-total=\"{total}\" data-row=\"{ROW}\"{unit} \
             data-up=\"{up}\">\n<style>\n{STYLE}{rules}\n</style>\n<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n",
            total = self.total(),
            unit = match self.measure.unit {
                Unit::Nanoseconds => "",
                Unit::Bytes => " data-unit=\"bytes\"",
                Unit::Count => " data-unit=\"count\"",
            },
            up = matches!(self.orientation, Orientation::Flame),
            rules = colour::rules(self.comparison.is_some()),
        );
        let _ = writeln!(out, "<svg class=\"frames\" x=\"{MARGIN}\" width=\"{ROW_WIDTH}\">");
        let cells = Cells { tree: self.tree, comparison: self.comparison.as_ref(), measure: self.measure };
        let drawn = &self.layout.cells;
        let parts = in_halves(drawn.len(), |places| {
            let mut part = String::with_capacity(places.len() * 300);
            drawn[places].iter().for_each(|cell| cells.push(&mut part, cell, self.top_of(cell.depth)));
            part
        });
        parts.iter().for_each(|part| out.push_str(part));
        out.push_str("</svg>\n");
        self.push_head(&mut out);
        self.push_foot(&mut out, height);
        let _ = write!(out, "<script><![CDATA[\n{SCRIPT}]]></script>\n</svg>\n");
        out
    }

    fn total(&self) -> u64 {
        self.tree.nodes[0].sum.weight
    }

    fn top_of(&self, depth: u32) -> u32 {
        HEAD + ROW
            * match self.orientation {
                Orientation::Icicle => depth,
                Orientation::Flame => self.layout.rows - 1 - depth,
            }
    }

    fn push_head(&self, out: &mut String) {
        let _ = write!(out, "<g class=\"head\"><rect class=\"back\" width=\"100%\" height=\"{}\"/>", HEAD - 4);
        out.push_str("<text class=\"title\" x=\"10\" y=\"24\">");
        push_xml(out, &shorten(self.title, LONGEST_TITLE));
        out.push_str("</text><text class=\"subtitle\" x=\"10\" y=\"43\">");
        // Threads wait at the same time, so these sums say nothing about the clock on the wall.
        let of = match self.measure.unit {
            _ if [Measure::CPU, Measure::PATH].contains(&self.measure) => " time",
            Unit::Nanoseconds => " time of all threads",
            Unit::Bytes | Unit::Count => "",
        };
        let total = figure(self.total(), self.measure);
        let mut subtitle = format!("{}{of}, {total}", self.measure.label);
        if let Some(comparison) = &self.comparison {
            let before = figure(self.tree.nodes[0].other.weight, self.measure);
            let what = match comparison.change {
                Change::Share => "share",
                Change::Absolute => match self.measure.unit {
                    Unit::Nanoseconds => "time",
                    Unit::Bytes => "bytes",
                    Unit::Count => "number",
                },
            };
            let _ = write!(subtitle, ", before {before}; widths: after, colours: change of {what}");
        }
        if !self.subtitle.is_empty() {
            let _ = write!(subtitle, " · {}", self.subtitle);
        }
        push_xml(out, &shorten(&subtitle, LONGEST_TITLE));
        out.push_str("</text><text class=\"info\" x=\"10\" y=\"64\"> </text></g>\n");
    }

    fn push_foot(&self, out: &mut String, height: u32) {
        let y = height - FOOT + 16;
        out.push_str("<g class=\"foot\">");
        let mut x = 10;
        let mut swatch = |class: &str, label: &str, out: &mut String| {
            let _ = write!(out, "<g class=\"{class}\"><rect x=\"{x}\" y=\"{y}\" width=\"12\" height=\"12\"/></g>");
            x += 12;
            if !label.is_empty() {
                let _ = write!(out, "<text x=\"{}\" y=\"{}\">{label}</text>", x + 5, y + 10);
                x += 5 + (label.chars().count() as f64 * CHARACTER) as u32 + 16;
            }
        };
        match &self.comparison {
            None => {
                for family in FAMILIES.iter().filter(|family| !family.label.is_empty()) {
                    let shown = |cell: &Cell| self.tree.name(cell.node as usize).kind == family.kind;
                    if self.layout.cells.iter().any(shown) {
                        swatch(&colour::legend_class(family), family.label, out);
                    }
                }
            }
            Some(comparison) => {
                for step in (1..=STEPS).rev() {
                    let label = if step == 1 { "less" } else { "" };
                    swatch(&format!("b{step}"), label, out);
                }
                swatch("z", "same", out);
                for step in 1..=STEPS {
                    let label = if step == STEPS {
                        format!("more, up to {}", comparison.text(comparison.most, self.measure))
                    } else {
                        String::new()
                    };
                    swatch(&format!("r{step}"), &label, out);
                }
            }
        }
        let _ = write!(out, "<text class=\"note\" x=\"10\" y=\"{}\">", y + 31);
        out.push_str(&self.note());
        out.push_str("</text></g>\n");
    }

    /// What is not in the picture.
    fn note(&self) -> String {
        let selection = self.selection;
        let mut note = match selection.folded {
            0 => "All frames are shown.".to_owned(),
            folded => format!(
                "{} shown; {} narrower or deeper ones folded into their callers ({} of the time).",
                count(self.layout.cells.len(), "frame"),
                grouped(folded as u64),
                percent(share(selection.folded_weight, self.total())),
            ),
        };
        if let Some(comparison) = &self.comparison
            && comparison.gone > 0.0
        {
            let _ = write!(
                note,
                " {} of the first profile is in calls that the second does not have.",
                percent(comparison.gone)
            );
        }
        note
    }
}
