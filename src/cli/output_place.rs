//! The directory of `--output`: local, or in an object store.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use simtool::{Error, ErrorKind, Result};
use simtool_objects::{Location, RemoteDirectory, location, open_directory};
use xxhash_rust::xxh3::xxh3_64;

/// Where outputs are published.
pub struct OutputPlace {
    /// The directory that was given.
    pub given: PathBuf,
    /// The local directory: the same, or that of outputs under way.
    pub local: PathBuf,
    /// The directory of an object store, if one was given.
    pub remote: Option<Arc<dyn RemoteDirectory>>,
}

impl OutputPlace {
    /// The place that `--output` names. The local directory of a remote one is in `temp_dir` or in
    /// that of the system, and has a name of its own, so that the same command finds it again.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a place to which nothing can be written.
    pub fn of(output: &Path, temp_dir: Option<&Path>) -> Result<OutputPlace> {
        if location::scheme(output).is_none() {
            return Ok(OutputPlace {
                given: output.to_owned(),
                local: output.to_owned(),
                remote: None,
            });
        }
        let remote = open_directory(output)?;
        let url = Location::parse(output)?.to_string();
        let digest = xxh3_64(url.trim_end_matches('/').as_bytes());
        let parent = temp_dir.map_or_else(env::temp_dir, Path::to_owned);
        Ok(OutputPlace {
            given: output.to_owned(),
            local: parent.join(format!("simtool-{digest:016x}")),
            remote: Some(remote),
        })
    }

    /// The contents of the published summary.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; those of a request.
    pub fn published(&self) -> Result<String> {
        let name = Path::new("summary.json");
        let Some(remote) = &self.remote else {
            let path = self.local.join(name);
            return std::fs::read_to_string(&path).map_err(|cause| Error::unreadable(path, cause));
        };
        let mut text = Vec::new();
        let mut add = |piece: &[u8]| text.extend_from_slice(piece);
        let is_there = remote.read(name, &mut add)?;
        let text = String::from_utf8(text).ok().filter(|_| is_there);
        text.ok_or_else(|| {
            let message = "was changed or removed since it was written";
            Error::new(ErrorKind::Read, message).in_file(remote.url(name))
        })
    }
}
