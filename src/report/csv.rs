//! The list of pairs as comma-separated values (RFC 4180), for spreadsheets and databases.
//!
//! Every text is quoted. A text that a spreadsheet would take for a formula (it begins with `=`,
//! `+`, `-`, `@`, a tab or a carriage return) gets an apostrophe in front, as ids come from
//! strangers.

use super::json_lines::{At, Nearness, Pair};

/// The first line.
pub const HEADER: &[u8] = b"id,kept,cluster,method,distance,similarity,shared,shingles,\
file,offset,length,member,kept_file,kept_offset,kept_length,kept_member\r\n";

/// Appends the line of a pair.
pub fn pair(pair: &Pair<'_>, out: &mut Vec<u8>) {
    text(pair.id, out);
    text(pair.kept.unwrap_or_default(), out);
    number(pair.cluster, out);
    text(pair.method.as_bytes(), out);
    match pair.nearness {
        Nearness::Distance(distance) => {
            number(distance.into(), out);
            out.push(b',');
        }
        Nearness::Similarity([share, of]) => {
            out.extend_from_slice(format!(",{share}/{of},").as_bytes());
        }
    }
    match pair.verified {
        Some([shared, all]) => out.extend_from_slice(format!("{shared},{all},").as_bytes()),
        None => out.extend_from_slice(b",,"),
    }
    place(&pair.at, out);
    match &pair.kept_at {
        Some(at) => place(at, out),
        None => out.extend_from_slice(b",,,,"),
    }
    out.pop();
    out.extend_from_slice(b"\r\n");
}

fn place(at: &At<'_>, out: &mut Vec<u8>) {
    text(at.file.as_bytes(), out);
    number(at.offset, out);
    number(at.length, out);
    match at.member {
        Some(member) => number(member, out),
        None => out.push(b','),
    }
}

fn number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{number},").as_bytes());
}

fn text(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    if matches!(
        text.first(),
        Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r')
    ) {
        out.push(b'\'');
    }
    for &byte in String::from_utf8_lossy(text).as_bytes() {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.extend_from_slice(b"\",");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{NO_MEMBER, Place};

    #[test]
    fn lines_have_the_columns_of_the_header() {
        let mut line = Vec::new();
        let written = Pair {
            id: b"=cmd(\"x\")",
            url: b"",
            kept: Some(b"a,b\n\xff"),
            cluster: 7,
            method: "simhash",
            nearness: Nearness::Distance(2),
            verified: Some([9, 10]),
            at: At::new("in.jsonl", Place::new(0, NO_MEMBER, 5, 6)),
            kept_at: Some(At::new("in.gz", Place::new(1, 70, 8, 9))),
        };
        pair(&written, &mut line);
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "\"'=cmd(\"\"x\"\")\",\"a,b\n\u{fffd}\",7,\"simhash\",2,,9,10,\
             \"in.jsonl\",5,6,,\"in.gz\",8,9,70\r\n"
        );
        let mut line = Vec::new();
        let alone = Pair {
            id: b"x",
            kept: None,
            nearness: Nearness::Similarity([1, 2]),
            ..written
        };
        pair(&alone, &mut line);
        let line = String::from_utf8(line).unwrap();
        assert!(
            line.starts_with("\"x\",\"\",7,\"simhash\",,1/2,9,10,"),
            "{line}"
        );
        let columns = HEADER.iter().filter(|&&byte| byte == b',').count();
        assert_eq!(line.matches(',').count(), columns);
        let mut line = Vec::new();
        let known = Pair {
            id: b"x",
            kept: Some(b"y"),
            verified: None,
            kept_at: None,
            ..written
        };
        pair(&known, &mut line);
        let line = String::from_utf8(line).unwrap();
        assert_eq!(
            line,
            "\"x\",\"y\",7,\"simhash\",2,,,,\"in.jsonl\",5,6,,,,,\r\n"
        );
        assert_eq!(line.matches(',').count(), columns);
    }
}
