//! Data sets of the Hugging Face hub.

use std::ops::Range;

use reqwest::StatusCode;
use reqwest::header::{AUTHORIZATION, HeaderValue, LINK};
use serde::Deserialize;
use tokio::sync::OnceCell;

use super::web;
use crate::environment::Environment;
use crate::listed::Listing;
use crate::location::hub_names;
use crate::requests::answer::{Failure, Fetched, Listed, next_piece};
use crate::requests::meter::Meter;
use crate::{Error, ErrorKind, Identity, Location, Result};

/// The address of the hub, unless `HF_ENDPOINT` is another one.
const ENDPOINT: &str = "https://huggingface.co";
/// The maximum number of bytes of an answer that is not a file. Pages have at most 1000 files.
const MAX_JSON_BYTES: usize = 16 << 20;

/// A revision of a data set.
pub(crate) struct Hub {
    http: reqwest::Client,
    endpoint: String,
    token: Option<HeaderValue>,
    name: String,
    revision: String,
    /// The commit that the revision meant when it was first asked for.
    commit: OnceCell<String>,
}

/// An entry of a listing.
#[derive(Deserialize)]
struct HubEntry {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    #[serde(default)]
    size: u64,
    #[serde(default)]
    oid: Option<String>,
}

/// The answer about a revision.
#[derive(Deserialize)]
struct Revision {
    sha: String,
}

