//! A flame graph as one SVG file: what people attach to a bug report. It is right as a still picture, in a viewer without scripts, and
//! can be zoomed and searched in a browser, with nothing to install and nothing fetched.
//!
//! Frames that would be too narrow to see, or too many for the file's size, are folded into their callers; how much that is stands
//! below the picture.

mod colour;
mod halves;
mod layout;
mod render;
mod select;
mod text;

use std::io::{self, Write};

use crate::profile::About;
use crate::tree::{Depth, Grouping, Stacked, Tree};
use layout::Layout;
use render::{Cells, Comparison};

/// At which end the outermost frames are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Orientation {
    /// Outermost frames at the bottom, as flames rise.
    Flame,
    /// Outermost frames at the top, as icicles hang: the picture begins where one begins to read.
    Icicle,
}

/// What the colours of a comparison show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// The change of a frame's share of its profile. Right where the two were not recorded for the same time.
    Share,
    /// The change of a frame's weight.
    Absolute,
}

/// How a flame graph is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Flame {
    /// The title. Empty: the name of the recording.
    pub title: String,
    /// A line below the title, such as the filters in force. May be empty.
    pub subtitle: String,
    /// At which end the outermost frames are.
    pub orientation: Orientation,
    /// What stands below the outermost frames.
    pub grouping: Grouping,
    /// Frames with a smaller share of the whole, from 0 to 1, are folded into their callers.
    pub min_share: f64,
    /// Frames deeper than this are folded into their callers.
    pub max_depth: u32,
    /// The file is never larger than this, in bytes. What is below 64 KiB counts as 64 KiB.
    pub max_bytes: usize,
}

impl Default for Flame {
    fn default() -> Self {
        Self {
            title: String::new(),
            subtitle: String::new(),
            orientation: Orientation::Icicle,
            grouping: Grouping::Process,
            min_share: 0.000_1,
            max_depth: 1_000,
            max_bytes: 2 << 20,
        }
    }
}

/// What was drawn and what was not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Nanoseconds of the whole picture.
    pub total: u64,
    /// How many frames were drawn.
    pub frames: usize,
    /// How many frames were folded into their callers, not counting those that they call.
    pub folded: usize,
    /// Nanoseconds of what was folded. They are in the picture as their callers' own.
    pub folded_weight: u64,
    /// Size of the file in bytes.
    pub bytes: usize,
}

impl Flame {
    /// Draws one profile.
    ///
    /// # Errors
    ///
    /// What `out` says.
    pub fn write<'a>(&self, profile: impl Into<Stacked<'a>>, out: &mut impl Write) -> io::Result<Drawn> {
        let profile = profile.into();
        let about = profile.about;
        let tree = Tree::of(profile, self.grouping, self.depth());
        self.draw(&tree, None, about, out)
    }

    /// Draws the second of two profiles, coloured by what changed since the first: red is more, blue is less.
    ///
    /// Frames of the two are the same when all names on the way to them are the same, so process ids should not be among them:
    /// [`Grouping::Program`]. Frames that only the first has are not drawn; their share stands below the picture.
    ///
    /// # Errors
    ///
    /// What `out` says.
    pub fn write_change<'a>(
        &self,
        before: impl Into<Stacked<'a>>,
        after: impl Into<Stacked<'a>>,
        change: Change,
        out: &mut impl Write,
    ) -> io::Result<Drawn> {
        let after = after.into();
        let about = after.about;
        let tree = Tree::of_two(after, before.into(), self.grouping, self.depth());
        self.draw(&tree, Some(change), about, out)
    }

    fn depth(&self) -> Depth {
        // At least one of the unit: what only the first of two profiles has is no part of the picture.
        Depth { min_share: self.min_share.clamp(f64::MIN_POSITIVE, 1.0), max_depth: self.max_depth }
    }

    fn draw(&self, tree: &Tree, change: Option<Change>, about: &About, out: &mut impl Write) -> io::Result<Drawn> {
        let measure = about.measure;
        let comparison = change.map(|change| Comparison::new(tree, change));
        let budget = self.max_bytes.max(64 << 10).saturating_sub(render::FIXED_BYTES);
        let cells = Cells { tree, comparison: comparison.as_ref(), measure };
        let selection = select::select(tree, budget, |nodes| {
            let mut scratch = String::new();
            nodes.iter().map(|&node| cells.bytes(node as usize, &mut scratch)).collect()
        });
        let layout = Layout::new(tree, &selection);
        let picture = render::Picture {
            tree,
            layout: &layout,
            selection: &selection,
            comparison,
            title: if self.title.is_empty() { &about.name } else { &self.title },
            subtitle: &self.subtitle,
            orientation: self.orientation,
            measure,
        };
        let svg = picture.svg();
        out.write_all(svg.as_bytes())?;
        Ok(Drawn {
            total: tree.nodes[0].sum.weight,
            frames: layout.cells.len(),
            folded: selection.folded,
            folded_weight: selection.folded_weight,
            bytes: svg.len(),
        })
    }
}
