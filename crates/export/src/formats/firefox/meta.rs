//! The parts of a file that are the same in every file: categories, marker schemas, and the shape of a library.

use std::fmt;

use tracesift_json::Writer;

use super::KINDS;
use crate::profile::Origin;

pub(super) fn write_library(json: &mut Writer<impl fmt::Write>, name: &str) {
    json.begin_object();
    for (key, value) in
        [("arch", ""), ("name", name), ("path", name), ("debugName", name), ("debugPath", name), ("breakpadId", "")]
    {
        json.key(key);
        json.text(value);
    }
    json.key("codeId");
    json.null();
    json.end_object();
}

pub(super) fn write_categories(json: &mut Writer<impl fmt::Write>) {
    let colour = |origin| match origin {
        Origin::User => "yellow",
        Origin::Kernel => "blue",
        Origin::Managed => "green",
        Origin::Jit => "purple",
        Origin::Unresolved => "darkgrey",
        Origin::State => "lightblue",
        Origin::Disturbance => "red",
    };
    let all = Origin::ALL.iter().map(|&origin| (origin.label(), colour(origin)));
    json.begin_array();
    // The viewer wants a grey one.
    for (name, colour) in all.chain([("Other", "grey")]) {
        json.begin_object();
        json.key("name");
        json.text(name);
        json.key("color");
        json.text(colour);
        json.key("subcategories");
        json.texts(["Other"]);
        json.end_object();
    }
    json.end_array();
}

pub(super) fn write_marker_schemas(json: &mut Writer<impl fmt::Write>) {
    const DETAIL: &str = "{marker.data.detail}";
    json.begin_array();
    for kind in KINDS {
        json.begin_object();
        json.key("name");
        json.text(kind.label());
        json.key("display");
        json.texts(["marker-chart", "marker-table", "timeline-overview"]);
        for key in ["tableLabel", "chartLabel"] {
            json.key(key);
            json.text(DETAIL);
        }
        json.key("tooltipLabel");
        json.text_of(format_args!("{}: {DETAIL}", kind.label()));
        json.key("fields");
        json.begin_array();
        json.begin_object();
        for (key, value) in [("key", "detail"), ("label", "Detail"), ("format", "unique-string")] {
            json.key(key);
            json.text(value);
        }
        json.end_object();
        json.end_array();
        json.end_object();
    }
    json.end_array();
}