impl Hub {
    /// The data set of a location, and the name of the hub's host.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if `HF_ENDPOINT` or `HF_TOKEN` is invalid.
    pub(super) fn new(
        location: &Location,
        http: &reqwest::Client,
        environment: &Environment,
    ) -> Result<(Hub, String)> {
        let wrong =
            |message: &str| Error::new(ErrorKind::Parameter, message).in_file(location.path());
        let endpoint = environment.get("HF_ENDPOINT").unwrap_or(ENDPOINT);
        let endpoint = endpoint.trim_end_matches('/').to_owned();
        let url = url::Url::parse(&endpoint).map_err(|_| wrong("HF_ENDPOINT is not a URL"))?;
        let host = url
            .host_str()
            .ok_or_else(|| wrong("HF_ENDPOINT names no server"))?;
        let host = url
            .port()
            .map_or(host.to_owned(), |port| format!("{host}:{port}"));
        let token = environment.get("HF_TOKEN").map(|token| {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.trim()));
            if let Ok(value) = &mut value {
                value.set_sensitive(true);
            }
            value
        });
        let token = token
            .transpose()
            .map_err(|_| wrong("HF_TOKEN is not a token"))?;
        let (name, revision) =
            hub_names(&location.host).ok_or_else(|| wrong("is not a data set"))?;
        let hub = Hub {
            http: http.clone(),
            endpoint,
            token,
            name: name.to_owned(),
            revision: revision.to_owned(),
            commit: OnceCell::new(),
        };
        Ok((hub, host))
    }

    /// Asks for a range of a file. All requests are for one commit, whose files never change.
    pub(super) async fn get(
        &self,
        location: &Location,
        range: Range<u64>,
    ) -> std::result::Result<Fetched, Failure> {
        let commit = self.commit().await?;
        let path = escaped(&location.key);
        let url = format!(
            "{}/datasets/{}/resolve/{commit}/{path}",
            self.endpoint, self.name
        );
        let fetched = web::get(&self.http, &url, range, None, self.token.as_ref()).await?;
        Ok(Fetched {
            identity: Identity {
                bytes: fetched.identity.bytes,
                version: Some(commit.to_owned()),
                ..Identity::default()
            },
            ..fetched
        })
    }

    /// Adds the files of a page below a directory. Its token is the URL of the page.
    pub(super) async fn list(
        &self,
        directory: &Location,
        token: Option<&str>,
        meter: &Meter,
        listing: &mut Listing,
    ) -> std::result::Result<Option<String>, Failure> {
        let commit = self.commit().await?.to_owned();
        let path = escaped(&directory.key);
        let first = format!(
            "{}/api/datasets/{}/tree/{commit}/{path}?recursive=true",
            self.endpoint, self.name
        );
        let url = token.unwrap_or(&first);
        let (entries, next): (Vec<HubEntry>, _) = self.json(url, Some(meter)).await?;
        for entry in entries.into_iter().filter(|entry| entry.kind == "file") {
            listing.add(Listed {
                key: entry.path,
                identity: Identity {
                    bytes: entry.size,
                    etag: entry.oid,
                    version: Some(commit.clone()),
                    modified: None,
                },
                modified: None,
            })?;
        }
        // The token of the user is for this server only.
        let is_here = |next: &String| next.starts_with(&format!("{}/", self.endpoint));
        match next {
            Some(next) if !is_here(&next) => {
                Err(Failure::refused("a listing that goes on at another server"))
            }
            next => Ok(next),
        }
    }

    async fn commit(&self) -> std::result::Result<&str, Failure> {
        let ask = || async {
            let revision = escaped_part(&self.revision);
            let url = format!(
                "{}/api/datasets/{}/revision/{revision}",
                self.endpoint, self.name
            );
            let (revision, _): (Revision, _) = self.json(&url, None).await?;
            Ok(revision.sha)
        };
        self.commit.get_or_try_init(ask).await.map(String::as_str)
    }

    /// The value that the hub answers, and the URL of the next page.
    async fn json<T: for<'a> Deserialize<'a>>(
        &self,
        url: &str,
        meter: Option<&Meter>,
    ) -> std::result::Result<(T, Option<String>), Failure> {
        let mut request = self.http.get(url);
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token.clone());
        }
        let mut response = web::send(request).await?;
        let head = web::head(&response);
        if head.status != StatusCode::OK {
            let body = web::start_of_body(response).await;
            return Err(head.failure(&body, false));
        }
        let link = head.headers.get(LINK).and_then(|link| link.to_str().ok());
        let next = link.and_then(next_page);
        let mut body = Vec::new();
        while let Some(piece) = next_piece(&mut response).await? {
            meter.inspect(|meter| meter.received(piece.len()));
            if body.len() + piece.len() > MAX_JSON_BYTES {
                let detail =
                    format!("an answer with a listing of more than {MAX_JSON_BYTES} bytes");
                return Err(Failure::refused(detail));
            }
            body.extend(piece);
        }
        let value = serde_json::from_slice(&body);
        let value =
            value.map_err(|error| Failure::refused(format!("an invalid listing: {error}")))?;
        Ok((value, next))
    }
}

/// The URL with `rel="next"` of a header `Link`.
fn next_page(link: &str) -> Option<String> {
    let mut links = link.split(',').filter(|link| link.contains("rel=\"next\""));
    let (url, _) = links.next()?.split_once('>')?;
    Some(url.trim().trim_start_matches('<').to_owned())
}

/// A path in a URL.
fn escaped(path: &str) -> String {
    let parts: Vec<String> = path.split('/').map(escaped_part).collect();
    parts.join("/")
}

fn escaped_part(part: &str) -> String {
    let mut escaped = String::new();
    for byte in part.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' | b'=' => escaped.push(byte.into()),
            byte if byte.is_ascii_alphanumeric() => escaped.push(byte.into()),
            byte => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_paths_are_read_and_written() {
        let link = "<http://h/a?cursor=x>; rel=\"next\"";
        assert_eq!(next_page(link).as_deref(), Some("http://h/a?cursor=x"));
        assert_eq!(next_page("<http://h/a>; rel=\"last\""), None);
        assert_eq!(escaped("a b/c%/ü-1.x"), "a%20b/c%25/%C3%BC-1.x");
        assert_eq!(
            escaped_part("refs/convert/parquet"),
            "refs%2Fconvert%2Fparquet"
        );
    }
}
