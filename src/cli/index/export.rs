//! `simtool index export`: the documents of an index as a table.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use simtool::Result;
use simtool::engine::spill_space::SpillSpace;
use simtool::io::InputFiles;
use simtool::io::remote::Client;
use simtool::jobs::seen::Export;
use simtool::report::index_rows::IndexRow;
#[cfg(feature = "parquet")]
use simtool::{
    io::AtomicFile,
    report::index_rows::{COLUMNS, LONG},
    report::parquet_table::ParquetTable,
};

use super::documents::{ReportArgs, open, read_only};
use super::line_file::LineFile;
use crate::cli::output::directory_of;
use crate::cli::process::session::Session;
use crate::cli::screen::amount::counted;

/// Lines that are written at a time.
const STEP_BYTES: usize = 1 << 20;
/// Memory of sorting.
pub const MEMORY: usize = 256 << 20;

/// Write the documents of an index as a table: kept or a copy of which, and how often seen
///
/// A row for each document, in the order of addition: its id and dump, whether it is kept, the
/// document of which it is a copy with similarity and counts of shingles, and of its cluster (the kept
/// document with all its copies) the number, the documents, sources (files, or directories of files of
/// one document each), sites (hosts of URLs) and dumps, the first and the last of these, and the
/// payload.
#[derive(Args, Clone, Debug)]
pub struct ExportArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    /// The table: JSON Lines, or Parquet if the name ends in .parquet; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// Only documents that are kept
    #[arg(long)]
    kept: bool,

    /// Only clusters with documents from at least this number of sources
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "0",
        hide_default_value = true
    )]
    min_sources: u64,

    /// Directory for temporary files [default: that of the table]
    #[arg(long, value_name = "DIR")]
    temp_dir: Option<PathBuf>,

    #[command(flatten)]
    reports: ReportArgs,
}

/// Writes the table and publishes it.
pub fn run(args: &ExportArgs, client: &Client) -> Result<()> {
    let seen = open(&args.index, &read_only())?;
    let session = Session::new(args.reports.log(), client);
    let running = session.start(None)?;
    let mut files = InputFiles::default();
    files.add_directory(&args.index);
    let is_table = args.output.extension().is_some_and(|end| end == "parquet");
    let temporary = args.temp_dir.as_deref();
    let space = SpillSpace {
        directory: temporary.unwrap_or_else(|| directory_of(&args.output)),
        memory_bytes: MEMORY,
    };
    let export = Export {
        kept_only: args.kept,
        min_sources: args.min_sources,
    };
    let mut check = || session.progress.check();
    let lines = LineFile::new(
        Some(&args.output),
        "--output",
        &mut files,
        args.temp_dir.as_deref(),
    )?;
    let has_lines = lines.is_screen();
    let rows = match is_table {
        #[cfg(feature = "parquet")]
        true => {
            let file = AtomicFile::create(&args.output)?;
            let mut table = ParquetTable::create(&args.output, file, &COLUMNS, &LONG)?;
            let rows = seen.export(export, &space, &mut check, &mut |row| {
                table.add(row.cells())
            })?;
            table.publish()?;
            rows
        }
        #[cfg(not(feature = "parquet"))]
        true => {
            let message =
                "--output: this build writes no Parquet (build it with the feature parquet)";
            return Err(simtool::Error::new(simtool::ErrorKind::Parameter, message));
        }
        false => {
            let mut writer = lines.begin()?;
            let mut waiting = Vec::new();
            let rows = seen.export(export, &space, &mut check, &mut |row: &IndexRow<'_>| {
                row.write(&mut waiting);
                if waiting.len() < STEP_BYTES {
                    return Ok(());
                }
                writer.write(&std::mem::take(&mut waiting))
            })?;
            writer.write(&waiting)?;
            writer.publish()?;
            rows
        }
    };
    drop(running);
    let text = format!("{} written\n", counted(rows, "document"));
    let fields = json!({ "documents": rows });
    args.reports.report_beside(&text, &fields, has_lines)
}
