//! Refusal of remote addresses in the flags of all commands.

use std::path::PathBuf;

use clap::ArgMatches;
use simtool::Result;
use simtool::io::remote;

/// The arguments that name an output, by their ids.
const OUTPUTS: [&str; 5] = ["copies", "output", "skipped_report", "temp_dir", "to"];
/// The argument that names an index.
const INDEX: &str = "index";
/// The command with an output directory named `dir`, which other commands read from.
const GENERATED: (&str, &str) = ("generate", "dir");

/// Refuses remote addresses in the flags of `command` that name files or directories.
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
            INDEX => remote::refuse_index,
            _ if OUTPUTS.contains(&id) || (command, id) == GENERATED => remote::refuse_output,
            _ => remote::refuse_input,
        };
        paths.try_for_each(|path| refuse(path))?;
    }
    Ok(())
}
