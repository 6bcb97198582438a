//! Parts of reference items in dumps. The result is that of a set of n-grams, for any split into
//! files and threads, any memory, and after any interruption.

mod clusters;
mod command;
mod edited;
mod hostile;
mod items;
mod oracle;
mod same_answer;
pub mod setup;
