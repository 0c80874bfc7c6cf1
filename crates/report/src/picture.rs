//! Shapes that several pictures have.

use crate::html::{Html, at};

/// A line between two points.
pub(crate) fn line(html: &mut Html, class: &str, [x1, y1, x2, y2]: [f64; 4]) {
    html.shape("line", &[("class", &class), ("x1", &at(x1)), ("y1", &at(y1)), ("x2", &at(x2)), ("y2", &at(y2))]);
}

/// A text at a point.
pub(crate) fn text(html: &mut Html, class: &str, [x, y]: [f64; 2], text: &str) {
    html.element("text", &[("class", &class), ("x", &at(x)), ("y", &at(y))], text);
}
