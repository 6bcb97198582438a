//! Who may come in, and how many at once.

use std::net::IpAddr;
use std::sync::Arc;

use hyper::header::{AUTHORIZATION, HOST, ORIGIN};
use hyper::{HeaderMap, Request, Uri};
use tokio::sync::OwnedSemaphorePermit;

use super::Service;
use super::problem::Problem;

/// The right to be one of the requests at once; a batch keeps it to its end.
pub type Permit = Arc<OwnedSemaphorePermit>;

/// The right to be one of the additions, removals, batches and copies at once. Half of the
/// requests may be such, so that those who only ask find the other half.
#[derive(Debug)]
pub struct Place(
    #[expect(dead_code, reason = "it is given back when dropped")] OwnedSemaphorePermit,
);

impl Place {
    fn new(permit: OwnedSemaphorePermit) -> Place {
        Place(permit)
    }
}

/// Routes that need no token: they tell nothing of the index.
const OPEN: [&str; 3] = ["/", "/healthz", "/openapi.json"];

impl Service {
    /// Lets a request in.
    ///
    /// # Errors
    /// If it has no token, comes from a page of somebody else, or there are too many.
    pub(super) fn admit<B>(&self, request: &Request<B>) -> Result<Option<Permit>, Problem> {
        let (headers, path) = (request.headers(), request.uri().path());
        self.refuse_foreign(headers, request.uri())?;
        if path == "/healthz" {
            return Ok(None);
        }
        if let Some(token) = &self.config.token
            && !OPEN.contains(&path)
            && !bearer(headers).is_some_and(|given| equal(given, token))
        {
            return Err(Problem::unauthorized());
        }
        match Arc::clone(&self.requests).try_acquire_owned() {
            Ok(permit) => Ok(Some(Arc::new(permit))),
            Err(_) => Err(Problem::busy()),
        }
    }

    /// One of the places for what may take long.
    ///
    /// # Errors
    /// If there are too many already.
    pub(super) fn place(&self) -> Result<Place, Problem> {
        let place = Arc::clone(&self.slow).try_acquire_owned();
        place.map(Place::new).map_err(|_| Problem::crowded())
    }

    /// A page of another site may make a browser send requests; it may also have a name that leads
    /// to this machine. With a token neither gets anywhere.
    fn refuse_foreign(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Problem> {
        // Bytes that are no text are shown so, and are no name of this machine.
        let text = |value: &hyper::header::HeaderValue| {
            String::from_utf8_lossy(value.as_bytes()).into_owned()
        };
        let own = uri.authority().map(ToString::to_string);
        let host = own
            .or_else(|| headers.get(HOST).map(text))
            .unwrap_or_default();
        if let Some(origin) = headers.get(ORIGIN).map(text) {
            let authority = origin.split_once("://").map(|(_, authority)| authority);
            if authority != Some(&host) {
                return Err(Problem::foreign(format!("a page of {origin} may not ask")));
            }
        }
        let guarded = self.config.token.is_none() && self.config.listen.ip().is_loopback();
        match guarded && !is_loopback(&host) {
            true => Err(Problem::foreign(format!("this service is not {host}"))),
            false => Ok(()),
        }
    }
}

/// Whether a host, maybe with its port, is this machine.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = |address: IpAddr| address.is_loopback();
    name.is_empty()
        || name.eq_ignore_ascii_case("localhost")
        || address.parse().is_ok_and(is_loopback)
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let value = headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, token) = value.split_at_checked(7)?;
    scheme
        .eq_ignore_ascii_case(b"bearer ")
        .then(|| token.trim_ascii())
}

/// Takes the same time wherever the two differ.
fn equal(given: &[u8], token: &[u8]) -> bool {
    let differences = given.iter().zip(token).map(|(a, b)| a ^ b);
    let differs = differences.fold(0, |all, one| all | one);
    std::hint::black_box(differs) == 0 && given.len() == token.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_this_machine() {
        for host in [
            "localhost",
            "LOCALHOST:8750",
            "127.0.0.1:1",
            "[::1]:8750",
            "[::1]",
            "",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:8750", "10.0.0.1:1"] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn tokens_are_compared_as_a_whole() {
        assert!(equal(b"abc", b"abc"));
        for other in [&b""[..], b"ab", b"abcd", b"abd"] {
            assert!(!equal(other, b"abc"));
        }
        let mut headers = HeaderMap::new();
        assert_eq!(bearer(&headers), None);
        headers.insert(
            AUTHORIZATION,
            hyper::header::HeaderValue::from_static("bearer  x "),
        );
        assert_eq!(bearer(&headers), Some(&b"x"[..]));
    }
}
