//! What is in memory, and in pages of which size.

use memmap2::MmapMut;

/// The number of pages sampled to decide whether a section is in memory.
const PAGES_LOOKED_AT: usize = 64;
/// The usual size of a page.
const PAGE_BYTES: usize = 4096;

/// Whether nearly all of some evenly spaced pages of a mapping are in memory.
///
/// For a file that this user neither owns nor may write, the system reports all pages as present;
/// then nothing is read ahead.
pub fn is_resident(bytes: &[u8]) -> bool {
    let step = (bytes.len() / PAGES_LOOKED_AT).max(1);
    let in_memory = |page: &&[u8]| {
        let mut found = 0u8;
        let address = page.as_ptr() as usize & !(PAGE_BYTES - 1);
        let page = std::ptr::without_provenance_mut(address);
        // SAFETY: the result has one byte for the one queried page, which is mapped; the page
        // itself is not read. If pages are larger the call may fail, and the answer is then `false`.
        let done = unsafe { libc::mincore(page, 1, std::ptr::from_mut(&mut found).cast()) };
        done == 0 && found & 1 == 1
    };
    let pages = bytes.chunks(step);
    pages.clone().filter(in_memory).count() * 16 >= pages.len() * 15
}

/// Asks for huge pages, which systems that have none, or refuse them, do not need to give.
pub fn take_huge_pages(memory: &MmapMut) {
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}
