//! What do people see?
//!
//! Writers return bytes; somebody else decides where they go.

pub mod result_txt;
