//! Units of a text: lines, runs of lines, paragraphs and runs of sentences, with hashes of their normal forms.

mod kind;
mod normal;
mod reader;
mod removal;
mod runs;
mod sentences;
mod snap;

pub use kind::{MAX_RUN_WORDS, MAX_SENTENCES, UnitKind};
pub use normal::{Normal, Normalizer};
pub use reader::UnitReader;
pub use removal::{cut, mask};
pub use runs::MIN_LINE_WORDS;
pub use sentences::sentences;
pub use snap::{Snap, whole_characters};
