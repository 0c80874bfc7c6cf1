//! Recording with perf.

pub mod capabilities;
pub mod command;
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub mod energy;
#[cfg(target_os = "linux")]
mod heap_probes;
#[cfg(target_os = "linux")]
mod name_probes;
#[cfg(target_os = "linux")]
mod path_probes;
#[cfg(target_os = "linux")]
pub(crate) mod perf;
#[cfg(target_os = "linux")]
mod probes;

use std::path::Path;

use crate::error::{Error, Shortfall};
use crate::options::{Options, Scope};

use capabilities::Capabilities;

/// The arguments of perf, and what will be missing. On another system those of a machine without hardware counters whose user
/// may do everything.
///
/// # Errors
///
/// As [`command::plan`].
pub fn dry_run(options: &Options, output: &Path) -> Result<(Vec<String>, Vec<Shortfall>), Error> {
    let profiles = crate::profiles::complete(&options.profiles);
    let names: Vec<String> = command::tracepoints(&profiles).collect();
    let machine = match cfg!(target_os = "linux") {
        true => Capabilities::of_this_machine(&options.sysfs, names.iter().map(String::as_str)),
        false => Capabilities::of_any_machine(names),
    };
    let plan = command::plan(options, &machine)?;
    let mut arguments = vec!["record".to_owned()];
    arguments.extend(plan.arguments);
    if let Some(terms) = &plan.names {
        arguments.extend(["-e".to_owned(), format!("tracesift_dns_PID_0:getaddrinfo{terms}")]);
        arguments.extend(["-e", "tracesift_dns_PID_0:getaddrinfo__return"].map(str::to_owned));
    }
    if let Some((_, terms)) = &plan.heap {
        for function in ["malloc", "calloc", "realloc", "free"] {
            arguments.extend(["-e".to_owned(), format!("tracesift_heap_PID_0:{function}{terms}")]);
            if function != "free" {
                arguments.extend(["-e".to_owned(), format!("tracesift_heap_PID_0:{function}__return")]);
            }
        }
    }
    if plan.paths {
        arguments.extend(["-e", "tracesift_open_PID_0:openat"].map(str::to_owned));
    }
    if plan.scope == Scope::Command {
        arguments.extend(["-p", "PID"].map(str::to_owned));
    }
    arguments.extend(["-o".to_owned(), output.display().to_string()]);
    Ok((arguments, plan.shortfalls))
}
