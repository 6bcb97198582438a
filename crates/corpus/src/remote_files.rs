//! Objects of servers that inputs mean: named ones, those below a prefix, and those that match a
//! pattern.

use std::path::{Path, PathBuf};

use simtool_objects::Location;

use super::source::Source;
use crate::Result;
use simtool_files::remote;

/// The objects that a name or a pattern means.
#[derive(Debug)]
pub(super) enum RemoteFiles {
    /// The object with this name.
    One(PathBuf),
    /// Objects of a listing.
    #[cfg_attr(
        not(feature = "cloud"),
        allow(dead_code, reason = "a build without the feature lists nothing")
    )]
    Several {
        /// The files that are read.
        files: Vec<PathBuf>,
        /// Those below the prefix of which a part of the name begins with a dot.
        hidden: Vec<PathBuf>,
    },
}

/// The objects that `name` means: those that match, if it is a pattern; those below it, if it ends in
/// a slash, names a whole bucket or data set, or if there is no such object but some below it.
///
/// # Errors
/// [`ErrorKind::Parameter`] for an invalid name or pattern, for a pattern that matches nothing, and
/// for a directory of a web server; [`ErrorKind::Read`] if the server does not answer.
pub(super) fn find(name: &Path) -> Result<RemoteFiles> {
    let shown = remote::shown(name)?;
    #[cfg(feature = "cloud")]
    return listed::find(shown);
    #[cfg(not(feature = "cloud"))]
    Ok(RemoteFiles::One(shown))
}

/// Whether the server of `name` lists its objects, so that [`find`] has to ask it.
pub(super) fn has_listings(name: &Path) -> bool {
    Location::parse(name).is_ok_and(|location| location.scheme.has_listings())
}

#[cfg(feature = "cloud")]
mod listed {
    use std::io;

    use globset::GlobBuilder;
    use simtool_objects::{check, list, request_first};

    use super::{Location, Path, PathBuf, RemoteFiles, Result};
    use crate::{Error, ErrorKind};

    pub(super) fn find(shown: PathBuf) -> Result<RemoteFiles> {
        let location = Location::known(&shown)?;
        let has_listings = location.scheme.has_listings();
        if has_listings && location.is_pattern() {
            return matching(&location);
        }
        if location.key.is_empty() {
            return below(&location);
        }
        if let Some(prefix) = location.key.strip_suffix('/') {
            return below(&location.with_key(prefix));
        }
        if has_listings && let Err(error) = check(&shown) {
            let is_missing = error.cause().map(io::Error::kind) == Some(io::ErrorKind::NotFound);
            return match is_missing.then(|| below(&location)) {
                Some(Ok(found)) => Ok(found),
                _ => Err(error),
            };
        }
        Ok(RemoteFiles::One(shown))
    }

    /// The objects below a prefix.
    fn below(prefix: &Location) -> Result<RemoteFiles> {
        let all = list(prefix)?;
        let top = prefix.path();
        // In keys, `.` and `..` are names as others.
        let is_hidden_name = |name: &[u8]| name.starts_with(b".") && name != b"." && name != b"..";
        let start = top.as_os_str().len();
        let is_hidden = |file: &PathBuf| {
            let below = file.as_os_str().as_encoded_bytes().get(start..);
            let mut names = below.unwrap_or_default().split(|&byte| byte == b'/');
            names.any(is_hidden_name)
        };
        let (hidden, files): (Vec<_>, Vec<_>) = all.into_iter().partition(is_hidden);
        if files.is_empty() && hidden.is_empty() {
            let message = "has no objects (check the name)";
            return Err(Error::new(ErrorKind::Read, message).in_file(top));
        }
        Ok(RemoteFiles::Several { files, hidden })
    }

