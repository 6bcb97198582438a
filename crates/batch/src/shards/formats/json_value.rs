//! Values as JSON.

use serde::Serialize;

/// Appends a value as JSON.
pub fn append<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(out, value);
}
