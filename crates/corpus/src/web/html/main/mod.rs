//! The main text of a page, found in one pass over its tags, without a tree.
//!
//! ```text
//! tags ─► lines of visible text, with the elements around each (`lines`, `scopes`, `context`)
//!      ─► length, prose and links of each, of its surroundings and of those like it (`features`)
//!      ─► a weighted sum, which decides (`weights`)
//! ```

mod context;
mod features;
mod lines;
mod main_text;
mod prose;
mod scopes;
mod weights;

pub(super) use main_text::main_text;
