//! What a document is called.

use xxhash_rust::xxh3::xxh3_64;

use crate::corpus::{NO_MEMBER, Place, Source};

/// The document's own id, or else its file and, if it is not the whole of it, its place there.
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

/// What follows the [place](name) of a document in its name if another text has that name: `#` and
/// a digest of its own text, which is the same whenever it is read.
pub fn content_suffix(text: &[u8]) -> String {
    format!("#{:016x}", xxh3_64(text))
}
