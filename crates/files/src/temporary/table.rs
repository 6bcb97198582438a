//! Arrays of fixed length, in memory or in a temporary file.

use crate::system::allocation::allocate_zeros;
use crate::write_error;
use crate::{Error, ErrorKind, Result};
use bytemuck::Pod;
use memmap2::MmapMut;
use std::io;
use std::path::Path;

/// An array of fixed length, initially zero, in memory or in a temporary file.
///
/// Both placements behave the same; the caller chooses by the memory bound. Pages of the file are
/// page cache: the system writes them back and reclaims them when it needs memory.
///
/// The file is not registered with the [`guard`](crate::guard): no other process can access it, its
/// blocks are allocated before use, and zeros instead of values would give wrong answers. Only a
/// failing device can cause a fault, and then the process ends.
pub struct Table<T>(Placement<T>);

enum Placement<T> {
    Memory(Box<[T]>),
    Disk(MmapMut),
}

impl<T: Pod> Table<T> {
    /// A table of `len` zero values in memory; untouched pages take no memory.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if the memory cannot be allocated.
    pub fn in_memory(len: usize) -> Result<Table<T>> {
        let values = bytemuck::allocation::try_zeroed_slice_box(len).map_err(|()| {
            let bytes = bytes_of::<T>(len);
            let message = format!("no memory for a table of {len} values ({bytes} bytes)");
            Error::new(ErrorKind::Memory, message)
        })?;
        Ok(Table(Placement::Memory(values)))
    }

    /// A table of `len` zero values in an unnamed temporary file in `directory`, which disappears
    /// with the table, even if the process is killed.
    ///
    /// All blocks are allocated here, so that a full disk is an error now and not a fault later. A
    /// directory in memory (tmpfs) saves no memory.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] naming `directory` if there is not enough space or no permission.
    pub fn on_disk(len: usize, directory: &Path) -> Result<Table<T>> {
        const {
            assert!(size_of::<T>() > 0, "values have a size");
            assert!(align_of::<T>() <= 4096, "mappings are aligned to pages");
        }
        if len == 0 {
            return Table::in_memory(0);
        }
        let bytes = bytes_of::<T>(len);
        let map = map_new_file(bytes, directory).map_err(|cause| {
            let task = format!("cannot hold a temporary table of {bytes} bytes");
            write_error(directory, &task, cause)
        })?;
        Ok(Table(Placement::Disk(map)))
    }

    /// The values.
    pub fn as_slice(&self) -> &[T] {
        match &self.0 {
            Placement::Memory(values) => values,
            Placement::Disk(map) => bytemuck::cast_slice(map),
        }
    }

    /// The values, mutable.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        match &mut self.0 {
            Placement::Memory(values) => values,
            Placement::Disk(map) => bytemuck::cast_slice_mut(map),
        }
    }

    /// Whether the values are in a temporary file.
    pub fn is_on_disk(&self) -> bool {
        matches!(self.0, Placement::Disk(_))
    }
}

fn bytes_of<T>(len: usize) -> u128 {
    len as u128 * size_of::<T>() as u128
}

fn map_new_file(bytes: u128, directory: &Path) -> io::Result<MmapMut> {
    let bytes = u64::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let file = tempfile::tempfile_in(directory)?;
    allocate_zeros(&file, bytes)?;
    // SAFETY: the file has no name and no other handle, so only this mapping changes it, and all
    // its blocks are allocated.
    unsafe { MmapMut::map_mut(&file) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Promise (Bounded memory): Tables that do not fit are …
    #[test]
    fn placements_start_with_zeros_and_leave_no_file() {
        let directory = tempfile::tempdir().unwrap();
        for len in [0, 1, 511, 512, 513, 100_000] {
            let memory = Table::<u64>::in_memory(len).unwrap();
            let disk = Table::<u64>::on_disk(len, directory.path()).unwrap();
            assert_eq!(memory.as_slice(), vec![0; len]);
            assert_eq!(disk.as_slice(), vec![0; len]);
            assert_eq!((memory.is_on_disk(), disk.is_on_disk()), (false, len > 0));
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn too_large_is_an_error_with_both_numbers() {
        for len in [1 << 48, usize::MAX / 8, usize::MAX] {
            let error = Table::<u64>::in_memory(len).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Memory);
            let bytes = 8 * len as u128;
            let sizes = format!("table of {len} values ({bytes} bytes)");
            assert!(error.to_string().contains(&sizes), "{error}");

            let directory = tempfile::tempdir().unwrap();
            let error = Table::<u64>::on_disk(len, directory.path()).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Write);
            assert_eq!(error.file(), Some(directory.path()));
            assert!(error.to_string().contains(&bytes.to_string()), "{error}");
        }
    }

    #[test]
    fn missing_directory_is_an_error() {
        let error = Table::<u8>::on_disk(1, Path::new("/nonexistent/place"))
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::Write);
        assert!(
            error.to_string().contains("its directory does not exist"),
            "{error}"
        );
    }

    proptest! {
        /// Promise (Bounded memory): Tables that do not fit are on disk, with the same values, and
        /// vanish with the process; a full disk is an error
        #[test]
        fn placements_hold_the_same_values(
            len in 1_usize..5000,
            writes in prop::collection::vec((any::<prop::sample::Index>(), any::<[u16; 3]>()), 0..200),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let mut tables = [
                Table::<[u16; 3]>::in_memory(len).unwrap(),
                Table::<[u16; 3]>::on_disk(len, directory.path()).unwrap(),
            ];
            for table in &mut tables {
                for (place, value) in &writes {
                    table.as_mut_slice()[place.index(len)] = *value;
                }
            }
            prop_assert_eq!(tables[0].as_slice(), tables[1].as_slice());
        }
    }
}
