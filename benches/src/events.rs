//! `events` with a filter that nothing passes, against framing the same recording; and the time to the first event without one.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use tracesift_ask::events::{EventFilter, scan};
use tracesift_etl::EtlFile;
use tracesift_extract::Files;
use tracesift_grammar::Patterns;

use crate::measure::{RUNS, against, timed};
use crate::{SCALE_BYTES, framing, scale};

pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let path = scale::recording(directory, SCALE_BYTES)?;
    let nothing = EventFilter { provider: Patterns::parse("Nobody"), ..EventFilter::default() };
    let ours = || {
        let (events, time) = timed(|| events(&path, &nothing))?;
        anyhow::ensure!(events == 0, "{events} events of nobody");
        Ok(time)
    };
    against("events 1 GiB, none passes", Some(3.0), RUNS, ours, "framing", || Ok(timed(|| framing::walk(&path))?.1))?;
    say(timed(|| first(&path))?.1);
    Ok(())
}

fn events(path: &Path, filter: &EventFilter) -> anyhow::Result<u64> {
    let files = Files::Etl(vec![EtlFile::open_path(path)?]);
    Ok(scan(&files, filter, &mut |_| ControlFlow::Continue(()))?.events)
}

fn first(path: &Path) -> anyhow::Result<u64> {
    let files = Files::Etl(vec![EtlFile::open_path(path)?]);
    Ok(scan(&files, &EventFilter::default(), &mut |_| ControlFlow::Break(()))?.events)
}

#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
fn say(time: Duration) {
    println!("first event of 1 GiB after {:.3} s", time.as_secs_f64());
}
