//! Texts of crawled pages.
//!
//! A [record](warc::Record) of an archive contains a server's response: HTTP headers, and a body that
//! may be chunked and compressed, in some character set, as HTML. One file decodes each layer, and
//! [`WebText`] calls them in turn. All are pure functions on bytes, which never panic and whose
//! memory is bounded by the given limits.

mod archives;
pub mod charset;
pub mod content_encoding;
pub mod html;
mod web_text;
pub mod wide;

use super::document::Reason;
use super::reading::HtmlText;

pub use archives::{arc, headers, http, relations, warc};
pub use html::visible_text;
pub use web_text::{Text, WebText};
