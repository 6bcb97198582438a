//! Objects of servers that inputs mean: named ones, those below a prefix, and those that match a
//! pattern.

use std::path::{Path, PathBuf};

use simtool_objects::Location;

use super::source::Source;
use crate::Result;
use crate::io::remote;

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
        /// Those that are read.
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
        if location.key.is_empty() || location.key.ends_with('/') {
            let prefix = location.key.trim_end_matches('/').to_owned();
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
        let is_hidden = |file: &Path| {
            let below = file.strip_prefix(&top).unwrap_or(file);
            let mut names = below.components();
            names.any(|name| name.as_os_str().as_encoded_bytes().starts_with(b"."))
        };
        let (hidden, files): (Vec<_>, Vec<_>) = all.into_iter().partition(|file| is_hidden(file));
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
        files.retain(|file| Location::known(file).is_ok_and(|found| matcher.is_match(found.key)));
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

    /// Requests the first bytes of the next remote files of `names`, of which `next` is the next one
    /// that is opened.
    pub(in crate::corpus) fn request_ahead<'a>(
        names: impl Iterator<Item = &'a Path>,
    ) -> Result<()> {
        names.take(AHEAD).try_for_each(request_first)
    }
}

/// Requests the first bytes of the next files of `names`, as far as they are on servers: detection of
/// many objects would take a round trip for each.
pub(super) fn request_ahead<'a>(names: impl Iterator<Item = &'a Path>) -> Result<()> {
    let names = names.filter(|name| remote::is_remote(name));
    #[cfg(feature = "cloud")]
    return listed::request_ahead(names);
    #[cfg(not(feature = "cloud"))]
    {
        drop(names);
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
        let is_small = |bytes: u64| bytes <= simtool_objects::PREFIX_BYTES;
        let next = sources.iter().take(listed::AHEAD);
        let small = next.filter(|source| source.bytes.is_some_and(is_small));
        request_ahead(small.map(|source| source.path.as_path()))
    }
    #[cfg(not(feature = "cloud"))]
    {
        let _ = sources;
        Ok(())
    }
}
