//! Objects of servers that inputs mean: named ones, those below a prefix, and those that match a
//! pattern.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::GlobBuilder;
use simtool_files::remote;
use simtool_objects::{Client, Location, Object, Opening, PREFIX_BYTES};

use crate::source::Source;
use crate::{Error, ErrorKind, Result};

/// The number of objects whose first bytes are requested ahead.
const AHEAD: usize = 16;

/// An input on a server.
#[derive(Clone, Debug)]
pub(crate) enum RemoteInput {
    /// It was named, and is not open.
    Named(Location),
    /// It was listed or opened.
    Open(Arc<Object>),
}

impl RemoteInput {
    /// The name that is shown.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            RemoteInput::Named(location) => location.path(),
            RemoteInput::Open(object) => object.name(),
        }
    }

    fn request(self, client: &Client) -> Result<RequestedInput> {
        match self {
            RemoteInput::Named(location) => {
                let opening = Box::new(client.open(&location)?);
                Ok(RequestedInput::Opening(opening))
            }
            RemoteInput::Open(object) => {
                object.request_first();
                Ok(RequestedInput::Open(object))
            }
        }
    }
}

/// An input on a server whose first bytes were requested.
pub(crate) enum RequestedInput {
    Opening(Box<Opening>),
    Open(Arc<Object>),
}

impl RequestedInput {
    /// The object.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if the server does not answer.
    pub(crate) fn wait(self) -> Result<Arc<Object>> {
        match self {
            RequestedInput::Opening(opening) => opening.wait(),
            RequestedInput::Open(object) => Ok(object),
        }
    }
}

/// The objects that a name or a pattern means.
#[derive(Debug)]
pub(crate) enum RemoteFiles {
    /// The object with this name.
    One(RemoteInput),
    /// Objects of a listing.
    Several {
        /// The files that are read.
        files: Vec<Arc<Object>>,
        /// Those below the prefix of which a part of the name begins with a dot.
        hidden: Vec<PathBuf>,
    },
}

/// The objects that `name` means: those that match, if it is a pattern; those below it, if it ends in
/// a slash, names a whole bucket or data set, or if there is no such object but some below it. Its
/// object may have been `requested`.
///
/// # Errors
/// [`ErrorKind::Parameter`] for an invalid name or pattern, for a pattern that matches nothing, and
/// for a directory of a web server; [`ErrorKind::Read`] if the server does not answer.
pub(crate) fn find(
    client: &Client,
    name: &Path,
    requested: Option<RequestedInput>,
) -> Result<RemoteFiles> {
    let location = remote::location(name)?;
    let has_listings = location.scheme.has_listings();
    if has_listings && location.is_pattern() {
        return matching(client, &location);
    }
    if location.key.is_empty() {
        return below(client, &location);
    }
    if let Some(prefix) = location.key.strip_suffix('/') {
        return below(client, &location.with_key(prefix));
    }
    if !has_listings {
        return Ok(RemoteFiles::One(RemoteInput::Named(location)));
    }
    let requested = match requested {
        Some(requested) => requested,
        None => RemoteInput::Named(location.clone()).request(client)?,
    };
    match requested.wait() {
        Ok(object) => Ok(RemoteFiles::One(RemoteInput::Open(object))),
        Err(error) => {
            let is_missing = error.cause().map(io::Error::kind) == Some(io::ErrorKind::NotFound);
            match is_missing.then(|| below(client, &location)) {
                Some(Ok(found)) => Ok(found),
                _ => Err(error),
            }
        }
    }
}

/// The named input `name`, if [`find`] has to open it: its server has listings, which are asked for if
/// there is no such object.
pub(super) fn may_be_prefix(name: &Path) -> Option<RemoteInput> {
    let location = remote::location(name).ok()?;
    let is_one = !location.is_pattern() && !location.key.is_empty() && !location.key.ends_with('/');
    let is_opened = location.scheme.has_listings() && is_one;
    is_opened.then_some(RemoteInput::Named(location))
}

