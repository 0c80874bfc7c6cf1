//! The files of the page. They are served as they stand in `page`.

use std::sync::LazyLock;

use axum::http::HeaderValue;

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
    "state/command.js",
    "state/landmark.js",
    "state/saved.js",
    "state/url.js",
    "state/view.js",
}

/// The page.
pub(crate) const INDEX: &[u8] = include_bytes!("../page/index.html");

/// The `Link` header of the page: every script that it needs, so that the browser asks for all of them at once. Without it, the
/// browser learns of a script when it has read the one that imports it, and the page waits for a round for each level.
pub(crate) static PRELOAD: LazyLock<HeaderValue> = LazyLock::new(|| {
    let links: Vec<String> =
        scripts("main.js").iter().map(|name| format!("</assets/{name}>;rel=modulepreload")).collect();
    // Names of files are ASCII. Without the header, the page is the same and comes later.
    HeaderValue::try_from(links.join(",")).unwrap_or(HeaderValue::from_static(""))
});

/// A script and those that it imports, in the order in which they are met.
fn scripts(first: &'static str) -> Vec<&'static str> {
    let mut met = vec![first];
    let mut next = 0;
    while let Some(&name) = met.get(next) {
        next += 1;
        let source = ASSETS.iter().find(|asset| asset.name == name).map_or(&[][..], |asset| asset.bytes);
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        for path in String::from_utf8_lossy(source).lines().filter_map(imported) {
            let path = beside(folder, path);
            if let Some(asset) = ASSETS.iter().find(|asset| asset.name == path)
                && !met.contains(&asset.name)
            {
                met.push(asset.name);
            }
        }
    }
    met
}

/// The path that a line imports or exports from.
fn imported(line: &str) -> Option<&str> {
    let line = line.strip_suffix("\";")?;
    let (before, path) = line.rsplit_once('"')?;
    (before == "import " || before.ends_with(" from ")).then_some(path)
}

/// The name of the file at `path`, as a script in `folder` writes it.
fn beside(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

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

    use super::{ASSETS, PRELOAD, scripts};

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
        there.retain(|name| {
            !name.ends_with(".d.ts") && !name.ends_with(".json") && name != "assets.txt" && name != "index.html"
        });
        let served: BTreeSet<String> = ASSETS.iter().map(|asset| asset.name.to_owned()).collect();
        assert_eq!(served, there);
        assert_eq!(served.len(), ASSETS.len());
    }
    #[test]
    fn every_script_but_those_of_the_worker_is_preloaded() {
        let page: BTreeSet<&str> = scripts("main.js").into_iter().collect();
        let worker: BTreeSet<&str> = scripts("lanes/painter.js").into_iter().collect();
        let all: BTreeSet<&str> = ASSETS.iter().map(|asset| asset.name).filter(|name| name.ends_with(".js")).collect();
        assert_eq!(page.union(&worker).copied().collect::<BTreeSet<_>>(), all);
        assert!(!page.contains("lanes/painter.js"));
        assert_eq!(PRELOAD.to_str().unwrap().matches(";rel=modulepreload").count(), page.len());
    }
}
