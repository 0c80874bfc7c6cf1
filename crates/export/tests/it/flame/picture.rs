//! Reads a picture back: only what stands in the file, no script.

use roxmltree::Document;

/// A frame of a picture.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// The names of the frame and its callers, outermost first, as `module!function`.
    pub(crate) path: Vec<String>,
    /// Where it begins and how wide it is, in percent of the whole.
    pub(crate) x: f64,
    pub(crate) width: f64,
    pub(crate) y: f64,
    pub(crate) class: String,
    /// The line of figures.
    pub(crate) figures: String,
    /// The text in the row, if there is one.
    pub(crate) text: Option<String>,
}

/// The frames of a picture in their order.
pub(crate) fn cells(svg: &str) -> Vec<Cell> {
    let document = Document::parse(svg).expect("well-formed XML");
    let frames = document.descendants().find(|node| node.attribute("class") == Some("frames")).expect("frames");
    let mut cells: Vec<Cell> = Vec::new();
    let mut root_y = None;
    for group in frames.children().filter(|node| node.has_tag_name("g")) {
        let child = |name: &str| group.children().find(|node| node.tag_name().name() == name);
        let rect = child("rect").expect("a rectangle");
        let number = |name: &str| rect.attribute(name).unwrap().trim_end_matches('%').parse::<f64>().unwrap();
        let title = child("title").and_then(|title| title.text()).expect("a title");
        let lines: Vec<&str> = title.split('\n').collect();
        let name = if lines.len() > 2 { format!("{}!{}", lines[1], lines[0]) } else { lines[0].to_owned() };
        let y = number("y");
        let depth = ((y - *root_y.get_or_insert(y)).abs() / 18.0).round() as usize;
        let mut path = cells.last().map(|last| last.path.clone()).unwrap_or_default();
        path.truncate(depth);
        assert_eq!(path.len(), depth, "a frame without its caller");
        path.push(name);
        cells.push(Cell {
            path,
            x: number("x"),
            width: number("width"),
            y,
            class: group.attribute("class").unwrap().to_owned(),
            figures: (*lines.last().unwrap()).to_owned(),
            text: child("text").and_then(|text| text.text()).map(str::to_owned),
        });
    }
    cells
}

/// The line below the picture.
pub(crate) fn note(svg: &str) -> String {
    let document = Document::parse(svg).expect("well-formed XML");
    let note = document.descendants().find(|node| node.attribute("class") == Some("note"));
    note.and_then(|note| note.text()).expect("a note").to_owned()
}