/// The objects below a prefix.
fn below(client: &Client, prefix: &Location) -> Result<RemoteFiles> {
    let all = client.list(prefix)?;
    let top = prefix.path();
    // In keys, `.` and `..` are names as others.
    let is_hidden_name = |name: &[u8]| name.starts_with(b".") && name != b"." && name != b"..";
    let start = top.as_os_str().len();
    let is_hidden = |file: &Arc<Object>| {
        let name = file.name();
        let below = name.as_os_str().as_encoded_bytes().get(start..);
        let mut names = below.unwrap_or_default().split(|&byte| byte == b'/');
        names.any(is_hidden_name)
    };
    let (hidden, files): (Vec<_>, Vec<_>) = all.into_iter().partition(is_hidden);
    if files.is_empty() && hidden.is_empty() {
        let message = "has no objects (check the name)";
        return Err(Error::new(ErrorKind::Read, message).in_file(top));
    }
    let hidden = hidden.iter().map(|file| file.name()).collect();
    Ok(RemoteFiles::Several { files, hidden })
}

/// The objects whose keys match the pattern `location`; as for files, a star does not match a slash.
fn matching(client: &Client, location: &Location) -> Result<RemoteFiles> {
    let wrong =
        |message: String| Error::new(ErrorKind::Parameter, message).in_file(location.path());
    let glob = GlobBuilder::new(&location.key)
        .literal_separator(true)
        .build();
    let glob = glob.map_err(|cause| wrong(format!("is not a valid pattern: {}", cause.kind())))?;
    let matcher = glob.compile_matcher();
    let special = location.key.find(['*', '?', '[', '{']).unwrap_or(0);
    let end = location.key[..special].rfind('/').unwrap_or(0);
    let top = location.with_key(&location.key[..end]);
    let mut files = client.list(&top)?;
    let is_meant = |key: &str| key == location.key || matcher.is_match(key);
    files.retain(|file| is_meant(file.key()));
    if files.is_empty() {
        return Err(wrong("matches no object (check the pattern)".into()));
    }
    Ok(RemoteFiles::Several {
        files,
        hidden: Vec::new(),
    })
}

/// Requests the first bytes of objects before they are opened in turn: detection of many objects would
/// take a round trip for each.
pub(super) struct RequestsAhead<'a, I> {
    client: &'a Client,
    /// The inputs on servers that were not requested yet, with their places among all.
    remote: I,
    requested: VecDeque<(usize, RequestedInput)>,
}

impl<'a, I: Iterator<Item = (usize, RemoteInput)>> RequestsAhead<'a, I> {
    /// Requests of the inputs `remote`, each with its place among all inputs.
    pub(crate) fn new(client: &'a Client, remote: I) -> RequestsAhead<'a, I> {
        RequestsAhead {
            client,
            remote,
            requested: VecDeque::new(),
        }
    }

    /// The input at the place `next`, if it is on a server. It and the next ones are requested. Places
    /// only increase.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for contradictory settings of a server.
    pub(crate) fn take(&mut self, next: usize) -> Result<Option<RequestedInput>> {
        while self.requested.len() < AHEAD
            && let Some((place, input)) = self.remote.next()
        {
            self.requested
                .push_back((place, input.request(self.client)?));
        }
        match self.requested.front() {
            Some((place, _)) if *place == next => {
                Ok(self.requested.pop_front().map(|(_, requested)| requested))
            }
            _ => Ok(None),
        }
    }
}

/// Requests the next of `sources` as far as they are small objects, which take a request each: their
/// reader would wait for each.
pub fn request_small_ahead(sources: &[Source]) {
    for source in sources.iter().take(AHEAD) {
        if let Some(object) = &source.object
            && source.bytes.is_some_and(|bytes| bytes <= PREFIX_BYTES)
        {
            object.request_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Promise (Deduplication): Listing inputs takes time in proportion to their number, named, in
    /// lists or in directories; a file is opened once for it, and no other name is looked at again
    /// (measured in [*Performance*](measurements/performance.md#many-files))
    #[test]
    fn each_name_is_looked_at_once() {
        let looked_at = Cell::new(0);
        let none_is_remote = (0..1000).filter_map(|_| {
            looked_at.set(looked_at.get() + 1);
            None
        });
        let client = Client::new();
        let mut ahead = RequestsAhead::new(&client, none_is_remote);
        (0..1000).for_each(|place| assert!(ahead.take(place).unwrap().is_none()));
        assert_eq!(looked_at.get(), 1000);
    }
}
