//! The objects of a listing, in bounded memory.

use crate::ErrorKind;
use crate::requests::answer::{Failure, Listed};
use crate::shared::memory::Memory;

/// About the memory of an object that was listed, besides four times its name.
const OBJECT_BYTES: u64 = 1024;

/// The objects of a listing, in bounded memory.
#[derive(Debug)]
pub(crate) struct Listing {
    objects: Vec<Listed>,
    /// The memory that they will take, and that those of earlier listings take; and its bound.
    bytes: u64,
    most: u64,
}

impl Listing {
    pub(crate) fn new(memory: &Memory) -> Listing {
        let (most, bytes) = memory.listing_bytes();
        Listing {
            objects: Vec::new(),
            bytes,
            most,
        }
    }

    /// Adds an object.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if they would take more memory than listings may.
    pub(crate) fn add(&mut self, object: Listed) -> std::result::Result<(), Failure> {
        let (bytes, most) = (self.bytes + memory(&object), self.most);
        if bytes > most {
            let detail = format!(
                "its listing has more than {} objects, which take more than {} MiB of memory: name \
                 fewer of them, or give more memory",
                self.objects.len(),
                most >> 20
            );
            let kind = ErrorKind::Memory;
            return Err(Failure::of_kind(kind, detail));
        }
        self.bytes = bytes;
        self.objects.push(object);
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    /// The objects from the number `first` on.
    pub(crate) fn page(&mut self, first: usize) -> &mut [Listed] {
        &mut self.objects[first..]
    }

    /// All objects, and the memory that they and those of earlier listings take.
    pub(crate) fn into_parts(self) -> (Vec<Listed>, u64) {
        (self.objects, self.bytes)
    }

    /// Removes the objects from the number `first` on.
    pub(crate) fn truncate(&mut self, first: usize) {
        let removed = self.objects.drain(first..);
        self.bytes -= removed.map(|object| memory(&object)).sum::<u64>();
    }
}

fn memory(object: &Listed) -> u64 {
    let etag = object.identity.etag.as_ref().map_or(0, String::len);
    OBJECT_BYTES + 4 * (object.key.len() + etag) as u64
}
