//! What all pages have in common: head and title, style and script, and the hashes that allow these and nothing else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::colours::HATCH;
use crate::html::Html;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The head of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'a> {
    pub(crate) title: &'a str,
    /// The command that made the page.
    pub(crate) command: &'a str,
    /// The version of the program.
    pub(crate) tool_version: &'a str,
    /// What is left out, a sentence each.
    pub(crate) notes: &'a [String],
}

/// A page: what `add` adds stands between its head and the paragraphs on how its numbers are made.
pub(crate) fn framed(head: &Head<'_>, method: &[&str], add: impl FnOnce(&mut Html)) -> String {
    let mut html = Html::default();
    html.raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    html.raw(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">"));
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">");
    html.raw("<link rel=\"icon\" href=\"data:,\">");
    html.element("title", &[], head.title);
    html.raw(&format!("<style>{STYLE}</style></head><body>"));
    html.raw(HATCH);
    html.raw("<header>");
    html.element("h1", &[], head.title);
    html.element("p", &[("class", &"made")], &format!("tracesift {} {}", head.command, head.tool_version));
    head.notes.iter().for_each(|note| html.element("p", &[("class", &"note")], note));
    html.raw("</header>");
    html.raw("<main>");
    add(&mut html);
    html.raw("<section id=\"method\"><h2>How the numbers are made</h2>");
    for text in method {
        html.open("p", &[]);
        html.prose(text);
        html.close("p");
    }
    html.raw("</section></main><div id=\"tip\" role=\"status\" hidden></div>");
    html.raw(&format!("<script>{SCRIPT}</script></body></html>\n"));
    html.finish()
}

/// The hash that allows a text of the page, as a content security policy has it.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn the_hash_is_the_one_that_browsers_compute() {
        // The example of the specification of Content Security Policy, level 2.
        assert_eq!(hash("alert('Hello, world.');"), "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
    }
}