    /// The objects whose keys match the pattern `location`; as for files, a star does not match a
    /// slash.
    fn matching(location: &Location) -> Result<RemoteFiles> {
        let wrong =
            |message: String| Error::new(ErrorKind::Parameter, message).in_file(location.path());
        let glob = GlobBuilder::new(&location.key)
            .literal_separator(true)
            .build();
        let glob =
            glob.map_err(|cause| wrong(format!("is not a valid pattern: {}", cause.kind())))?;
        let matcher = glob.compile_matcher();
        let special = location.key.find(['*', '?', '[', '{']).unwrap_or(0);
        let end = location.key[..special].rfind('/').unwrap_or(0);
        let top = location.with_key(&location.key[..end]);
        let mut files = list(&top)?;
        let is_meant = |key: &str| key == location.key || matcher.is_match(key);
        files.retain(|file| Location::known(file).is_ok_and(|found| is_meant(&found.key)));
        if files.is_empty() {
            return Err(wrong("matches no object (check the pattern)".into()));
        }
        Ok(RemoteFiles::Several {
            files,
            hidden: Vec::new(),
        })
    }

    /// The number of objects whose first bytes are requested ahead.
    pub(super) const AHEAD: usize = 16;

    /// Requests the first bytes of the next objects of `names`.
    pub(super) fn request<'a>(names: impl Iterator<Item = &'a Path>) -> Result<()> {
        names.take(AHEAD).try_for_each(request_first)
    }
}

/// Requests the first bytes of objects before they are opened in turn: detection of many objects would
/// take a round trip for each. Local files among them cost nothing.
pub(super) struct RequestsAhead<'a> {
    /// The remote names, each with its place among all.
    remote: Vec<(usize, &'a Path)>,
    /// The number of remote names that are not requested any more.
    passed: usize,
}

impl<'a> RequestsAhead<'a> {
    /// Requests of the remote names among `names` for which `is_requested` holds. Each name is looked
    /// at once.
    pub(super) fn of(
        names: impl Iterator<Item = &'a Path>,
        is_requested: impl Fn(&Path) -> bool,
    ) -> RequestsAhead<'a> {
        let is_remote = |(_, name): &(usize, &Path)| remote::is_remote(name) && is_requested(name);
        RequestsAhead {
            remote: names.enumerate().filter(is_remote).collect(),
            passed: 0,
        }
    }

    /// Requests the next objects, before the name at the place `next` is opened.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for an invalid name.
    pub(super) fn request(&mut self, next: usize) -> Result<()> {
        let passed = |&(place, _): &(usize, &Path)| place < next;
        while self.remote.get(self.passed).is_some_and(passed) {
            self.passed += 1;
        }
        #[cfg(feature = "cloud")]
        listed::request(self.remote[self.passed..].iter().map(|&(_, name)| name))?;
        Ok(())
    }
}

/// Requests the next of `sources` as far as they are small objects, which take a request each: their
/// reader would wait for each.
///
/// # Errors
/// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for an invalid name.
pub fn request_small_ahead(sources: &[Source]) -> Result<()> {
    #[cfg(feature = "cloud")]
    {
        let is_small = |source: &&Source| {
            let bytes = source.bytes.filter(|_| source.object.is_some());
            bytes.is_some_and(|bytes| bytes <= simtool_objects::PREFIX_BYTES)
        };
        let small = sources.iter().take(listed::AHEAD).filter(is_small);
        listed::request(small.map(|source| source.path.as_path()))
    }
    #[cfg(not(feature = "cloud"))]
    {
        let _ = sources;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Promise (Deduplication): Listing inputs takes time in proportion to their number, named, in
    /// lists or in directories; a file is opened once for it, and no other name is looked at again
    /// (measured in [PERFORMANCE.md](PERFORMANCE.md#many-files))
    #[test]
    fn each_name_is_looked_at_once() {
        let names: Vec<PathBuf> = (0..1000).map(|name| format!("{name}").into()).collect();
        let looked_at = Cell::new(0);
        let counted = names.iter().map(|name| {
            looked_at.set(looked_at.get() + 1);
            name.as_path()
        });
        let mut ahead = RequestsAhead::of(counted, |_| true);
        (0..names.len()).for_each(|place| ahead.request(place).unwrap());
        assert_eq!((looked_at.get(), ahead.remote.len()), (names.len(), 0));
    }
}
