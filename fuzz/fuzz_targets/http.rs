//! Headers are those of a naive parser, and chunked bodies are reassembled.
//!
//! Promise (Deduplication): Every parser accepts any bytes; memory …
#![no_main]

use libfuzzer_sys::fuzz_target;
use simtool::corpus::web::http::{Message, join_chunks};

fuzz_target!(|input: (u8, &[u8])| {
    let (size, bytes) = (usize::from(input.0) + 1, input.1);
    if let Some(message) = Message::split(bytes) {
        let head = bytes
            .strip_suffix(message.body)
            .expect("the body is the end");
        let behind = head
            .iter()
            .position(|&byte| byte == b'\n')
            .map_or(head.len(), |at| at + 1);
        for name in ["content-type", "transfer-encoding", "a", ""] {
            let found: Vec<&[u8]> = message.values(name).collect();
            assert_eq!(found, values(&head[behind..], name), "{name:?}");
        }
    }

    let mut out = b"before".to_vec();
    let is_chunked = join_chunks(bytes, &mut out);
    assert!(out.starts_with(b"before") && out.len() - 6 <= bytes.len());
    assert!(is_chunked || out.len() == 6);

    let mut sent = Vec::new();
    for chunk in bytes.chunks(size) {
        sent.extend(
            format!("{:x}\r\n", chunk.len())
                .bytes()
                .chain(chunk.iter().copied()),
        );
        sent.extend(b"\r\n");
    }
    let mut broken = sent.clone();
    sent.extend(b"0\r\n\r\n");
    out.clear();
    assert!(join_chunks(&sent, &mut out));
    assert_eq!(out, bytes);
    // Truncated anywhere after the first chunk, the body is the part that exists.
    broken.truncate(broken.len() - broken.len() / 3);
    out.clear();
    join_chunks(&broken, &mut out);
    assert!(bytes.starts_with(&out));
});

/// Parses line by line: a line that starts with a blank continues the previous one.
fn values<'a>(head: &'a [u8], name: &str) -> Vec<&'a [u8]> {
    let mut fields: Vec<std::ops::Range<usize>> = Vec::new();
    let mut at = 0;
    for line in head.split_inclusive(|&byte| byte == b'\n') {
        let end = at + line.len();
        match fields.last_mut() {
            Some(field) if line.starts_with(b" ") || line.starts_with(b"\t") => field.end = end,
            _ => fields.push(at..end),
        }
        at = end;
    }
    let value = |field: std::ops::Range<usize>| {
        let line = head[field.clone()].split(|&byte| byte == b'\n').next()?;
        let colon = line.iter().position(|&byte| byte == b':')?;
        let is_named = line[..colon]
            .trim_ascii()
            .eq_ignore_ascii_case(name.as_bytes());
        is_named.then(|| head[field][colon + 1..].trim_ascii())
    };
    // The empty line, if there is one, has no colon.
    fields.into_iter().filter_map(value).collect()
}
