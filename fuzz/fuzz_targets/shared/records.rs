//! Properties of the records of any archive, for any division into chunks.

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use simtool::corpus::web::warc::Next;

/// An archive with a repeated byte, so that small inputs reach the limits.
#[derive(Arbitrary, Debug)]
pub struct Archive<'a> {
    step: u8,
    repeated: u8,
    times: u16,
    at: u16,
    bytes: &'a [u8],
}

impl Archive<'_> {
    /// Iterates over the archive; for every record, `see` gets the bytes from its start on.
    pub fn check(&self, next: fn(&[u8], bool) -> Next<'_>, see: fn(&[u8], &Next<'_>)) {
        let (head, tail) = self.bytes.split_at(self.bytes.len().min(self.at.into()));
        let repeated = vec![self.repeated; 2 * usize::from(self.times)];
        let archive = [head, &repeated, tail].concat();
        let mut rest = &archive[..];
        loop {
            let answer = next(rest, true);
            self.check_prefixes(rest, next, &answer);
            see(rest, &answer);
            let length = match answer {
                Next::Record(record) => {
                    assert_eq!(record.raw, &rest[..record.raw.len()]);
                    let block = record.raw.as_ptr_range();
                    assert!(block.contains(&record.body.as_ptr()) || record.body.is_empty());
                    assert!(record.body.as_ptr_range().end <= block.end);
                    record.raw.len()
                }
                Next::Damaged { resume_at, .. } => resume_at,
                Next::End => break,
                Next::Incomplete { .. } => panic!("nothing follows"),
            };
            assert!((1..=rest.len()).contains(&length));
            rest = &rest[length..];
        }
        assert!(rest.iter().all(|byte| b"\r\n".contains(byte)));
    }

    /// For every prefix of `bytes`, the answer is that of all bytes, or that more are needed.
    fn check_prefixes(&self, bytes: &[u8], next: fn(&[u8], bool) -> Next<'_>, whole: &Next<'_>) {
        let step = usize::from(self.step) + 1 + bytes.len() / 64;
        for length in (0..bytes.len()).step_by(step) {
            match next(&bytes[..length], false) {
                Next::Incomplete { needed } => assert!(needed > length as u64),
                answer => {
                    assert_eq!(answer, *whole);
                    break;
                }
            }
        }
    }
}
