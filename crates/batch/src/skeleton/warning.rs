//! Warnings of a run, which its summary has.

use serde::{Deserialize, Serialize};

/// A setting without effect, or with an effect that is probably not intended; or text that may be
/// misread.
///
/// `documents` depends only on the inputs and the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The setting, or what is wrong: "inputs" or "text".
    pub setting: String,
    /// How many documents it concerns.
    pub documents: u64,
    /// What happened, for people.
    pub message: String,
}

impl Warning {
    /// A warning about a setting.
    pub fn new(setting: &str, documents: u64, message: String) -> Warning {
        Warning {
            setting: setting.to_owned(),
            documents,
            message,
        }
    }
}
