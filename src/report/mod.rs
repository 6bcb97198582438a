//! What do people see?
//!
//! Writers return bytes; somebody else decides where they go.

pub mod json_lines;
pub mod result_txt;
