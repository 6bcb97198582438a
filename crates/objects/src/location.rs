//! Names of objects: their schemes, buckets or hosts, and keys.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::{Error, ErrorKind, Result};

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// Amazon S3, and servers with its interface.
    S3,
    /// Google Cloud Storage.
    Gs,
    /// Azure Blob Storage.
    Az,
    /// A web server, without encryption.
    Http,
    /// A web server.
    Https,
    /// A data set of the Hugging Face hub.
    Hf,
}

impl Scheme {
    const ALL: [Scheme; 6] = [
        Scheme::S3,
        Scheme::Gs,
        Scheme::Az,
        Scheme::Http,
        Scheme::Https,
        Scheme::Hf,
    ];

    /// The scheme with this name.
    pub fn of(name: &str) -> Option<Scheme> {
        let mut all = Scheme::ALL.into_iter();
        all.find(|scheme| scheme.name().eq_ignore_ascii_case(name))
    }

    /// Its name in URLs.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::S3 => "s3",
            Scheme::Gs => "gs",
            Scheme::Az => "az",
            Scheme::Http => "http",
            Scheme::Https => "https",
            Scheme::Hf => "hf",
        }
    }

    /// Whether its servers list their objects.
    pub fn has_listings(self) -> bool {
        !matches!(self, Scheme::Http | Scheme::Https)
    }
}

/// Parameters of URLs that give access to everyone who knows them.
const SECRET_PARAMETERS: [&str; 14] = [
    "x-amz-algorithm",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-expires",
    "x-amz-security-token",
    "x-amz-signature",
    "x-amz-signedheaders",
    "x-goog-credential",
    "x-goog-signature",
    "awsaccesskeyid",
    "signature",
    "sig",
    "token",
    "access_token",
];

/// The secret parameters that give access by themselves.
#[cfg(feature = "client")]
const CREDENTIALS: [&str; 7] = [
    "x-amz-security-token",
    "x-amz-signature",
    "x-goog-signature",
    "signature",
    "sig",
    "token",
    "access_token",
];

/// The place of an object, or the prefix of several.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Location {
    /// The kind of its server.
    pub scheme: Scheme,
    /// Its bucket or container; of a web server, the host and port; of the hub,
    /// `datasets/ORGANISATION/NAME`, possibly with `@REVISION`.
    pub host: String,
    /// Its name there, without a slash at the start.
    pub key: String,
    /// What follows `?` in the URL of a web server.
    query: Option<String>,
}

impl Location {
    /// The location that a name such as `s3://bucket/key` means.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if the name has an unknown scheme, no bucket, or a password.
    pub fn parse(name: &Path) -> Result<Location> {
        let wrong = |message: &str| {
            Error::new(ErrorKind::Parameter, message).in_file(without_secrets(name))
        };
        let text = name.to_str().ok_or_else(|| wrong("is not UTF-8"))?;
        let scheme = scheme(name).and_then(Scheme::of);
        let scheme = scheme.ok_or_else(|| {
            wrong("has an unknown scheme: expected s3, gs, az, http, https or hf")
        })?;
        let rest = text.split_once("://").map_or("", |(_, rest)| rest);
        let (rest, query) = match scheme {
            // In keys of object stores, these are ordinary characters.
            Scheme::S3 | Scheme::Gs | Scheme::Az | Scheme::Hf => (rest, None),
            Scheme::Http | Scheme::Https => {
                let rest = rest.split('#').next().unwrap_or(rest);
                match rest.split_once('?') {
                    Some((rest, query)) => (rest, Some(query.to_owned())),
                    None => (rest, None),
                }
            }
        };
        let (host, key) = match scheme {
            // datasets/ORGANISATION/NAME
            Scheme::Hf => match rest.match_indices('/').nth(2) {
                Some((end, _)) => (&rest[..end], &rest[end + 1..]),
                None => (rest, ""),
            },
            _ => rest.split_once('/').unwrap_or((rest, "")),
        };
        if host.is_empty() {
            return Err(wrong(match scheme {
                Scheme::Http | Scheme::Https => "names no server",
                _ => "names no bucket",
            }));
        }
        if scheme != Scheme::Hf && host.contains('@') {
            let message = "has a user name or a password: leave them out of the URL (see \
                           docs/how-to/read-object-stores.md for credentials)";
            return Err(wrong(message));
        }
        if scheme == Scheme::Hf && hub_names(host).is_none() {
            return Err(wrong(
                "is not a data set: expected hf://datasets/ORGANISATION/NAME/…",
            ));
        }
        Ok(Location {
            scheme,
            host: host.to_owned(),
            key: key.to_owned(),
            query,
        })
    }

    /// Another object of the same bucket or host.
    #[must_use]
    pub fn with_key(&self, key: impl Into<String>) -> Location {
        Location {
            key: key.into(),
            query: None,
            ..self.clone()
        }
    }

    /// The URL to ask a web server for. It may have a signature, and must not be shown.
    pub fn secret_url(&self) -> String {
        let plain = format!("{}://{}/{}", self.scheme.name(), self.host, self.key);
        match &self.query {
            Some(query) => format!("{plain}?{query}"),
            None => plain,
        }
    }

    /// Whether the name has characters of patterns.
    pub fn is_pattern(&self) -> bool {
        self.key.contains(['*', '?', '[', '{'])
    }

