//! Reading of files of blocks.

use super::BlockWriter;
use super::header::{ADVICE, BLOCK_BYTES, Header, checksum};
use crate::faults::Faults;
use crate::read_error;
use crate::regular::read_regular;
use crate::system::guard::{self, Registration};
use crate::system::page_cache::is_resident;
use crate::{Error, ErrorKind, Result};
use bytemuck::Pod;
use memmap2::{Advice, Mmap, MmapOptions};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;
/// The number of cache lines to prefetch; hardware prefetch does the rest of a long range.
const LINES: usize = 8;

/// Bytes copied at a time.
const COPY_BYTES: u64 = 1 << 20;

/// A complete file of blocks: mapped if the [`guard`] is installed, else in memory.
///
/// Threads may share it. Blocks are verified against their checksums before any byte is returned.
/// [`unchanged`](Self::unchanged) tells afterwards whether the file was truncated meanwhile.
pub struct BlockFile {
    path: PathBuf,
    bytes: BlockBytes,
    header: Header,
    identity: u64,
    /// The offset of the checksums.
    checksums_at: usize,
    /// A bit for each verified block.
    verified: Box<[AtomicU64]>,
}

/// Where prefetched values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The page cache: most of them are in memory.
    Memory,
    /// The disk: many of them have to be read.
    Disk,
}

impl Source {
    /// The prefetch distance in values: the number processed during one cache miss, or one read.
    pub fn steps(self) -> usize {
        match self {
            Source::Memory => 32,
            Source::Disk => 512,
        }
    }
}

enum BlockBytes {
    /// In memory, aligned for every number that a section may hold.
    Owned(Vec<u128>, usize),
    /// The registration is declared first because it must be dropped first.
    Mapped(Registration, Mmap),
}

impl BlockFile {
    /// Opens `path` and checks its header and length.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if it cannot be read; [`ErrorKind::Content`] if it is not a file of
    /// blocks of a known layout, is truncated, or has a damaged header or damaged checksums;
    /// [`ErrorKind::Memory`] if it does not fit in memory.
    pub fn open(path: &Path) -> Result<BlockFile> {
        let file = BlockFile::open_damaged(path)?;
        let all = file.bytes.all();
        let wrong = |what: String| Err(Error::new(ErrorKind::Content, what).in_file(path));
        if file.header.bytes != all.len() as u64 {
            return wrong(truncated(&file.header, all));
        }
        if xxh3_64(&all[file.checksums_at..]) != file.header.checksums {
            return wrong(format!("the checksums are damaged{ADVICE}"));
        }
        Ok(file)
    }

    /// Like [`open`](Self::open) for a file that may be truncated or have damaged checksums. A
    /// block that does not match its checksum, or has none, is an error when it is read.
    ///
    /// # Errors
    /// Errors of [`open`](Self::open), but truncation only if more than half of the file is missing.
    pub fn open_damaged(path: &Path) -> Result<BlockFile> {
        let file = read_regular(path).map_err(|cause| read_error(path, cause))?;
        let found = file.metadata().map_err(|cause| read_error(path, cause))?;
        let bytes = BlockBytes::of(path, &file, found.len())?;
        let wrong = |what: String| Error::new(ErrorKind::Content, what).in_file(path);
        let all = bytes.all();
        let (header, identity) = Header::decode(all).map_err(wrong)?;
        // The size of a block and its checksum together.
        let blocks = usize::try_from(header.bytes / (BLOCK_BYTES as u64 + 8)).unwrap_or(0);
        let checksums_at = blocks * BLOCK_BYTES;
        let inside = |&(first, length): &(u64, u64)| {
            let end = first.checked_add(length);
            first.is_multiple_of(BLOCK_BYTES as u64)
                && end.is_some_and(|end| end <= checksums_at as u64)
        };
        // A damaged length must not allocate for blocks that do not exist.
        let whole = blocks as u64 * (BLOCK_BYTES as u64 + 8);
        if header.bytes / 2 > all.len() as u64 {
            return Err(wrong(truncated(&header, all)));
        }
        if header.bytes != whole || !header.sections.iter().all(inside) {
            return Err(wrong(format!(
                "the lengths in its header are inconsistent{ADVICE}"
            )));
        }
        Ok(BlockFile {
            path: path.to_owned(),
            header,
            identity,
            checksums_at,
            verified: (0..blocks.div_ceil(64))
                .map(|_| AtomicU64::new(0))
                .collect(),
            bytes,
        })
    }

