//! `--scaling` of the main job.

use simtool::Result;
use simtool::engine::Resources;
use simtool::io::remote::Client;
use xxhash_rust::xxh3::Xxh3;

use super::inputs::Inputs;
use super::plan::MainJobPlan;
use crate::cli::process::scaling::{Measured, compare};
use crate::cli::process::session::Session;
use crate::cli::screen::log::Log;

/// Measures the job with more and more threads, `runs` times each. The outputs are compared by hash
/// and discarded.
///
/// # Errors
/// Errors of [`compare`] and of the run.
pub fn run(plan: &MainJobPlan, inputs: &Inputs, runs: usize, client: &Client) -> Result<()> {
    compare(plan.resources.threads, runs, |threads| {
        measure(plan, inputs, threads, client)
    })
}

fn measure(
    plan: &MainJobPlan,
    inputs: &Inputs,
    threads: usize,
    client: &Client,
) -> Result<Measured> {
    let resources = Resources {
        threads,
        ..plan.resources.clone()
    };
    let session = Session::new(Log::SILENT, client);
    let mut hash = Xxh3::new();
    session.run(|progress| {
        inputs.confirm(progress, || {
            let sink = &mut |bytes: &[u8]| {
                hash.update(bytes);
                Ok(())
            };
            plan.job.run(&inputs.bytes(), &resources, progress, sink)
        })
    })?;
    Ok(Measured::of(&session, hash.digest128()))
}
