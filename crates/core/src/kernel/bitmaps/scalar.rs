//! The loop for every level; inlined into the functions that enable instructions.

#[inline(always)]
pub(super) fn distances(bitmap: &[u64], bitmaps: &[u64], numbers: &[u64], distances: &mut [u32]) {
    match bitmap.len() {
        1 => each::<1>(bitmap, bitmaps, numbers, distances),
        2 => each::<2>(bitmap, bitmaps, numbers, distances),
        4 => each::<4>(bitmap, bitmaps, numbers, distances),
        8 => each::<8>(bitmap, bitmaps, numbers, distances),
        16 => each::<16>(bitmap, bitmaps, numbers, distances),
        32 => each::<32>(bitmap, bitmaps, numbers, distances),
        words => panic!("bitmaps of {words} words"),
    }
}

#[inline(always)]
fn each<const WORDS: usize>(
    bitmap: &[u64],
    bitmaps: &[u64],
    numbers: &[u64],
    distances: &mut [u32],
) {
    assert_eq!(numbers.len(), distances.len());
    let (bitmap, (bitmaps, _)) = (
        &bitmap.as_chunks::<WORDS>().0[0],
        bitmaps.as_chunks::<WORDS>(),
    );
    for (number, distance) in numbers.iter().zip(distances) {
        let other = &bitmaps[*number as usize];
        let mut differing = 0;
        for word in 0..WORDS {
            differing += u64::from((bitmap[word] ^ other[word]).count_ones());
        }
        *distance = differing as u32;
    }
}
