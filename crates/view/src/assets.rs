//! The files of the page. They are served as they stand in `page`.

/// A file of the page.
#[derive(Debug)]
pub(crate) struct Asset {
    /// Its name below `/assets/`.
    pub(crate) name: &'static str,
    pub(crate) bytes: &'static [u8],
}

macro_rules! assets {
    ($($name:literal,)*) => {
        /// All of them but for the page itself.
        pub(crate) const ASSETS: &[Asset] = &[
            $(Asset { name: $name, bytes: include_bytes!(concat!("../page/", $name)) },)*
        ];
    };
}

// A line for each file of `page`.
assets! {
    "api/client.js",
    "api/early.js",
    "api/frames.js",
    "css/forced.css",
    "css/lanes.css",
    "css/layout.css",
    "css/panels.css",
    "css/print.css",
    "css/theme.css",
    "dom.js",
    "dom/controls.js",
    "dom/events.js",
    "dom/h.js",
    "dom/list.js",
    "dom/signal.js",
    "format.js",
    "format/table.js",
    "format/text.js",
    "format/time.js",
    "icon.svg",
    "lanes/axis.js",
    "lanes/bitmaps.js",
    "lanes/compositor.js",
    "lanes/data.js",
    "lanes/geometry.js",
    "lanes/layer.js",
    "lanes/model.js",
    "lanes/overlay.js",
    "lanes/overview.js",
    "lanes/paint.js",
    "lanes/painter.js",
    "lanes/palette.js",
    "lanes/path.js",
    "lanes/rows.js",
    "lanes/singles.js",
    "lanes/sticky.js",
    "lanes/view.js",
    "main.js",
    "panels/bar.js",
    "panels/chain.js",
    "panels/detail.js",
    "panels/dock.js",
    "panels/explain.js",
    "panels/flame.js",
    "panels/foot.js",
    "panels/go.js",
    "panels/questions.js",
    "panels/row-menu.js",
    "panels/table.js",
    "panels/tree.js",
    "panels/which.js",
    "parts/actions.js",
    "parts/banner.js",
    "parts/density.js",
    "parts/findings.js",
    "parts/keys.js",
    "parts/lane-menu.js",
    "parts/lane-table.js",
    "parts/menu.js",
    "parts/moves.js",
    "parts/palette.js",
    "parts/path.js",
    "parts/pointer.js",
    "parts/readout.js",
    "parts/search.js",
    "parts/spans.js",
    "parts/view-file.js",
    "parts/zero.js",
    "rest.js",
    "state/command.js",
    "state/landmark.js",
    "state/saved.js",
    "state/url.js",
    "state/view.js",
}

/// The page.
pub(crate) const INDEX: &[u8] = include_bytes!("../page/index.html");

/// The media type of a file, by its name.
pub(crate) fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "html" => "text/html; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::ASSETS;

    fn files(directory: &Path, above: &str, into: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{above}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                files(&entry.path(), &format!("{name}/"), into);
            } else {
                into.insert(name);
            }
        }
    }

    #[test]
    fn every_file_of_the_page_is_served() {
        let mut there = BTreeSet::new();
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("page"), "", &mut there);
        // Types are for the check of the page alone, the page itself is no file below `/assets/`.
        there.retain(|name| !name.ends_with(".d.ts") && !name.ends_with(".json") && name != "index.html");
        let served: BTreeSet<String> = ASSETS.iter().map(|asset| asset.name.to_owned()).collect();
        assert_eq!(served, there);
        assert_eq!(served.len(), ASSETS.len());
    }
}
