//! WARC records are the same for any division of the archive into chunks, and every step makes
//! progress.
//!
//! Promise (Deduplication): Every parser accepts any bytes; memory …
#![no_main]

#[path = "shared/records.rs"]
mod records;

use libfuzzer_sys::fuzz_target;
use simtool::corpus::web::warc::{Head, Next, next_record};

fuzz_target!(|archive: records::Archive<'_>| {
    archive.check(next_record, |bytes, next| {
        if let Next::Record(record) = next {
            let head = Head::at(bytes).expect("a record has a head");
            assert_eq!(head.content_length, record.body.len() as u64);
            assert_eq!(&bytes[head.bytes..][..record.body.len()], record.body);
            assert_eq!(
                (head.kind, head.id, head.url, head.date, head.content_type),
                (
                    record.kind,
                    record.id,
                    record.url,
                    record.date,
                    record.content_type
                )
            );
        }
    });
});
