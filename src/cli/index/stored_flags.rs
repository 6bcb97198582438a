//! What is stored with documents that are added to an index: flags of the commands that add.

use clap::Args;
use simtool::jobs::seen::Payload;

use crate::cli::values::{self, Named};

/// Data of documents, and their dump.
#[derive(Args, Clone, Debug)]
pub struct StoredArgs {
    /// Data to store with a document: url, date, both (as a JSON object) or none
    #[arg(
        long, value_name = "FIELDS", default_value = "none",
        value_parser = values::named(&PAYLOADS)
    )]
    payload: Payload,

    #[command(flatten)]
    dump: DumpArgs,
}

/// The dump of documents.
#[derive(Args, Clone, Debug)]
pub struct DumpArgs {
    /// Label of the dump that the documents belong to, such as that of a crawl: `index remove --dump
    /// LABEL` removes them as if they had never been added
    #[arg(
        long = "dump",
        value_name = "LABEL",
        default_value = "",
        hide_default_value = true
    )]
    pub label: String,
}

/// The values of --payload.
const PAYLOADS: [Named<Payload>; 4] = [
    ("none", "", Payload::None),
    ("url", "", Payload::Url),
    ("date", "", Payload::Date),
    ("url,date", "", Payload::UrlAndDate),
];

impl StoredArgs {
    /// The data to store, and the label of the dump.
    pub fn payload_and_dump(&self) -> (Payload, &str) {
        (self.payload, &self.dump.label)
    }
}
