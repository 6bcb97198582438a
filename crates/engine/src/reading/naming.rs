//! Names of documents.

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
