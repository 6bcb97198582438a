//! Look-up and addition of documents in an index.
//!
//! An [index](simtool_index) has sketches; this module makes them from documents. The index stores
//! the settings of its sketches ([`IndexSettings`]), so that opening it needs its directory alone.

mod add;
mod export;
mod keep_key;
mod known;
mod lines;
mod open_index;
mod part;
mod payload;
mod query;
mod settings;
mod several;
mod text_sketcher;

pub use add::{AddCounts, GROUP_BYTES, GROUP_DOCUMENTS, Listing};
pub use export::Export;
pub use keep_key::keep_fields;
pub use lines::{before, changed, near};
pub use open_index::{Seen, settings};
pub use part::{LineSink, too_long};
pub use payload::Payload;
pub use query::QueryCounts;
pub use settings::{ExpectedSettings, IndexSettings, check_similarity, spec_of_new_index};
pub use several::SeveralIndexes;
pub use text_sketcher::{TextFacts, TextSketcher};
