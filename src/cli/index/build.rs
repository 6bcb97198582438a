//! `simtool index build`: makes an index of many documents at once.

use std::path::PathBuf;

use clap::Args;
use simtool::Result;
use simtool::engine::spill_space::SpillSpace;
use simtool::index::{Layout, Options, check_creatable};
use simtool::io::remote::Client;
use simtool::jobs::seen::{AddCounts, Export, IndexSettings, Seen, check_similarity};
use simtool::sketch::Shape;
use xxhash_rust::xxh3::Xxh3;

use super::documents::{DocumentArgs, Processed, report_added};
use super::export::MEMORY;
use super::settings_flags::SettingsArgs;
use super::stored_flags::StoredArgs;
use crate::cli::output::directory_of;
use crate::cli::process::exit::Finish;
use crate::cli::process::interrupt::stoppable;
use crate::cli::process::scaling::{Measured, ScalingArgs, compare, temporary_directory};
use crate::cli::process::session::Session;
use crate::cli::reading::reading_flags::files;
use crate::cli::screen::log::Log;
use crate::cli::screen::message;
use crate::cli::values::effect::{method_without_statistics, no_effect};
use crate::cli::values::{self, Named};

/// Make an index of many documents at once
///
/// The same as adding them to an empty one, but the directory is an index only when it is complete.
#[derive(Args, Clone, Debug)]
pub struct BuildArgs {
    /// The directory of the index: new or empty
    #[arg(value_name = "DIR")]
    index: PathBuf,

    #[command(flatten)]
    documents: DocumentArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    #[command(flatten)]
    stored: StoredArgs,

    /// Kind of tables for fingerprints: fast, or compact (at most 34 bytes for a fingerprint of 64
    /// bits; slower if they are skewed) [default: fast]
    #[arg(long, value_name = "LAYOUT", value_parser = values::named(&LAYOUTS))]
    layout: Option<Layout>,

    #[command(flatten)]
    scaling: ScalingArgs,
}

/// The values of --layout.
const LAYOUTS: [Named<Layout>; 2] = [("fast", "", Layout::Fast), ("compact", "", Layout::Compact)];

/// Builds an index and prints the number of documents.
pub fn run(args: &BuildArgs, client: &Client) -> Result<Finish> {
    if let Some(runs) = args.scaling.scaling {
        measure(args, runs, client)?;
        return Ok(Finish::Complete);
    }
    let built = build(args, client)?;
    let (_, added) = &built.result;
    message::warn_of_decoding_problems(&added.doubts, &built.sources);
    report_added(added, args.documents.log(), built.has_lines)
}

/// Builds indexes beside that of `args` with more and more threads, and removes them again. Their
/// exported tables are compared.
fn measure(args: &BuildArgs, runs: usize, client: &Client) -> Result<()> {
    let beside = directory_of(&args.index);
    let session = Session::new(Log::SILENT, client);
    files(
        [&args.documents.inputs],
        &args.documents.reading(),
        &session,
    )?;
    compare(args.documents.resources.thread_count(), runs, |threads| {
        let place = temporary_directory(beside)?;
        let mut args = args.clone();
        args.index = place.path().join("index");
        args.documents.resources.threads = Some(threads);
        args.documents.reports.quiet = true;
        args.documents.skipped_report = None;
        let built = build(&args, client)?;
        // The build has ended, and a signal may not end the process before the index is removed.
        let _stoppable = stoppable(&built.session.progress, client);
        let measured = Measured::of(&built.session, 0);
        let space = SpillSpace {
            directory: place.path(),
            memory_bytes: MEMORY,
        };
        let (mut hash, mut line) = (Xxh3::new(), Vec::new());
        let (seen, _) = built.result;
        let progress = &built.session.progress;
        seen.export(
            Export::default(),
            &space,
            &mut || progress.check(),
            &mut |row| {
                line.clear();
                row.write(&mut line);
                hash.update(&line);
                Ok(())
            },
        )?;
        drop((seen, place));
        progress.check()?;
        Ok(Measured {
            output: hash.digest128(),
            ..measured
        })
    })
}

fn build(args: &BuildArgs, client: &Client) -> Result<Processed<(Seen, AddCounts)>> {
    check_creatable(&args.index)?;
    let spec = args.settings.spec()?;
    if args.layout.is_some() && method_without_statistics(&spec)?.shape() == Shape::Keys {
        return Err(no_effect(
            "--layout",
            &spec.name(),
            "it makes no fingerprints",
        ));
    }
    check_similarity(&spec, args.settings.similarity)?;
    let input_settings = args.settings.input_settings(args.documents.reading())?;
    let session = args.documents.begin(&args.index, client)?;
    let options = Options {
        layout: args.layout.unwrap_or_default(),
        ..session.options()
    };
    session.process(
        &input_settings,
        args.settings.files(),
        None,
        |inputs, _, skipped| {
            let settings = IndexSettings::counted(spec, inputs, args.settings.similarity)?;
            let settings = args.settings.made(settings)?;
            let (index, payload) = (&args.index, args.stored.payload_and_dump());
            Seen::build_inputs(index, settings, &options, inputs, payload, skipped)
        },
    )
}