    /// The name of the file, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kind of the contents.
    pub fn kind(&self) -> u32 {
        self.header.kind
    }

    /// The identity: the checksum of the header, which covers all checksums, so that different
    /// files have different identities.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// The attributes in the header.
    pub fn attributes(&self) -> &[u8] {
        &self.header.attributes
    }

    /// The length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.header.bytes
    }

    /// The number of sections.
    pub fn sections(&self) -> usize {
        self.header.sections.len()
    }

    /// The number of values of `T` in section number `section`; 0 if there is no such section.
    pub fn len<T>(&self, section: usize) -> u64 {
        let place = self.header.sections.get(section);
        place.map_or(0, |(_, length)| length / size_of::<T>() as u64)
    }

    /// The values `range` of a section, verified.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if a block is damaged or `range` exceeds the section.
    #[inline]
    pub fn values<T: Pod>(&self, section: usize, range: Range<u64>) -> Result<&[T]> {
        let size = size_of::<T>() as u64;
        let place = self.header.sections.get(section);
        let (first, length) = place.copied().unwrap_or_default();
        if range.start > range.end || range.end > length / size {
            return Err(self.outside(section, range));
        }
        let start = (first + range.start * size) as usize;
        let end = (first + range.end * size) as usize;
        let all = self.bytes.all();
        if start == end {
            return Ok(&[]);
        }
        for block in start / BLOCK_BYTES..=(end - 1) / BLOCK_BYTES {
            let bit = 1 << (block % 64);
            if self.verified[block / 64].load(Ordering::Relaxed) & bit == 0 {
                self.verify_block(block)?;
            }
        }
        // Sections are aligned to blocks, which suffices for every number.
        bytemuck::try_cast_slice(&all[start..end]).map_err(|_| self.outside(section, range))
    }

    /// Whether nearly all of a section is in the page cache; takes some microseconds.
    pub fn source(&self, section: usize) -> Source {
        let place = self.header.sections.get(section);
        let (first, length) = place.copied().unwrap_or_default();
        match &self.bytes {
            BlockBytes::Mapped(_, map) => {
                match map.get(first as usize..(first + length) as usize) {
                    Some(bytes) if !is_resident(bytes) => Source::Disk,
                    _ => Source::Memory,
                }
            }
            BlockBytes::Owned(..) => Source::Memory,
        }
    }

    /// Prefetches the first values of a range into the cache, or starts reading all of them from
    /// the disk.
    #[inline]
    pub fn prefetch<T: Pod>(&self, section: usize, range: Range<u64>, source: Source) {
        let Some((first, length)) = self.header.sections.get(section) else {
            return;
        };
        let size = size_of::<T>() as u64;
        let start = range.start.saturating_mul(size).min(*length);
        let end = range.end.saturating_mul(size).clamp(start, *length);
        let (start, end) = ((first + start) as usize, (first + end) as usize);
        match source {
            Source::Memory => {
                let bytes = self.bytes.all().get(start..end).unwrap_or_default();
                bytes.chunks(LINE_BYTES).take(LINES).for_each(prefetch);
            }
            Source::Disk => {
                if let BlockBytes::Mapped(_, map) = &self.bytes {
                    // Only a hint; failures are ignored.
                    let _ = map.advise_range(Advice::WillNeed, start, end - start);
                }
            }
        }
    }

    /// Verifies every block against its checksum, even if verified before.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] naming the first damaged block, and the errors of
    /// [`unchanged`](Self::unchanged).
    pub fn verify(&self) -> Result<()> {
        (1..self.checksums_at / BLOCK_BYTES).try_for_each(|block| self.verify_block(block))?;
        self.unchanged()
    }

    /// Writes a fully verified copy of the file to `to`.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if it is damaged, [`ErrorKind::Write`] if the copy cannot be written,
    /// and those of [`unchanged`](Self::unchanged).
    pub fn copy(&self, to: &Path, faults: &Faults) -> Result<()> {
        let mut writer = BlockWriter::create(to, self.kind(), faults)?;
        for section in 0..self.sections() {
            let mut at = 0;
            let length = self.len::<u8>(section);
            while at < length {
                let next = length.min(at + COPY_BYTES);
                writer.append(self.values::<u8>(section, at..next)?)?;
                at = next;
            }
            writer.end_section()?;
        }
        self.unchanged()?;
        if writer.finish(self.attributes())? != self.identity {
            let message = "is damaged: a copy of it is another file";
            return Err(Error::new(ErrorKind::Content, message).in_file(&self.path));
        }
        Ok(())
    }

    /// Fails if the file was truncated, so that bytes read from it may have been zeros.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if the file was truncated while it was mapped.
    #[inline]
    pub fn unchanged(&self) -> Result<()> {
        match &self.bytes {
            BlockBytes::Mapped(registration, _) => match registration.fault() {
                None => Ok(()),
                Some(offset) => {
                    let message = format!("was truncated while in use, at byte {offset} or before");
                    Err(Error::new(ErrorKind::Changed, message).in_file(&self.path))
                }
            },
            BlockBytes::Owned(..) => Ok(()),
        }
    }

    #[cold]
    fn verify_block(&self, block: usize) -> Result<()> {
        let all = self.bytes.all();
        let bytes = all.get(block * BLOCK_BYTES..(block + 1) * BLOCK_BYTES);
        let bytes = bytes.ok_or_else(|| self.damaged(&format!("block {block} is missing")))?;
        let place = self.checksums_at + 8 * block;
        let expected = all.get(place..place + 8);
        let expected = expected.map(|sum| u64::from_le_bytes(std::array::from_fn(|i| sum[i])));
        if expected != Some(checksum(bytes, block as u64)) {
            self.unchanged()?;
            return Err(self.damaged(&format!(
                "block {block}, from byte {} on, does not agree with its checksum",
                block * BLOCK_BYTES
            )));
        }
        self.verified[block / 64].fetch_or(1 << (block % 64), Ordering::Relaxed);
        Ok(())
    }

    #[cold]
    fn outside(&self, section: usize, range: Range<u64>) -> Error {
        let (start, end) = (range.start, range.end);
        self.damaged(&format!("section {section} has no values {start} to {end}"))
    }

    /// The error of a file whose contents contradict themselves.
    #[cold]
    pub fn damaged(&self, what: &str) -> Error {
        Error::new(ErrorKind::Content, format!("is damaged: {what}{ADVICE}")).in_file(&self.path)
    }
}

