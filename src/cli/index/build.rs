//! `simtool index build`: makes an index of many documents at once.

use std::path::PathBuf;

use clap::Args;
use simtool::Result;
use simtool::index::{Layout, Options, check_creatable};
use simtool::io::remote::Client;
use simtool::jobs::seen::{IndexSettings, Seen, check_similarity};
use simtool::sketch::Shape;

use super::documents::{DocumentArgs, report_added};
use super::settings_flags::SettingsArgs;
use super::stored_flags::StoredArgs;
use crate::cli::process::exit::Finish;
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
}

/// The values of --layout.
const LAYOUTS: [Named<Layout>; 2] = [("fast", "", Layout::Fast), ("compact", "", Layout::Compact)];

/// Builds an index and prints the number of documents.
pub fn run(args: &BuildArgs, client: &Client) -> Result<Finish> {
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
    let built = session.process(
        &input_settings,
        args.settings.files(),
        None,
        |inputs, _, skipped| {
            let settings = IndexSettings::counted(spec, inputs, args.settings.similarity)?;
            let settings = args.settings.made(settings)?;
            let (index, payload) = (&args.index, args.stored.payload_and_dump());
            Seen::build_inputs(index, settings, &options, inputs, payload, skipped)
        },
    )?;
    let (_, added) = &built.result;
    message::warn_of_decoding_problems(&added.doubts, &built.sources);
    report_added(added, args.documents.log(), built.has_lines)
}
