//! Generated documents: each is determined by its number, so that all that is read can be checked.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The stored fields of a document.
pub struct Document {
    pub number: u32,
    /// The hash of its id.
    pub name: u64,
    /// A sketch and a time of eight bytes each, and the id.
    pub record: Vec<u8>,
}

impl Document {
    pub fn of(number: u32) -> Document {
        let noise = xxh3_64(&number.to_le_bytes());
        let (site, path) = (noise & 0xff_ffff, noise >> 16);
        let id = format!("https://www.site-{site:06x}.example/{path:012x}/page-{number:09}");
        let sketch = xxh3_64_with_seed(&number.to_le_bytes(), 1);
        let time = 1_700_000_000 + u64::from(number);
        Document {
            number,
            name: xxh3_64(id.as_bytes()),
            record: [
                &sketch.to_le_bytes()[..],
                &time.to_le_bytes(),
                id.as_bytes(),
            ]
            .concat(),
        }
    }
}