fn truncated(header: &Header, found: &[u8]) -> String {
    let (claimed, found) = (header.bytes, found.len());
    format!("expected {claimed} bytes, found {found}: the file is truncated{ADVICE}")
}

impl BlockBytes {
    fn of(path: &Path, mut file: &File, bytes: u64) -> Result<BlockBytes> {
        let length =
            usize::try_from(bytes).map_err(|cause| read_error(path, io::Error::other(cause)))?;
        if guard::is_installed() && length > 0 {
            // SAFETY: the mapping is private to this module and read-only. If the file shrinks, the
            // guard maps zeros in its place and `unchanged` fails. Its bytes are untrusted until
            // verified against their checksum.
            let map = unsafe { MmapOptions::new().len(length).map(file) }
                .map_err(|cause| read_error(path, cause))?;
            // Only a hint: the neighbours of a block are rarely needed.
            let _ = map.advise(Advice::Random);
            if let Some(registration) = Registration::protect(&map) {
                return Ok(BlockBytes::Mapped(registration, map));
            }
        }
        let mut values = Vec::new();
        values.try_reserve_exact(length.div_ceil(16)).map_err(|_| {
            let message = format!("does not fit in memory: {bytes} bytes");
            Error::new(ErrorKind::Memory, message).in_file(path)
        })?;
        values.resize(length.div_ceil(16), 0u128);
        file.read_exact(&mut bytemuck::cast_slice_mut(&mut values)[..length])
            .map_err(|cause| read_error(path, cause))?;
        Ok(BlockBytes::Owned(values, length))
    }

    #[inline]
    fn all(&self) -> &[u8] {
        match self {
            BlockBytes::Owned(values, length) => &bytemuck::cast_slice(values)[..*length],
            BlockBytes::Mapped(_, map) => map,
        }
    }
}

/// Duplicate of `kernel::hamming::prefetch`: `io` must not depend on `kernel`.
#[inline]
fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch never faults, and SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}
