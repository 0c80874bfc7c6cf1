//! The style classes of colours. States have the colours that `tracesift view` gives them; disturbances are hatched, too, so that they
//! are told apart without colours.

use crate::html::{Attribute, Html, at};
use crate::model::comparison::Kind;

/// The class of a kind of time.
pub(crate) fn class(kind: &Kind) -> String {
    let letters: String = kind.word.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    format!("{}-{letters}", if kind.is_disturbance { "d" } else { "s" })
}

/// A rectangle; what somebody else took is hatched.
pub(crate) fn area(html: &mut Html, class: &str, [x, y, width, height]: [f64; 4], is_hatched: bool) {
    let [x, y, width, height] = [x, y, width, height].map(at);
    let place: [Attribute<'_>; 4] = [("x", &x), ("y", &y), ("width", &width), ("height", &height)];
    let classes: [Attribute<'_>; 1] = [("class", &class)];
    html.shape("rect", &[&classes[..], &place].concat());
    if is_hatched {
        let hatched: [Attribute<'_>; 1] = [("class", &"hatched")];
        html.shape("rect", &[&hatched[..], &place].concat());
    }
}

/// The pattern of hatches, once per page.
pub(crate) const HATCH: &str = concat!(
    r#"<svg class="defs" width="0" height="0" aria-hidden="true"><defs>"#,
    r#"<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">"#,
    r#"<rect class="hatch" width="2" height="6"/></pattern></defs></svg>"#
);

/// A legend: squares with their names.
pub(crate) fn legend<'a>(html: &mut Html, entries: impl Iterator<Item = (String, &'a str, bool)>) {
    html.open("ul", &[("class", &"legend")]);
    for (class, label, is_hatched) in entries {
        html.open("li", &[]);
        html.open("svg", &[("width", &14), ("height", &14), ("aria-hidden", &"true")]);
        area(html, &class, [0.0, 0.0, 14.0, 14.0], is_hatched);
        html.close("svg");
        html.text(label);
        html.close("li");
    }
    html.close("ul");
}
