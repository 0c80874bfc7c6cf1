//! Folded stacks: one line per stack, frames outermost first and divided by `;`, then a space and the weight. The oldest format of
//! flame graphs, and the only one that `grep`, `sort` and `awk` read, too.
//!
//! Weights are nanoseconds. The format knows no escapes: `;` in a name becomes `:`, line breaks and other controls become spaces.

use std::io::{self, Write};

use crate::escape::push_folded;
use crate::tree::{Depth, Grouping, Stacked, Tree};

/// Writes a line per stack that has a weight of its own. Lines of one function sequence are one line.
///
/// # Errors
///
/// What `out` says.
pub fn write<'a>(profile: impl Into<Stacked<'a>>, grouping: Grouping, out: &mut impl Write) -> io::Result<()> {
    let tree = Tree::of(profile.into(), grouping, Depth::ALL);
    // Each name is escaped once, not once per line.
    let names: Vec<String> = tree
        .labels()
        .map(|label| {
            let mut name = String::with_capacity(label.len());
            push_folded(&mut name, &label);
            name
        })
        .collect();
    let mut path = Vec::new();
    let mut line = String::new();
    for (node, row) in tree.nodes.iter().enumerate().filter(|(_, row)| row.own > 0) {
        path.clear();
        let mut at = node;
        while at != 0 {
            path.push(at);
            at = tree.nodes[at].parent as usize;
        }
        line.clear();
        for &part in path.iter().rev() {
            if !line.is_empty() {
                line.push(';');
            }
            line.push_str(&names[tree.nodes[part].name as usize]);
        }
        writeln!(out, "{line} {}", row.own)?;
    }
    Ok(())
}
