//! Remote addresses in the flags of all commands: inputs are accepted, other files are refused.

use std::path::PathBuf;

use clap::ArgMatches;
use simtool::Result;
use simtool::io::remote;

/// The arguments that name an output, by their ids.
const OUTPUTS: [&str; 6] = [
    "cache",
    "copies",
    "output",
    "skipped_report",
    "temp_dir",
    "to",
];
/// The arguments that name inputs of documents, and lists of them.
const INPUTS: [&str; 6] = [
    "against",
    "articles",
    "files_from",
    "inputs",
    "reference",
    "samples",
];
/// The argument that names an index.
const INDEX: &str = "index";
/// The command with an output directory named `dir`, which other commands read from.
const GENERATED: (&str, &str) = ("generate", "dir");

/// The commands whose outputs may be objects of a store, which they check themselves.
const UPLOADING: [&str; 4] = ["dedup", "lines", "spans", "decontaminate"];

/// Refuses remote addresses in the flags of `command` that name files or directories, except for
/// inputs that this build can read.
///
/// # Errors
/// [`Parameter`](simtool::ErrorKind::Parameter), naming the address and an alternative.
pub fn refuse(command: &str, matches: &ArgMatches) -> Result<()> {
    for id in matches.ids() {
        let id = id.as_str();
        // Other arguments have values of other types.
        let Ok(Some(mut paths)) = matches.try_get_many::<PathBuf>(id) else {
            continue;
        };
        let refuse = match id {
            "output" if UPLOADING.contains(&command) => continue,
            INDEX => remote::refuse_index,
            _ if OUTPUTS.contains(&id) || (command, id) == GENERATED => remote::refuse_output,
            _ if INPUTS.contains(&id) => remote::check_input,
            _ => remote::refuse_input,
        };
        paths.try_for_each(|path| refuse(path))?;
    }
    Ok(())
}
