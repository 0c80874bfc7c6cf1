//! The file stays small and well-formed, whatever is in the profile.

use roxmltree::Document;
use tracesift_export::flame::{Change, Flame};
use tracesift_export::{About, Folded, Frame, Grouping, Measure, Origin, Profile, Sample};

use crate::flame::picture;
use crate::synthetic;

fn draw(profile: &Folded, flame: &Flame) -> String {
    let mut out = Vec::new();
    flame.write(profile, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_file_is_never_larger_than_two_mebibytes() {
    let large = synthetic::large(200_000, 30_000, 4).fold();
    let flame = Flame { min_share: 0.0, ..Flame::default() };
    let svg = draw(&large, &flame);
    assert!((1_500_000..=2 << 20).contains(&svg.len()), "{} bytes", svg.len());
    let mut out = Vec::new();
    flame.write_change(&large, &synthetic::large(200_000, 30_000, 5).fold(), Change::Share, &mut out).unwrap();
    assert!(out.len() <= 2 << 20, "{} bytes", out.len());
    Document::parse(str::from_utf8(&out).unwrap()).unwrap();
    for max_bytes in [0, 100_000, 300_000] {
        let svg = draw(&large, &Flame { max_bytes, ..flame.clone() });
        assert!(svg.len() <= max_bytes.max(64 << 10), "{} bytes", svg.len());
    }
}

#[test]
fn names_of_megabytes_are_cut() {
    let mut profile = Profile::new(About::new("&".repeat(1 << 20), Measure::WAIT));
    let thread = synthetic::thread(&mut profile.catalog, &"<".repeat(1 << 20), 1, "", 1);
    for at in 0..500 {
        let catalog = &mut profile.catalog;
        let function = catalog.string(&format!("{at}{}", "\"<>&".repeat(1 << 12)));
        let frame = catalog.frame(Frame { module: function, ..Frame::named(function, Origin::User) });
        let stack = catalog.stack([frame]);
        profile.samples.push(Sample { time: 0, thread, stack, weight: 1_000 });
    }
    let flame = Flame { title: "\u{1}<".repeat(1 << 20), subtitle: "&".repeat(1 << 20), ..Flame::default() };
    let svg = draw(&profile.fold(), &flame);
    assert!(svg.len() <= 2 << 20, "{} bytes", svg.len());
    Document::parse(&svg).unwrap();
}

#[test]
fn deep_stacks_are_cut_and_that_is_told() {
    let svg = draw(&synthetic::deep(10_000).fold(), &Flame::default());
    let cells = picture::cells(&svg);
    assert_eq!(cells.len(), 1_001);
    assert!(picture::note(&svg).contains("1 narrower or deeper"), "{}", picture::note(&svg));
    let svg = draw(&synthetic::deep(10_000).fold(), &Flame { max_depth: u32::MAX, ..Flame::default() });
    assert!(svg.len() <= 2 << 20);
    assert!(picture::cells(&svg).len() > 5_000);
}

#[test]
fn hostile_names_are_text() {
    let svg = draw(&synthetic::hostile().fold(), &Flame { grouping: Grouping::Thread, ..Flame::default() });
    let document = Document::parse(&svg).unwrap();
    let scripts: Vec<_> =
        document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "script"))).collect();
    assert_eq!(scripts.len(), 1);
    let script = scripts[0].text().unwrap();
    assert!(!script.contains("alert"), "no name gets into the script");
    let elements = ["svg", "style", "g", "rect", "text", "title", "script"];
    for node in document.descendants().filter(|node| node.is_element()) {
        assert!(elements.contains(&node.tag_name().name()), "{node:?}");
        assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")), "{node:?}");
    }
    assert!(!svg.contains(['\0', '\u{1b}', '\u{202e}', '\u{2066}', '\u{ffff}']));
    // Nothing is fetched from anywhere.
    assert!(!svg.contains("href") && !svg.contains("url(") && !svg.contains("@import"));
}

#[test]
fn no_samples_are_a_picture_too() {
    let svg = draw(&Folded::new(About::new("empty", Measure::READY)), &Flame::default());
    let cells = picture::cells(&svg);
    assert_eq!((cells.len(), cells[0].width), (1, 0.0));
}

#[test]
fn text_fits_its_row() {
    for cell in picture::cells(&draw(&synthetic::large(2_000, 200, 3).fold(), &Flame::default())) {
        if let Some(text) = cell.text {
            let pixels = cell.width / 100.0 * 1_180.0;
            assert!(text.chars().count() as f64 * 7.25 <= pixels, "{text} in {pixels} pixels");
            assert!(!cell.class.contains("thin"));
        }
    }
}
