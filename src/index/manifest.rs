//! What is frozen when an index is made: a small text file, `index.json`, renamed into place
//! when all else is there.
//!
//! The first line is JSON, the second the 64-bit xxh3 of the first in hexadecimal.

use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::Layout;
use super::database::{self, Database};
use super::form::Form;
use super::open::segment_path;
use crate::io::{Faults, PagedFile, directory};
use crate::{Error, ErrorKind, Result};

/// The name of the file.
pub const NAME: &str = "index.json";
/// The version of the format of the whole index.
pub const VERSION: u32 = 1;

/// What an index was made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the format.
    pub simtool_index: u32,
    /// The method, as the maker of the index described it.
    pub spec: String,
    /// Width of the fingerprints in bits; 0 if sketches are found by keys.
    pub width: u32,
    /// The distance within which everything is found.
    pub distance: u32,
    /// Which tables fingerprints get.
    pub layout: Layout,
    /// Seed of the hashes of ids.
    pub seed: u64,
}

/// All that a reader needs to know before it understands the rest.
#[derive(Deserialize)]
struct Version {
    simtool_index: u32,
}

impl Manifest {
    /// That of a new index.
    pub fn new(spec: &str, form: Form, layout: Layout, seed: u64) -> Manifest {
        let (width, distance) = form.bits();
        let spec = spec.to_owned();
        Manifest {
            simtool_index: VERSION,
            spec,
            width,
            distance,
            layout,
            seed,
        }
    }

    /// Reads that of the index `index`; the one in its database if the file was lost.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if there is none, [`ErrorKind::Content`] if it is damaged or of a
    /// newer version.
    pub fn read(index: &Path) -> Result<Manifest> {
        let path = index.join(NAME);
        if !directory::exists(&path)? {
            let message = if !directory::exists(index)? {
                "there is no such index (build it first)"
            } else if !index.is_dir() {
                "is no index of simtool, which would be a directory"
            } else if let Some(manifest) = lost(index)? {
                return Ok(manifest);
            } else {
                "is no index of simtool, or an unfinished one (build it again)"
            };
            return Err(Error::new(ErrorKind::Read, message).in_file(index));
        }
        Self::decode(&PagedFile::read_all(&path)?)
            .map_err(|message| Error::new(ErrorKind::Content, message).in_file(&path))
    }

    fn decode(bytes: &[u8]) -> std::result::Result<Manifest, String> {
        let damaged = || "is damaged: its lines do not belong together (restore it from a copy)";
        let text = std::str::from_utf8(bytes).map_err(|_| damaged())?;
        let (json, sum) = text.split_once('\n').ok_or_else(damaged)?;
        if sum.strip_suffix('\n') != Some(&format!("{:016x}", xxh3_64(json.as_bytes()))) {
            return Err(damaged().into());
        }
        let unreadable = |cause| format!("is damaged: {cause}");
        let Version { simtool_index } = serde_json::from_str(json).map_err(unreadable)?;
        if simtool_index != VERSION {
            return Err(format!(
                "has format {simtool_index}, and this version of simtool reads format {VERSION} \
                 (use a newer simtool, or build the index again)"
            ));
        }
        serde_json::from_str(json).map_err(unreadable)
    }

    /// Writes it, after the names of all other files are durable; from then on `index` is an
    /// index.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if that fails.
    pub fn write(&self, index: &Path, faults: &Faults) -> Result<()> {
        directory::sync(index, faults)?;
        directory::write(&index.join(NAME), self.encode()?.as_bytes(), faults)
    }

    /// Writes it if the file was lost.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn restore(&self, index: &Path, faults: &Faults) -> Result<()> {
        match directory::exists(&index.join(NAME))? {
            true => Ok(()),
            false => self.write(index, faults),
        }
    }

    /// The two lines.
    ///
    /// # Errors
    /// None that is known.
    pub fn encode(&self) -> Result<String> {
        let json = serde_json::to_string(self)
            .map_err(|cause| Error::new(ErrorKind::Parameter, cause.to_string()))?;
        Ok(format!("{json}\n{:016x}\n", xxh3_64(json.as_bytes())))
    }

    /// Fails unless the index was made for `spec` and `form`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] showing both.
    pub fn expect(&self, index: &Path, spec: &str, form: Form) -> Result<()> {
        let found = (self.width, self.distance);
        if self.spec == spec && found == form.bits() {
            return Ok(());
        }
        let bits = |(width, distance): (u32, u32)| match width {
            0 => String::new(),
            _ => format!(" ({width} bits, distance {distance})"),
        };
        let message = format!(
            "was built for {}{}, not for {spec}{}",
            self.spec,
            bits(found),
            bits(form.bits())
        );
        Err(Error::new(ErrorKind::Parameter, message).in_file(index))
    }
}

/// Whether there is a segment that was complete. Makers of an index make the database first.
fn holds_segments(index: &Path) -> Result<bool> {
    let segments = segment_path(index, 0);
    let segments = segments.parent().unwrap_or(index);
    if !directory::exists(segments)? {
        return Ok(false);
    }
    let listed = directory::list(segments)?;
    Ok(listed.iter().any(|path| path.extension().is_none()))
}

/// The manifest in the database of an index whose file was lost: none if there are no documents,
/// which is what an interrupted maker of an index leaves.
///
/// # Errors
/// [`ErrorKind::Read`] if the database cannot be read, [`ErrorKind::Content`] if it is damaged and
/// there are segments.
pub fn lost(index: &Path) -> Result<Option<Manifest>> {
    if !directory::exists(&index.join(database::NAME))? {
        return Ok(None);
    }
    let stored = match Database::open_copy(index).and_then(|copy| copy.load()) {
        Ok(stored) => stored,
        Err(error) if error.kind() == ErrorKind::Read || holds_segments(index)? => {
            return Err(error);
        }
        Err(_) => return Ok(None),
    };
    let documents = !stored.segments.is_empty() || !stored.recent.is_empty();
    Ok(Manifest::decode(&stored.manifest)
        .ok()
        .filter(|_| documents))
}
