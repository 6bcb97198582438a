//! Texts of crawled pages.
//!
//! A [record](warc::Record) of an archive contains a server's response: HTTP headers, and a body that
//! may be chunked and compressed, in some character set, as HTML. One file decodes each layer, and
//! [`WebText`] calls them in turn. All are pure functions on bytes, which never panic and whose
//! memory is bounded by the given limits.

pub mod arc;
pub mod charset;
pub mod content_encoding;
mod elements;
pub mod headers;
pub mod html;
pub mod http;
mod lines;
mod markup;
pub mod relations;
mod text_writer;
pub mod visible_text;
pub mod warc;
mod web_text;
pub mod wide;

use super::document::Reason;
use super::reading::HtmlText;

pub use web_text::{Text, WebText};
