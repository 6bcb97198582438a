//! Warnings of a run, which its summary has.

use serde_json::{Value, json};

/// A setting without effect, or with an effect that is probably not intended; or text that may be
/// misread.
///
/// `documents` depends only on the inputs and the job.
#[derive(Clone, Debug, PartialEq, Eq)]
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

    /// The warning as an entry of `summary.json`.
    pub fn json(&self) -> Value {
        json!({
            "setting": self.setting,
            "documents": self.documents,
            "message": self.message,
        })
    }

    /// The entry of [`json`](Self::json); `None` for another value.
    pub fn parse(value: &Value) -> Option<Warning> {
        Some(Warning {
            setting: value["setting"].as_str()?.to_owned(),
            documents: value["documents"].as_u64()?,
            message: value["message"].as_str()?.to_owned(),
        })
    }

    /// The entries of an array; `None` if it is none, or has other values.
    pub fn parse_all(values: &Value) -> Option<Vec<Warning>> {
        values.as_array()?.iter().map(Warning::parse).collect()
    }
}
