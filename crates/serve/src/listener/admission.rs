//! Admission of requests: origin, token and number.

use std::net::IpAddr;

use hyper::header::{AUTHORIZATION, HOST, HeaderValue, ORIGIN};
use hyper::{HeaderMap, Request, Uri};

use crate::limits::permits::RequestPermit;
use crate::problem::Problem;
use crate::service::Service;

/// Routes that need no token: they reveal no documents.
const OPEN: [&str; 3] = ["/", "/healthz", "/openapi.json"];

impl Service {
    /// Admits a request that has the token, if one is needed, and no foreign origin, unless too
    /// many are under way. `/healthz` needs no token and no permit.
    pub(super) fn admit<B>(&self, request: &Request<B>) -> Result<Option<RequestPermit>, Problem> {
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
        self.permits.request().map(Some)
    }

    /// Refuses requests that a page of another site makes a browser send. On a loopback address and
    /// without a token, also refuses requests to another host name, against DNS rebinding.
    fn refuse_foreign(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Problem> {
        // A value that is not UTF-8 never equals a name of this machine.
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let own = uri.authority().map(ToString::to_string);
        let host = own
            .or_else(|| headers.get(HOST).map(text))
            .unwrap_or_default();
        if let Some(origin) = headers.get(ORIGIN).map(text) {
            let authority = origin.split_once("://").map(|(_, authority)| authority);
            if authority != Some(&host) {
                return Err(Problem::foreign(format!(
                    "a page of {origin} may not send requests"
                )));
            }
        }
        let guarded = self.config.token.is_none() && self.config.listen.ip().is_loopback();
        match guarded && !is_loopback(&host) {
            true => Err(Problem::foreign(format!("this service is not {host}"))),
            false => Ok(()),
        }
    }
}

/// Whether a host, with or without a port, is a loopback address or empty.
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

/// Compares in a time that depends on the lengths only.
fn equal(given: &[u8], token: &[u8]) -> bool {
    let differences = given.iter().zip(token).map(|(a, b)| a ^ b);
    let differs = differences.fold(0, |all, one| all | one);
    std::hint::black_box(differs) == 0 && given.len() == token.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_hosts_are_recognised() {
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
    fn whole_tokens_are_compared() {
        assert!(equal(b"abc", b"abc"));
        for other in [&b""[..], b"ab", b"abcd", b"abd"] {
            assert!(!equal(other, b"abc"));
        }
        let mut headers = HeaderMap::new();
        assert_eq!(bearer(&headers), None);
        headers.insert(AUTHORIZATION, HeaderValue::from_static("bearer  x "));
        assert_eq!(bearer(&headers), Some(&b"x"[..]));
    }
}
