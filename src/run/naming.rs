//! What a document is called.

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
