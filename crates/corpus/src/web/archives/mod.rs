//! Records of web archives, WARC and ARC, with their headers and the HTTP messages in them.

pub mod arc;
pub mod headers;
pub mod http;
mod lines;
pub mod relations;
pub mod warc;