    /// The name that is shown and stored: without parameters that give access.
    pub fn path(&self) -> PathBuf {
        self.to_string().into()
    }
}

impl fmt::Display for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}://{}/{}", self.scheme.name(), self.host, self.key)?;
        let parameters = self.query.as_deref().unwrap_or_default().split('&');
        let shown = parameters.filter(|one| !one.is_empty() && !is_secret(one));
        for (number, parameter) in shown.enumerate() {
            let before = if number == 0 { '?' } else { '&' };
            write!(out, "{before}{parameter}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}

/// The name of a data set and its revision in `datasets/ORGANISATION/NAME@REVISION`.
pub(crate) fn hub_names(host: &str) -> Option<(&str, &str)> {
    let rest = host.strip_prefix("datasets/")?;
    let (name, revision) = rest.split_once('@').unwrap_or((rest, "main"));
    let (organisation, own) = name.split_once('/')?;
    let is_whole = !organisation.is_empty() && !own.is_empty() && !revision.is_empty();
    is_whole.then_some((name, revision))
}

fn is_secret(parameter: &str) -> bool {
    let name = parameter.split('=').next().unwrap_or(parameter);
    let is_name = |secret: &str| name.eq_ignore_ascii_case(secret);
    SECRET_PARAMETERS.iter().any(|secret| is_name(secret))
}

/// Whether the URL `next` has a credential of the URL `from`.
#[cfg(feature = "client")]
pub(crate) fn has_secret_of(next: &url::Url, from: &url::Url) -> bool {
    let is_credential = |name: &str| CREDENTIALS.iter().any(|one| name.eq_ignore_ascii_case(one));
    let secrets = from.query_pairs().filter(|(name, _)| is_credential(name));
    let mut secrets = secrets.filter(|(_, value)| !value.is_empty());
    secrets.any(|(_, secret)| next.query_pairs().any(|(_, value)| value == secret))
}

/// A remote name without its user, its password, and parameters that give access; other names are
/// returned unchanged.
pub fn without_secrets(name: &Path) -> PathBuf {
    let (Some(_), Some(text)) = (scheme(name), name.to_str()) else {
        return name.to_owned();
    };
    let Some((scheme, rest)) = text.split_once("://") else {
        return name.to_owned();
    };
    let (host, behind) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or(host);
    let mut shown = format!("{scheme}://{host}");
    if rest.contains('/') {
        let (key, query) = behind.split_once('?').unwrap_or((behind, ""));
        shown.push('/');
        shown.push_str(key);
        let parameters = query.split('&').filter(|one| !one.is_empty());
        for (number, one) in parameters.filter(|one| !is_secret(one)).enumerate() {
            shown.push(if number == 0 { '?' } else { '&' });
            shown.push_str(one);
        }
    }
    shown.into()
}

/// The scheme before `://` at the start of a path, if any; a single letter is not a scheme.
pub fn scheme(path: &Path) -> Option<&str> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let end = bytes.windows(3).position(|three| three == b"://")?;
    let scheme = std::str::from_utf8(&bytes[..end]).ok()?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let is_scheme = end > 1 && scheme.bytes().all(is_name);
    (is_scheme && scheme.starts_with(|first: char| first.is_ascii_alphabetic())).then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(name: &str) -> (Scheme, String, String) {
        let location = Location::parse(Path::new(name)).unwrap();
        (location.scheme, location.host, location.key)
    }

    #[test]
    fn names_are_divided() {
        for (name, scheme, host, key) in [
            ("s3://b/a/c d?e#f", Scheme::S3, "b", "a/c d?e#f"),
            ("gs://b", Scheme::Gs, "b", ""),
            ("az://c/x/", Scheme::Az, "c", "x/"),
            ("http://h:80/a?b=/c#d", Scheme::Http, "h:80", "a"),
            ("HTTPS://h/", Scheme::Https, "h", ""),
            ("hf://datasets/o/n/x/y", Scheme::Hf, "datasets/o/n", "x/y"),
            ("hf://datasets/o/n@r", Scheme::Hf, "datasets/o/n@r", ""),
        ] {
            assert_eq!(parsed(name), (scheme, host.into(), key.into()), "{name}");
        }
    }

    #[test]
    fn invalid_names_are_refused_without_their_passwords() {
        for name in [
            "ftp://h/x",
            "s3:///x",
            "https://",
            "hf://models/o/n",
            "hf://datasets/o",
            "hf://datasets/o/n@/x",
            "https://me:hunter2@h/x?token=hunter2",
        ] {
            let error = Location::parse(Path::new(name)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    /// Promise (Inputs on servers): Credentials, and signatures in URLs, are …
    #[test]
    fn signatures_are_not_shown() {
        let name = "https://h/x?a=1&X-Amz-Signature=abc&b=2&sig=def";
        let location = Location::parse(Path::new(name)).unwrap();
        assert_eq!(location.to_string(), "https://h/x?a=1&b=2");
        assert_eq!(location.path(), without_secrets(Path::new(name)));
        assert_eq!(location.secret_url(), name);
        let name = "https://h/x?X-Amz-Signature=abc";
        let location = Location::parse(Path::new(name)).unwrap();
        assert_eq!(location.to_string(), "https://h/x");
        assert_eq!(location.secret_url(), name);
        assert_eq!(without_secrets(Path::new("a?sig=1")), Path::new("a?sig=1"));
    }
}
