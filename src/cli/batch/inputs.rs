//! The inputs of a batch job.

use std::path::{Path, PathBuf};

use simtool::Result;
use simtool::corpus::{LeftOut, Reading, Source};
use simtool::jobs::{Against, Invocation, KnownDocuments};

use super::flags::InputArgs;
use crate::cli::output::output_directory::{refuse_file, refuse_own_input, refuse_removed_input};
use crate::cli::output::output_place::OutputPlace;
use crate::cli::process::session::Session;
use crate::cli::reading::found::{check_text_field, find, warn_of_patterns};

/// The documents to compare with, as they are named.
pub struct References<'a> {
    /// Their names; none for an index.
    pub paths: &'a [PathBuf],
    /// How they are read; which files are read is as for the input.
    pub reading: &'a Reading,
    /// The flag that names the field of their text.
    pub text_flag: &'static str,
}

/// The inputs that a command reads.
pub struct FoundInputs {
    /// Its inputs.
    pub sources: Vec<Source>,
    /// The documents to compare with.
    pub references: Vec<Source>,
    /// The files that were found and are not read.
    pub left_out: Vec<LeftOut>,
}

/// Finds the inputs of a command with the output directory `out`, and warns of patterns that match
/// nothing.
///
/// # Errors
/// Errors of finding; [`ErrorKind::Parameter`](simtool::ErrorKind::Parameter) if the output is a file
/// or an input, for a field of texts that no input has, and if `restart` would remove an input.
pub fn find_inputs(
    out: &Path,
    input: &InputArgs,
    reading: &Reading,
    references: &References<'_>,
    restart: bool,
    session: &Session,
) -> Result<FoundInputs> {
    refuse_file(out)?;
    refuse_own_input(out, &input.inputs)?;
    let mut reading = reading.clone();
    reading.files.except_directory = Some(out.to_owned());
    reading.files.take.clone_from(&input.take);
    let own = find(&input.inputs, &input.files_from, &reading, session)?;
    let mut found = FoundInputs {
        sources: own.sources,
        references: Vec::new(),
        left_out: own.left_out,
    };
    let (mut excepted, mut unmatched) = (own.excepted, vec![own.unmatched]);
    let mut reference_reading = references.reading.clone();
    reference_reading.files = reading.files.clone();
    if !references.paths.is_empty() {
        let others = find(references.paths, &[], &reference_reading, session)?;
        excepted.extend(others.excepted);
        found.left_out.extend(others.left_out);
        unmatched.push(others.unmatched);
        found.references = others.sources;
    }
    warn_of_patterns(&unmatched, found.references.iter().chain(&found.sources));
    check_text_field(references.text_flag, &found.references, &reference_reading)?;
    check_text_field("--text-field", &found.sources, &reading)?;
    refuse_removed_input(restart, &excepted)?;
    Ok(found)
}

impl FoundInputs {
    /// The number of inputs, those to compare with included.
    pub fn count(&self) -> usize {
        self.references.len() + self.sources.len()
    }

    /// A run on these inputs, compared with `known` documents or with the others. `also_read` are the
    /// other files that the command reads.
    pub fn invocation<'a>(
        &'a self,
        place: &'a OutputPlace,
        arguments: &'a [PathBuf],
        also_read: &'a [PathBuf],
        known: Option<&'a dyn KnownDocuments>,
        restart: bool,
    ) -> Invocation<'a> {
        Invocation {
            against: match known {
                Some(known) => Against::Known(known),
                None if self.references.is_empty() => Against::Itself,
                None => Against::Documents(&self.references),
            },
            arguments,
            sources: &self.sources,
            left_out: &self.left_out,
            also_read,
            out: &place.local,
            remote: place.remote.as_ref(),
            restart,
        }
    }
}
