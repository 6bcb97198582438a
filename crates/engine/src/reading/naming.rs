//! Names of documents.

use xxhash_rust::xxh3::xxh3_64;

use simtool_corpus::{NO_MEMBER, Place, Source};

/// The document's own id; otherwise its file and, unless it is the whole file, its place there.
pub fn name(source: &Source, id: &[u8], place: Place) -> Vec<u8> {
    if !id.is_empty() {
        return id.to_vec();
    }
    let mut name = source.path.as_os_str().as_encoded_bytes().to_vec();
    if source.format.is_whole_file() {
        return name;
    }
    let place = match place.member {
        NO_MEMBER => format!(":{}", place.offset),
        member => format!(":{member}+{}", place.offset),
    };
    name.extend_from_slice(place.as_bytes());
    name
}

/// The suffix of a document's [`name`] if another text has the same one: `#` and a digest of
/// its own text.
pub fn content_suffix(text: &[u8]) -> String {
    format!("#{:016x}", xxh3_64(text))
}
