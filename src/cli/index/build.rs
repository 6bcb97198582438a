//! `simtool index build`: makes an index of many documents at once.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use simtool::Result;
use simtool::index::{Layout, Options, check_creatable};
use simtool::jobs::seen::{IndexSettings, Payload, Seen};
use simtool::sketch::Shape;

use super::documents::{DocumentArgs, report_built, warn_of_accidents};
use super::settings_flags::SettingsArgs;
use crate::cli::effect::{no_effect, preview_of};
use crate::cli::exit::Finish;
use crate::cli::message;

/// Make an index of many documents at once
///
/// Much faster than adding them to an empty one. Of several documents with one id, the last is
/// kept. The directory is an index only when it is complete.
#[derive(Args, Clone, Debug)]
pub struct BuildArgs {
    /// The directory of the index: new or empty
    #[arg(value_name = "DIR")]
    index: PathBuf,

    #[command(flatten)]
    documents: DocumentArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    /// Data to store with a document: url, date, both (as a JSON object) or none
    #[arg(long, value_name = "FIELDS", default_value = "none")]
    payload: PayloadName,

    /// Kind of tables for fingerprints: fast, or compact (at most 34 bytes for a fingerprint of 64
    /// bits; slower if they are skewed) [default: fast]
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<LayoutName>,
}

/// The values of --payload.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PayloadName {
    None,
    Url,
    Date,
    #[value(name = "url,date")]
    UrlAndDate,
}

/// The values of --layout.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LayoutName {
    Fast,
    Compact,
}

/// Builds an index and prints the number of documents.
pub fn run(args: &BuildArgs) -> Result<Finish> {
    check_creatable(&args.index)?;
    let spec = args.settings.spec()?;
    if args.layout.is_some() && preview_of(&spec)?.shape() == Shape::Keys {
        return Err(no_effect(
            "--layout",
            &spec.name(),
            "it makes no fingerprints",
        ));
    }
    let input_settings = args.settings.input_settings(args.documents.reading())?;
    let session = args.documents.begin(&args.index)?;
    let options = Options {
        layout: args.layout.unwrap_or(LayoutName::Fast).into(),
        ..session.options()
    };
    let built = session.process(
        &input_settings,
        args.settings.files(),
        None,
        |inputs, _, skipped| {
            let settings = IndexSettings::counted(spec, inputs)?;
            let (index, payload) = (&args.index, args.payload.into());
            Seen::build_inputs(index, settings, &options, inputs, payload, skipped)
        },
    )?;
    let (seen, added) = &built.result;
    warn_of_accidents(seen);
    message::warn_of_doubts(&added.doubts, &built.sources);
    report_built(added, args.documents.log(), built.has_lines)
}

impl From<PayloadName> for Payload {
    fn from(name: PayloadName) -> Payload {
        match name {
            PayloadName::None => Payload::None,
            PayloadName::Url => Payload::Url,
            PayloadName::Date => Payload::Date,
            PayloadName::UrlAndDate => Payload::UrlAndDate,
        }
    }
}

impl From<LayoutName> for Layout {
    fn from(name: LayoutName) -> Layout {
        match name {
            LayoutName::Fast => Layout::Fast,
            LayoutName::Compact => Layout::Compact,
        }
    }
}
