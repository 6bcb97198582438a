//! The scalar version: the oracle.

use super::fingerprint::Fingerprint;
use super::kernels::{Hit, Kernels, Key, QueryHit, TILE, Threshold};
use super::wide;

pub(super) static U64: Kernels<u64> = kernels();
pub(super) static U128: Kernels<u128> = kernels();
pub(super) static U256: Kernels<wide::U256> = kernels();

const fn kernels<F: Fingerprint>() -> Kernels<F> {
    Kernels {
        scan,
        scan_tile,
        scan_each,
        pairs,
        unpack,
        buckets,
    }
}

fn scan<F: Fingerprint>(
    of: &[F],
    query: F,
    threshold: Threshold<F>,
    first: u32,
    out: &mut Vec<Hit>,
) {
    for (fingerprint, position) in of.iter().zip(first..) {
        let distance = ((query ^ *fingerprint) & threshold.mask).count_ones();
        if distance <= threshold.k {
            out.push(Hit { distance, position });
        }
    }
}

fn scan_tile<F: Fingerprint>(
    of: &[F],
    queries: &[F; TILE],
    threshold: Threshold<F>,
    first: u32,
    out: &mut [Vec<Hit>; TILE],
) {
    for (query, hits) in queries.iter().zip(out) {
        scan(of, *query, threshold, first, hits);
    }
}

fn scan_each<F: Fingerprint>(
    of: &[F],
    queries: &[F],
    threshold: Threshold<F>,
    out: &mut Vec<QueryHit>,
) {
    for (query, number) in queries.iter().zip(0..) {
        for (fingerprint, position) in of.iter().zip(0..) {
            let distance = ((*query ^ *fingerprint) & threshold.mask).count_ones();
            if distance <= threshold.k {
                out.push(QueryHit {
                    query: number,
                    hit: Hit { distance, position },
                });
            }
        }
    }
}

fn pairs<F: Fingerprint>(of: &[F], threshold: Threshold<F>, out: &mut Vec<QueryHit>) {
    for (query, number) in of.iter().zip(0..) {
        for (fingerprint, position) in of.iter().zip(0..).skip(number as usize + 1) {
            let distance = ((*query ^ *fingerprint) & threshold.mask).count_ones();
            if distance <= threshold.k {
                out.push(QueryHit {
                    query: number,
                    hit: Hit { distance, position },
                });
            }
        }
    }
}

pub(super) fn unpack<F: Fingerprint>(
    stored: &[u8],
    value_bytes: usize,
    common: F,
    out: &mut Vec<F>,
) {
    let mask = F::low_bits(8 * value_bytes as u32);
    let known = out.len();
    // Reads a whole word for each fingerprint and masks the bytes of the next one; the last ones
    // are copied.
    let wide = stored.windows(size_of::<F>()).step_by(value_bytes);
    out.extend(wide.map(|bytes| bytemuck::pod_read_unaligned::<F>(bytes) & mask | common));
    let rest = &stored[(out.len() - known) * value_bytes..];
    out.extend(rest.chunks_exact(value_bytes).map(|bytes| {
        let mut value = F::default();
        bytemuck::bytes_of_mut(&mut value)[..value_bytes].copy_from_slice(bytes);
        value | common
    }));
}

pub(super) fn buckets<F: Fingerprint>(of: &[F], key: Key<F>, out: &mut [u32]) {
    key.buckets(of, out, gather);
}

/// The bits of `value` selected by `mask`, packed into the low bits (PEXT).
fn gather(value: u64, mut mask: u64) -> u64 {
    let mut gathered = 0;
    let mut place = 0;
    while mask != 0 {
        gathered |= (value >> mask.trailing_zeros() & 1) << place;
        place += 1;
        mask &= mask - 1;
    }
    gathered
}
