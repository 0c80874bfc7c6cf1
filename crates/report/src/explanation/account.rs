//! The account of a window: the shares as a bar and as a table, and the largest rows.

use super::span::{LEFT, RIGHT, WIDTH, Window};
use super::{part, percent};
use crate::colours::{area, class, legend};
use crate::html::{Html, at};
use crate::model::explanation::Account;
use crate::numbers::ms;
use crate::picture::text;

/// The bar, the braces above and below it, and the picture.
const BAR: [f64; 2] = [32.0, 76.0];
const ABOVE: f64 = 24.0;
const BELOW: f64 = 106.0;
const HEIGHT: f64 = 130.0;

/// The shares of a window.
pub(super) fn add_shares(html: &mut Html, account: &Account) {
    add_picture(html, account);
    add_table(html, account);
}

fn add_picture(html: &mut Html, account: &Account) {
    html.raw("<figure class=\"shares-of\"><figcaption>Shares of the window, ms since its start</figcaption>");
    let shares = || account.shares.iter().filter(|share| share.time > 0);
    legend(html, shares().map(|share| (class(&share.kind), share.kind.label.as_str(), share.kind.is_disturbance)));
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Shares of the window, picture\">");
    let told =
        |label: &str, time: i64| format!("{label}: {} ms, {} %", ms(time as f64), percent(part(time, account.length)));
    let parts: Vec<String> = shares().map(|share| told(&share.kind.label, share.time)).collect();
    let label = format!("A bar as long as the window. The table below has each value. {}.", parts.join("; "));
    html.open("svg", &[("viewBox", &format!("0 0 {WIDTH} {HEIGHT}")), ("role", &"img"), ("aria-label", &label)]);
    let window = Window::of(account);
    let mut from = 0_i64;
    for share in shares() {
        let to = from.saturating_add(share.time);
        let [left, right] = [from, to].map(|time| window.at(time));
        let tip = told(&share.kind.label, share.time);
        html.open("g", &[("class", &"share"), ("data-v", &share.time), ("data-tip", &tip)]);
        let place = [left, BAR[0], right - left, BAR[1] - BAR[0]];
        area(html, &class(&share.kind), place, share.kind.is_disturbance);
        html.close("g");
        from = to;
    }
    window.add_axis(html, [BAR[1], BAR[1] + 5.0]);
    // The test's own shares stand before the disturbances, so a brace holds each of both.
    let (own, others) = (account.undisturbed, account.length.saturating_sub(account.undisturbed));
    let middle = window.at(own);
    if own > 0 {
        brace(html, [LEFT, middle], [ABOVE, ABOVE + 5.0]);
        text(html, "says start", [LEFT, ABOVE - 6.0], &told("Undisturbed", own));
    }
    if others > 0 {
        brace(html, [middle, RIGHT], [ABOVE, ABOVE + 5.0]);
        text(html, "says end", [RIGHT, ABOVE - 6.0], &told("Disturbances", others));
    }
    brace(html, [LEFT, RIGHT], [BELOW, BELOW - 5.0]);
    text(html, "says", [(LEFT + RIGHT) / 2.0, BELOW + 15.0], &told("Window", account.length));
    html.raw("</svg></div></figure>");
}

/// A line with an end on either side, which shows how far a text applies.
fn brace(html: &mut Html, [left, right]: [f64; 2], [line, ends]: [f64; 2]) {
    let [left, right, line, ends] = [left, right, line, ends].map(at);
    html.shape("path", &[("class", &"brace"), ("d", &format!("M{left} {ends}V{line}H{right}V{ends}"))]);
}

/// The shares as numbers, with their sum.
fn add_table(html: &mut Html, account: &Account) {
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Shares of the window\">");
    html.raw("<table class=\"shares parts numbers\"><caption>The shares add up to the window.</caption>");
    html.heads(&["ms", "%", "Share"]);
    html.raw("<tbody>");
    for share in &account.shares {
        let name = if share.kind.is_disturbance { "disturbance" } else { "state" };
        html.open("tr", &[("data-kind", &share.kind.word), ("data-of", &name)]);
        add_part(html, share.time, account.length, &share.kind.label);
    }
    html.raw("</tbody><tfoot><tr class=\"sum\">");
    add_part(html, account.length, account.length, "window");
    html.raw("<tr class=\"rest\">");
    add_part(html, account.undisturbed, account.length, "undisturbed: the window without disturbances");
    html.raw("</tfoot></table></div>");
}

/// The largest rows. With the row for all others they add up to the window, too.
pub(super) fn add_rows(html: &mut Html, account: &Account) {
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"The largest rows\">");
    html.raw("<table class=\"largest parts numbers searched\" data-search=\"Search the rows\">");
    let shown = account.largest.len();
    let rows = if account.rows == shown {
        format!("All {shown} rows of the account.")
    } else {
        format!("The {shown} largest of {} rows. tracesift dump path has all of them.", account.rows)
    };
    html.element("caption", &[], &rows);
    html.heads(&["ms", "%", "Row"]);
    html.raw("<tbody>");
    for row in &account.largest {
        html.raw("<tr>");
        add_part(html, row.time, account.length, &row.text);
    }
    html.raw("</tbody><tfoot>");
    let rest = account.largest.iter().fold(account.length, |rest, row| rest.saturating_sub(row.time));
    if account.rows > shown {
        html.raw("<tr class=\"rest\">");
        add_part(html, rest, account.length, &format!("all others ({} rows)", account.rows - shown));
    }
    html.raw("<tr class=\"sum\">");
    add_part(html, account.length, account.length, "window");
    html.raw("</tfoot></table></div>");
}

/// The cells of a row whose time is a part of the window, and the end of the row.
fn add_part(html: &mut Html, time: i64, length: i64, name: &str) {
    let ratio = part(time, length);
    html.number(Some(time), &ms(time as f64));
    html.number(Some(ratio), &percent(ratio));
    html.element("th", &[("scope", &"row")], name);
    html.raw("</tr>");
}
