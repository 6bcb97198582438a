//! The names of a document.

/// The names of a document: its id, and the key of a row of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Name<'a> {
    /// The id.
    pub id: &'a [u8],
    /// The key, in the order of keys; `None` for documents of files and of indexes.
    pub key: Option<&'a [u8]>,
}

/// The length of no key.
const NO_KEY: u32 = u32::MAX;

impl<'a> Name<'a> {
    /// Of a message.
    pub fn read(message: &'a [u8]) -> Name<'a> {
        let Some((length, rest)) = message.split_first_chunk() else {
            return Name::default();
        };
        match u32::from_le_bytes(*length) {
            NO_KEY => Name {
                id: rest,
                key: None,
            },
            length => {
                let (key, id) = rest.split_at((length as usize).min(rest.len()));
                Name { id, key: Some(key) }
            }
        }
    }

    /// As a message.
    pub fn write(self, out: &mut Vec<u8>) {
        let length = self.key.map_or(NO_KEY, |key| key.len() as u32);
        out.clear();
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(self.key.unwrap_or_default());
        out.extend_from_slice(self.id);
    }
}
