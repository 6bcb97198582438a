//! `simtool N M`: the main job.

pub mod flags;
pub mod inputs;
pub mod plan;
pub mod scaling;
pub mod summary;

use simtool::engine::{Stage, StagePlan};
use simtool::io::remote::Client;
use simtool::{Error, ErrorKind, Result};

use self::flags::MainJobArgs;
use self::plan::MainJobPlan;
use crate::cli::output::Output;
use crate::cli::process::session::Session;
use crate::cli::screen::log::{Form, LogArgs, SummaryForm};
use crate::cli::screen::message;

/// The stages of the plain form.
const STAGES: [Stage; 5] = [
    Stage::Sample,
    Stage::Count,
    Stage::Rank,
    Stage::Fingerprint,
    Stage::Search,
];

/// Runs the job, prints the first block of the result and the requested reports.
///
/// # Errors
/// Errors of the flags, of the inputs and of the job, before which the target does not change; those
/// of publishing and printing.
pub fn run(args: &MainJobArgs, client: &Client) -> Result<()> {
    let log = LogArgs { log: args.log }.log(args.quiet);
    let session = Session::new(log, client);
    let plan = MainJobPlan::new(args)?;
    let inputs = plan.sources.open(&plan.resources.temporary, client)?;
    if let Some(runs) = args.scaling {
        return scaling::run(&plan, &inputs, runs, client);
    }
    inputs.refuse_binary()?;
    inputs.warn_of_doubtful_texts();
    let mut output = Output::create(&plan.target, &plan.resources.temporary)?;

    let run = session.run(|progress| {
        progress.expect(STAGES.map(StagePlan::untimed).into());
        let seen = inputs.confirm(progress, || {
            let sink = &mut |bytes: &[u8]| output.write(bytes);
            plan.job
                .run(&inputs.bytes(), &plan.resources, progress, sink)
        })?;
        progress.check().map(|()| seen)
    });
    let seen = run.map_err(|error| explain_stop(error, &plan))?;
    output.publish(seen.first_block_bytes)?;

    let time = session.elapsed();
    session.report_timings(args.timings);
    let took_long = time > log.delay && log.form != Form::None;
    match args.summary {
        Some(SummaryForm::Json) => message::write(&summary::json(&seen, &plan, time)),
        Some(SummaryForm::Text) => message::write(&summary::text(&seen, time)),
        None if took_long => log.result(
            &summary::text(&seen, time),
            &summary::fields(&seen, &plan, time),
        ),
        None => {}
    }
    Ok(())
}

/// Adds the state of the target to the error of an interruption.
fn explain_stop(error: Error, plan: &MainJobPlan) -> Error {
    match error.kind() {
        ErrorKind::Interrupted => {
            let message = format!("interrupted: {} has not changed", plan.target.name());
            Error::new(ErrorKind::Interrupted, message)
        }
        _ => error,
    }
}
