//! The script in a browser: zoom, search, keys and what is said of a frame. A second script in the same file does what a user would and
//! leaves what it sees in an attribute.

use std::process::Command;

use serde_json::Value;
use tracesift_export::Profile;
use tracesift_export::flame::{Flame, Orientation};
use tracesift_fixtures::skipped;

use crate::synthetic;

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Runs the steps on a picture and gives what they return. None, with the reason, where there is no browser.
fn drive(profile: Profile, flame: &Flame, steps: &str) -> Option<Value> {
    let is_there = |browser: &&str| Command::new(browser).arg("--version").output().is_ok_and(|it| it.status.success());
    let Some(browser) = BROWSERS.iter().find(|browser| is_there(browser)) else {
        skipped(&format!("no browser among {BROWSERS:?}"));
        return None;
    };
    let mut out = Vec::new();
    flame.write(&profile.fold(), &mut out).unwrap();
    let svg = String::from_utf8(out).unwrap();
    let driver = format!(
        "<script><![CDATA[
const svg = document.documentElement;
window.alert = () => svg.setAttribute('data-alert', 'yes');
const groups = [...document.querySelectorAll('.frames > g')];
const find = (name) => groups.find((group) => group.querySelector('title').textContent.startsWith(name));
const info = () => document.querySelector('.info').textContent;
const point = (type, name) => find(name).querySelector('rect').dispatchEvent(new MouseEvent(type, {{ bubbles: true }}));
const key = (key, more) => (document.activeElement || svg).dispatchEvent(
  new KeyboardEvent('keydown', {{ key, bubbles: true, cancelable: true, ...more }}));
const field = document.querySelector('.tools input');
const type = (text) => {{ field.value = text; field.dispatchEvent(new Event('input')); }};
const shown = () => groups.filter((group) => group.style.display !== 'none').length;
const width = (name) => Math.round(parseFloat(find(name).querySelector('rect').getAttribute('width')) * 100) / 100;
let seen;
try {{ seen = (() => {{ {steps} }})(); }} catch (error) {{ seen = {{ error: String(error) }}; }}
svg.setAttribute('data-seen', encodeURIComponent(JSON.stringify(seen)));
]]></script></svg>"
    );
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("flame.svg");
    std::fs::write(&file, svg.trim_end().trim_end_matches("</svg>").to_owned() + &driver).unwrap();
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,800", "--dump-dom"])
        .arg(format!("--user-data-dir={}", directory.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    assert!(!dom.contains("data-alert=\""), "a name was run as a script");
    let seen = dom.split("data-seen=\"").nth(1).and_then(|rest| rest.split('"').next());
    let seen = seen.unwrap_or_else(|| panic!("nothing seen: {dom}\n{}", String::from_utf8_lossy(&output.stderr)));
    Some(serde_json::from_str(&decode(seen)).unwrap())
}

/// The reverse of `encodeURIComponent`.
fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn zoom_search_keys_and_info() {
    let steps = "
const seen = { frames: groups.length, before: width('handle_request') };
point('click', 'handle_request');
seen.zoomed = [width('handle_request'), width('RtlUserThreadStart'), width('parse'), shown(), info()];
key('Escape');
seen.reset = [width('handle_request'), shown()];
point('mouseover', 'next_token');
seen.pointed = info();
key('f', { ctrlKey: true });
seen.searching = document.activeElement === field;
type('server.EXE!');
seen.module = [info(), document.querySelectorAll('.hit').length];
type('ntreadfile');
seen.function = info();
key('Enter');
seen.match = info();
type('nothing has this name');
seen.nothing = info();
key('Escape');
seen.cleared = [document.querySelectorAll('.hit').length, field.value];
key('Home');
point('click', 'all');
key('ArrowDown');
seen.down = info();
key('ArrowRight');
seen.right = info();
key('ArrowUp');
seen.up = info();
return seen;";
    let Some(seen) = drive(synthetic::small(), &Flame::default(), steps) else { return };
    insta::assert_snapshot!(serde_json::to_string_pretty(&seen).unwrap());
}

#[test]
fn arrows_follow_the_orientation() {
    let steps = "point('click', 'all'); key('ArrowUp'); return info();";
    let flame = Flame { orientation: Orientation::Flame, ..Flame::default() };
    let Some(seen) = drive(synthetic::small(), &flame, steps) else { return };
    assert!(seen.as_str().unwrap().starts_with("server.exe(4)"), "{seen}");
}

#[test]
fn hostile_names_do_nothing_in_a_browser() {
    let steps = "
groups.forEach((group) => group.querySelector('rect').dispatchEvent(new MouseEvent('click', { bubbles: true })));
type('script');
return [groups.length, document.querySelectorAll('.frames script, .frames [onload], .frames [onclick]').length];";
    let Some(seen) = drive(synthetic::hostile(), &Flame::default(), steps) else { return };
    assert_eq!(seen, serde_json::json!([37, 0]));
}
