//! `simtool index remove`: removes documents.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::UnknownArgumentValueParser;
use serde_json::json;
use simtool::index::RemovedDump;
use simtool::{Error, Result};

use super::documents::{self, ReportArgs, writable};

/// Ids are removed in one commit when this many are read from `--ids`.
const GROUP: usize = 1 << 14;

/// Remove documents by their ids, or a dump
///
/// Removing a dump leaves the index as if it had never been added: later documents are decided again,
/// which takes about as long as adding them. Removing single documents does not change the decisions
/// about others: a copy of a removed document remains a copy. The next document with the text of a
/// removed one is new.
#[derive(Args, Clone, Debug)]
pub struct RemoveArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    /// Ids of documents
    #[arg(value_name = "ID", required_unless_present_any = ["ids", "dump"])]
    id: Vec<String>,

    /// Label of the dump whose documents are removed
    #[arg(long, value_name = "LABEL", conflicts_with_all = ["id", "ids"])]
    dump: Option<String>,

    /// File of ids, one a line; - is standard input
    #[arg(long, value_name = "FILE")]
    ids: Option<PathBuf>,

    #[arg(
        long = "id", hide = true,
        value_parser = UnknownArgumentValueParser::suggest(
            "ids stand behind the directory (simtool index remove DIR ID...) or in a file (--ids FILE)"
        )
    )]
    _id: Option<String>,

    #[command(flatten)]
    reports: ReportArgs,
}

/// Removes documents, and prints how many the index had.
pub fn run(args: &RemoveArgs) -> Result<()> {
    let seen = documents::open(&args.index, &writable())?;
    if let Some(dump) = &args.dump {
        let removed = seen.index().remove_dump(dump)?;
        let RemovedDump {
            documents,
            kept_now,
        } = removed;
        let text =
            format!("{documents} removed; {kept_now} later ones that were copies are kept now\n");
        let fields = json!({ "removed": documents, "kept_now": kept_now });
        return args.reports.report(&text, &fields);
    }
    let (mut removed, mut unknown) = (0_u64, 0_u64);
    let mut remove = |ids: &mut Vec<Vec<u8>>| -> Result<()> {
        let borrowed: Vec<&[u8]> = ids.iter().map(Vec::as_slice).collect();
        for was_there in seen.index().remove(&borrowed)? {
            *if was_there {
                &mut removed
            } else {
                &mut unknown
            } += 1;
        }
        ids.clear();
        Ok(())
    };
    let mut group: Vec<Vec<u8>> = args.id.iter().map(|id| id.clone().into_bytes()).collect();
    if let Some(path) = &args.ids {
        let unreadable = |cause| Error::unreadable(path, cause);
        for line in open(path).map_err(unreadable)?.split(b'\n') {
            let mut line = line.map_err(unreadable)?;
            line.pop_if(|last| *last == b'\r');
            if !line.is_empty() {
                group.push(line);
            }
            if group.len() >= GROUP {
                remove(&mut group)?;
            }
        }
    }
    remove(&mut group)?;
    let text = format!("{removed} removed, {unknown} not found\n");
    let fields = json!({ "removed": removed, "not_found": unknown });
    args.reports.report(&text, &fields)
}

fn open(path: &Path) -> std::io::Result<BufReader<Box<dyn Read>>> {
    let file: Box<dyn Read> = match path.as_os_str() == "-" {
        true => Box::new(std::io::stdin()),
        false => Box::new(std::fs::File::open(path)?),
    };
    Ok(BufReader::new(file))
}
