//! The manifest `index.json`: a small text file with the parameters of an index, renamed into
//! place when all other files are complete.
//!
//! The first line is JSON, the second the 64-bit xxh3 of the first in hexadecimal.

use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::database::{self, Database};
use super::paths::{SEGMENTS, numbered_segments};
use crate::form::Form;
use crate::io::{Faults, PagedFile, directory};
use crate::options::Layout;
use crate::{Error, ErrorKind, Result};

/// The name of the file.
pub const NAME: &str = "index.json";
/// The version of the format of the whole index.
pub const VERSION: u32 = 3;

/// The parameters of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the format.
    pub simtool_index: u32,
    /// The method with all its parameters.
    pub spec: String,
    /// Width of the fingerprints in bits; 0 if sketches are found by keys.
    pub width: u32,
    /// The largest distance of a match.
    pub distance: u32,
    /// The tables of fingerprints.
    pub layout: Layout,
    /// Seed of the hashes of names and keys.
    pub seed: u64,
}

/// Read first: it decides how to read the rest.
#[derive(Deserialize)]
struct Version {
    simtool_index: u32,
}

impl Manifest {
    /// The manifest of a new index.
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

    /// Reads the manifest of the index `index`, from its database if the file is lost.
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
            let advice = match simtool_index > VERSION {
                true => "use a newer simtool, or build the index again",
                false => "build the index again",
            };
            return Err(format!(
                "has format {simtool_index}, and this version of simtool reads format {VERSION} \
                 ({advice})"
            ));
        }
        serde_json::from_str(json).map_err(unreadable)
    }

    /// Writes it after the names of all other files are durable; from then on `index` is a complete
    /// index.
    pub fn write(&self, index: &Path, faults: &Faults) -> Result<()> {
        directory::sync(index, faults)?;
        directory::write(&index.join(NAME), self.encode()?.as_bytes(), faults)
    }

    /// Writes it if the file is lost.
    pub fn restore(&self, index: &Path, faults: &Faults) -> Result<()> {
        match directory::exists(&index.join(NAME))? {
            true => Ok(()),
            false => self.write(index, faults),
        }
    }

    /// The two lines.
    pub fn encode(&self) -> Result<String> {
        let json = serde_json::to_string(self)
            .map_err(|cause| Error::new(ErrorKind::Parameter, cause.to_string()))?;
        Ok(format!("{json}\n{:016x}\n", xxh3_64(json.as_bytes())))
    }

    /// Fails unless the index was created for `spec` and `form`.
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

/// The manifest in the database of an index whose file is lost; `None` if there are no documents,
/// as after an interrupted creation.
pub fn lost(index: &Path) -> Result<Option<Manifest>> {
    if !directory::exists(&index.join(database::NAME))? {
        return Ok(None);
    }
    let stored = match Database::open_copy(index).and_then(|copy| copy.load()) {
        Ok(stored) => stored,
        Err(error) if error.kind() == ErrorKind::Read => return Err(error),
        // The database is created before the first segment.
        Err(error) => {
            let may_hold_segments = directory::exists(&index.join(SEGMENTS))?;
            return match may_hold_segments && !numbered_segments(index)?.is_empty() {
                true => Err(error),
                false => Ok(None),
            };
        }
    };
    let documents = !stored.segments.is_empty() || !stored.recent.is_empty();
    if !documents || stored.manifest.is_empty() {
        return Ok(None);
    }
    let in_database =
        |message| Error::new(ErrorKind::Content, message).in_file(index.join(database::NAME));
    Manifest::decode(&stored.manifest)
        .map(Some)
        .map_err(in_database)
}
