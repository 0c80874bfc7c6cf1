//! Writes a recording of either system, to try a build with:
//!
//!     cargo run --release -p tracesift-scenario --example recordings -- DIRECTORY MEBIBYTES

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use tracesift_scenario::linux::{Knobs, write};
use tracesift_scenario::scale;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), Some(size)) = (arguments.next().map(PathBuf::from), arguments.next()) else {
        return Err("arguments: DIRECTORY MEBIBYTES".into());
    };
    let bytes = size.parse::<u64>()? << 20;
    std::fs::create_dir_all(&directory)?;
    let file = |name: &str| File::create(directory.join(name)).map(BufWriter::new);
    scale(file("windows.etl")?, bytes, 1)?;
    write(file("linux.perf.data")?, &Knobs { bytes, ..Knobs::default() })?;
    Ok(())
}
