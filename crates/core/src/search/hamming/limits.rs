//! Validation of search parameters.

use super::Fingerprint;
use super::blocks::choose;
use crate::kernel::hamming::Threshold;
use crate::{Error, ErrorKind, Result};

/// The maximum number of tables; brute force is faster than more.
pub(super) const TABLES: u64 = 255;

/// Checks the parameters of an index of `count` fingerprints, with tables of `blocks` blocks if any.
pub(super) fn index<F: Fingerprint>(
    count: usize,
    width: u32,
    k: u32,
    blocks: Option<u32>,
) -> Result<Threshold<F>> {
    let threshold = threshold(width, k)?;
    positions(0, count)?;
    if let Some(count) = blocks {
        self::blocks(count, threshold.k)?;
    }
    Ok(threshold)
}

/// Checks `width`; a `k` above it is reduced to it.
pub(super) fn threshold<F: Fingerprint>(width: u32, k: u32) -> Result<Threshold<F>> {
    if width < 1 || width > F::BITS {
        let message = format!("fingerprint width {width}: expected 1 to {} bits", F::BITS);
        return Err(Error::new(ErrorKind::Parameter, message));
    }
    Ok(Threshold {
        mask: F::low_bits(width),
        k: k.min(width),
    })
}

/// Checks that the positions from `first` on fit 32 bits.
pub(super) fn positions(first: u32, count: usize) -> Result<()> {
    let most = u32::MAX - first;
    if count as u64 > most.into() {
        let message = format!(
            "{count} fingerprints from position {first} on: expected at most {most}, \
             since positions have 32 bits"
        );
        return Err(Error::new(ErrorKind::Parameter, message));
    }
    Ok(())
}

/// Checks that `blocks` blocks find everything within `k`, with at most [`TABLES`] tables.
pub(super) fn blocks(blocks: u32, k: u32) -> Result<()> {
    if blocks <= k {
        let message = format!("{blocks} blocks: expected more than the distance, {k}");
        return Err(Error::new(ErrorKind::Parameter, message));
    }
    let tables = choose(blocks, k);
    if tables > TABLES {
        let message =
            format!("{blocks} blocks at distance {k}: {tables} tables, expected at most {TABLES}");
        return Err(Error::new(ErrorKind::Parameter, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_parameter_errors_with_both_numbers() {
        let message = |result: Result<()>| {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
            error.to_string()
        };
        assert!(message(threshold::<u64>(65, 3).map(drop)).contains("65: expected 1 to 64"));
        assert!(message(threshold::<u128>(0, 3).map(drop)).contains("0: expected 1 to 128"));
        assert!(message(positions(0, 1 << 32)).contains("4294967296 fingerprints"));
        assert!(message(positions(u32::MAX - 1, 2)).contains("at most 1,"));
        assert!(message(blocks(3, 3)).contains("3 blocks: expected more than the distance, 3"));
        assert!(message(blocks(20, 8)).contains("125970 tables"));
        assert!(positions(0, u32::MAX as usize).is_ok());
        assert!(blocks(6, 3).is_ok());
    }
}
