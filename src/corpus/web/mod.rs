//! Which text does a crawled page have?
//!
//! A [record](warc::Record) of an archive holds what a server sent: an HTTP head, a body that may
//! come in chunks and compressed, in some character set, as HTML. Each layer is one file, and
//! [`WebText`] takes them off in turn. Pure functions on bytes; whatever the bytes, nothing
//! panics, and what is allocated is bounded by the limits given.

pub mod arc;
pub mod charset;
pub mod content_encoding;
#[cfg(feature = "html")]
mod cost;
pub mod html;
pub mod http;
mod lines;
mod markup;
pub mod relations;
pub mod visible_text;
pub mod warc;
mod web_text;
pub mod wide;

use super::document::Reason;
use super::reading::HtmlText;

pub use web_text::{Text, WebText};
