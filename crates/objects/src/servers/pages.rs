//! Pages of the listings of stores: of S3 and Google, and of Azure.

use std::str::FromStr;
use std::time::SystemTime;

use chrono::DateTime;
use percent_encoding::percent_decode_str;
use reqwest::StatusCode;

use super::web::{head, start_of_body};
use super::xml::{Element, Xml};
use crate::listed::Listing;
use crate::requests::answer::{Failure, Listed, next_piece};
use crate::requests::meter::Meter;

/// The maximum number of bytes of a page. Pages have at most 5000 objects, with names of 1024 bytes.
const MAX_BYTES: u64 = 64 << 20;

/// What a page says besides its objects.
#[derive(Default)]
struct Page {
    /// The object that is being read.
    object: Listed,
    has_size: bool,
    is_directory: bool,
    /// Whether keys are encoded as in URLs.
    is_encoded: bool,
    is_truncated: bool,
    next: Option<String>,
    /// The code and the message of an error, in an answer with the status of a success.
    error: Option<String>,
    is_listing: bool,
}

/// Adds the objects of a page to `listing`. Returns the token of the next page, if there is one. No
/// more than an object is held besides.
///
/// # Errors
/// [`Failure::Broken`] for a page that is incomplete or describes an error; [`Failure::Final`] for one
/// that is no listing; those of [`Listing::add`].
pub(super) async fn read(
    mut response: reqwest::Response,
    meter: &Meter,
    listing: &mut Listing,
) -> Result<Option<String>, Failure> {
    let head = head(&response);
    if head.status != StatusCode::OK {
        let body = start_of_body(response).await;
        return Err(head.failure(&body, true));
    }
    let (mut xml, mut page) = (Xml::default(), Page::default());
    let (first, mut bytes) = (listing.len(), 0);
    while let Some(piece) = next_piece(&mut response).await? {
        meter.received(piece.len());
        bytes += piece.len() as u64;
        if bytes > MAX_BYTES {
            let detail = format!("an answer with a listing of more than {MAX_BYTES} bytes");
            return Err(Failure::refused(detail));
        }
        xml.read(&piece, &mut |parent, element| {
            page.accept(parent, element, listing)
        })?;
    }
    xml.end()?;
    page.end(listing, first)
}

impl Page {
    fn accept(
        &mut self,
        parent: &str,
        element: &Element,
        listing: &mut Listing,
    ) -> Result<(), Failure> {
        let text = element.text.as_str();
        let invalid = |what: &str| Failure::refused(format!("a listing with an invalid {what}"));
        match (parent, element.name.as_str()) {
            ("Contents", "Key") => text.clone_into(&mut self.object.key),
            ("Blob", "Name") => {
                self.object.key = match element.attributes.contains("Encoded=\"true\"") {
                    true => percent_decoded(text)?,
                    false => text.to_owned(),
                };
            }
            ("Contents", "Size") | ("Properties", "Content-Length") => {
                self.object.identity.bytes = u64::from_str(text).map_err(|_| invalid("size"))?;
                self.has_size = true;
            }
            ("Contents", "ETag") | ("Properties", "Etag") if !text.is_empty() => {
                let is_shown = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
                if !text.bytes().all(is_shown) {
                    return Err(invalid("entity tag"));
                }
                self.object.identity.etag = Some(text.to_owned());
            }
            ("Contents", "LastModified") => {
                let time = DateTime::parse_from_rfc3339(text);
                self.object.modified = time.ok().map(|time| time.timestamp());
            }
            ("Properties", "Last-Modified") => self.object.modified = seconds(text),
            ("Properties", "ResourceType") => self.is_directory = text == "directory",
            (_, "Contents" | "Blob") => {
                let object = std::mem::take(&mut self.object);
                if object.key.is_empty() || !std::mem::take(&mut self.has_size) {
                    return Err(Failure::refused(
                        "a listing with an object without name or size",
                    ));
                }
                // Some programs make empty objects for directories.
                let is_mark = object.key.ends_with('/') && object.identity.bytes == 0;
                if !std::mem::take(&mut self.is_directory) && !is_mark {
                    listing.add(object)?;
                }
            }
            ("ListBucketResult", "EncodingType") => self.is_encoded = text == "url",
            ("ListBucketResult", "IsTruncated") => self.is_truncated = text.trim() == "true",
            ("ListBucketResult", "NextContinuationToken")
            | ("EnumerationResults", "NextMarker") => {
                self.next = Some(text.to_owned()).filter(|token| !token.is_empty());
            }
            ("Error", "Code" | "Message") => {
                let before = self
                    .error
                    .take()
                    .map_or(String::new(), |detail| detail + ": ");
                self.error = Some(format!("{before}{text}"));
            }
            ("", "ListBucketResult" | "EnumerationResults") => self.is_listing = true,
            _ => {}
        }
        Ok(())
    }

    /// Decodes the keys from the object with the number `first` on. Returns the token.
    fn end(self, listing: &mut Listing, first: usize) -> Result<Option<String>, Failure> {
        if let Some(detail) = self.error {
            return Err(Failure::broken(format!(
                "the answer describes an error: {detail}"
            )));
        }
        if !self.is_listing {
            return Err(Failure::refused("an answer that is no listing"));
        }
        if self.is_truncated && self.next.is_none() {
            let detail = "a listing that is incomplete, and does not tell how it goes on";
            return Err(Failure::refused(detail));
        }
        if self.is_encoded {
            for object in listing.page(first) {
                // In this encoding, a space is a plus sign.
                object.key = percent_decoded(&object.key.replace('+', " "))?;
            }
        }
        Ok(self.next)
    }
}

fn percent_decoded(text: &str) -> Result<String, Failure> {
    let decoded = percent_decode_str(text).decode_utf8();
    let decoded = decoded.map_err(|_| Failure::refused("a listing with a name that is not UTF-8"));
    Ok(decoded?.into_owned())
}

/// The seconds since 1970 of a time such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn seconds(text: &str) -> Option<i64> {
    let time = httpdate::parse_http_date(text).ok()?;
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}
