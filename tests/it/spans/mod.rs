//! Repeated stretches of dumps. The result is that of comparing all stretches with each other, for
//! any split into files and threads, any memory, and after any interruption.

mod command;
mod oracle;
mod resume;
mod same_answer;
mod setup;
mod written;
