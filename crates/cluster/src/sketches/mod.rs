//! From texts to sketches and sets of shingles; groups of equal documents.

mod leaders;
mod number;
mod sets;
mod sketch;

pub use leaders::Leaders;
pub use number::Number;
pub use sets::SetReader;
pub use sketch::{MAX_TEXT_BYTES, Sketch};
