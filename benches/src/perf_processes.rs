//! Peak memory of the extract of a perf.data in which many programs start and end: what each of them costs.

use std::path::Path;

use crate::memory::{Peaks, of_extract};
use crate::scale;

const PROGRAMS: [u64; 2] = [20_000, 200_000];

#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let mut anonymous = Vec::new();
    for programs in PROGRAMS {
        let path = scale::processes(directory, programs)?;
        let bytes = std::fs::metadata(&path)?.len();
        let peaks = of_extract(&path);
        std::fs::remove_file(&path)?;
        let Peaks { anonymous: peak, resident } = peaks?;
        println!(
            "extract of {programs} processes, {} MiB: peak {} MiB anonymous (budget 512), {} MiB resident",
            bytes >> 20,
            peak >> 10,
            resident >> 10
        );
        anonymous.push(peak << 10);
    }
    let each = (anonymous[1] as f64 - anonymous[0] as f64) / (PROGRAMS[1] - PROGRAMS[0]) as f64;
    println!("each further process: {each:.0} bytes, budget 2048");
    Ok(())
}
