//! Files of the work directory: their names, their checksums, and how paths are written in them.

pub(crate) mod checksummed;
pub(crate) mod errors;
pub(crate) mod file;
pub(crate) mod growing_file;
pub(crate) mod names;
pub(crate) mod path_text;
