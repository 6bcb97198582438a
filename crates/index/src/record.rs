//! The record of a document: its id, sketch and payload.
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | length of the id, i |
//! | 4..8 | length of the sketch, s |
//! | then i bytes | the id |
//! | then s bytes | the sketch; empty if the document cannot be compared |
//! | the rest | the payload |

use super::answer::Entry;

const LENGTHS: usize = 8;

/// Appends the record of `entry` to `out`.
pub fn encode(entry: &Entry<'_>, out: &mut Vec<u8>) {
    out.extend((entry.id.len() as u32).to_le_bytes());
    out.extend((entry.sketch.len() as u32).to_le_bytes());
    out.extend(entry.id);
    out.extend(entry.sketch);
    out.extend(entry.payload);
}

/// The document of a record; `None` if that is shorter than it claims.
pub fn decode(record: &[u8]) -> Option<Entry<'_>> {
    let (lengths, rest) = record.split_at_checked(LENGTHS)?;
    let (id, sketch) = lengths.split_at(LENGTHS / 2);
    let length = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize);
    let (id, rest) = rest.split_at_checked(length(id)?)?;
    let (sketch, payload) = rest.split_at_checked(length(sketch)?)?;
    Some(Entry {
        id,
        sketch,
        payload,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_back_and_cut_ones_refused() {
        let entry = Entry {
            id: b"one",
            sketch: &[1, 2],
            payload: b"http://x",
        };
        let mut record = Vec::new();
        encode(&entry, &mut record);
        assert_eq!(decode(&record), Some(entry));
        for length in 0..LENGTHS + 5 {
            assert_eq!(decode(&record[..length]), None);
        }
        assert_eq!(decode(&[0xFF; 20]), None);
    }
}
