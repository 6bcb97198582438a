//! ARC records are the same for any division of the archive into chunks, and every step makes
//! progress.
//!
//! Promise (Deduplication): Every parser accepts any bytes; memory …
#![no_main]

#[path = "shared/records.rs"]
mod records;

use libfuzzer_sys::fuzz_target;
use simtool::corpus::web::arc::next_record;
use simtool::corpus::web::warc::{Kind, Next};

fuzz_target!(|archive: records::Archive<'_>| {
    archive.check(next_record, |bytes, next| {
        if let Next::Record(record) = next {
            let is_http = record.url.to_ascii_lowercase().starts_with(b"http");
            assert_eq!(record.kind == Kind::Response, is_http);
            assert!(!record.url.contains(&b'\n') && record.date.iter().all(u8::is_ascii_digit));
            let line = bytes.trim_ascii_start().split(|&byte| byte == b'\n').next();
            let length =
                line.and_then(|line| line.trim_ascii_end().rsplit(|&byte| byte == b' ').next());
            let length = str::from_utf8(length.expect("a head")).expect("digits");
            assert_eq!(length.parse(), Ok(record.body.len()));
        }
    });
});
