//! Reading of inputs by many threads: units, the pipeline, and the documents that come out of it.

pub mod documents;
pub mod doubts;
pub mod item_text;
pub mod naming;
pub mod pipeline;
pub mod places;
pub mod streams;
pub mod text_field;
pub mod units;
