//! Records of a temporary file, in order.

use bytemuck::Pod;

use crate::Result;
use simtool_files::Spooled;

/// Records that are read at a time.
const BLOCK: usize = 1 << 13;

/// The records of a file that holds nothing else.
pub fn records<T: Pod>(file: &Spooled) -> impl Iterator<Item = Result<T>> {
    let size = size_of::<T>() as u64;
    let starts = (0..file.bytes()).step_by(BLOCK * size as usize);
    starts.flat_map(move |start| {
        let length = (file.bytes() - start).min(BLOCK as u64 * size);
        let mut block = vec![T::zeroed(); (length / size) as usize];
        let read = file.fill_at(start, bytemuck::cast_slice_mut(&mut block));
        let (block, failed) = match read {
            Ok(()) => (block, None),
            Err(error) => (Vec::new(), Some(Err(error))),
        };
        block.into_iter().map(Ok).chain(failed)
    })
}
