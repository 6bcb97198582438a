//! The identity of a job: the program's version, the settings, the inputs with sizes and times.

use serde_json::{Value, json};

use crate::Result;
use crate::skeleton::described_inputs::described_inputs;

use super::{Against, Invocation, Job};
use crate::workdir::path_value;

/// The version of the work directory's layout.
const LAYOUT: u32 = 8;

/// The values that must be equal for another run to resume this one.
///
/// # Errors
/// [`ErrorKind::Read`] if an input's metadata cannot be read; those of the known documents.
pub fn identity(job: &Job, invocation: &Invocation<'_>) -> Result<Value> {
    let mut identity = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "layout": LAYOUT,
        "settings": job.settings(),
    });
    // The macro would copy them.
    identity["inputs"] = described_inputs(invocation.sources)?.into();
    identity["against"] = match invocation.against {
        Against::Known(known) => known.state()?,
        against => described_inputs(against.documents())?.into(),
    };
    if invocation.sources.is_empty() {
        let arguments = invocation.arguments.iter();
        identity["arguments"] = arguments.map(|path| path_value(path)).collect();
    }
    Ok(identity)
}
