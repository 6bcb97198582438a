//! The list of pairs as comma-separated values (RFC 4180), for spreadsheets and databases.
//!
//! Every text is quoted; a missing value is an empty field. Ids come from crawled pages, so a text
//! that a spreadsheet would interpret as a formula is prefixed with an apostrophe: one that starts
//! with `=`, `+`, `-`, `@`, a tab or a carriage return.

use std::io::{self, Write};

use super::columns::ColumnValue;
use super::pairs::{COLUMNS, Pair};

/// Writes the header: the names of the columns.
///
/// # Errors
/// Errors of `out`.
pub fn header(out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    write!(out, "{}\r\n", names.join(","))
}

/// Writes the line of a pair.
///
/// # Errors
/// Errors of `out`.
pub fn pair(pair: &Pair<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (number, cell) in pair.cells().into_iter().enumerate() {
        if number > 0 {
            out.write_all(b",")?;
        }
        match cell {
            ColumnValue::Text(Some(value)) => text(&value, out)?,
            ColumnValue::Whole(Some(number)) => write!(out, "{number}")?,
            ColumnValue::Decimal(Some(number)) => serde_json::to_writer(&mut *out, &number)?,
            ColumnValue::Flag(Some(flag)) => write!(out, "{flag}")?,
            ColumnValue::Text(None)
            | ColumnValue::Whole(None)
            | ColumnValue::Decimal(None)
            | ColumnValue::Flag(None) => {}
        }
    }
    out.write_all(b"\r\n")
}

fn text(text: &str, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"\"")?;
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        out.write_all(b"'")?;
    }
    for (number, part) in text.split('"').enumerate() {
        if number > 0 {
            out.write_all(b"\"\"")?;
        }
        out.write_all(part.as_bytes())?;
    }
    out.write_all(b"\"")
}

#[cfg(test)]
mod tests {
    use super::super::pairs::tests::examples;
    use super::*;

    #[test]
    fn lines_have_the_columns_of_the_table() {
        let lines: Vec<String> = examples()
            .iter()
            .map(|example| {
                let mut line = Vec::new();
                pair(example, &mut line).unwrap();
                String::from_utf8(line).unwrap()
            })
            .collect();
        assert_eq!(
            lines[0],
            "\"'=cmd(\"\"x\"\")\",,\"http://a.example/\u{fffd}\",\"in.jsonl\",5,6,,\
             \"a,b\n\u{fffd}\",\"YSxiCv8=\",\"http://b.example/\",\"in.gz\",8,9,70,\
             7,3,2,1,\"simhash\",2,,0.9,9,10,,\r\n"
        );
        assert!(
            lines[1].ends_with(",7,3,2,1,\"exact\",,1.0,1.0,,,,\r\n"),
            "{}",
            lines[1]
        );
        let known = "\"y\",,,\"in.jsonl\",5,6,,\"z\",,,,,,,7,3,2,1,\"minhash\",,0.85,,,,,\r\n";
        assert_eq!(lines[2], known);
        let alone = "\"w\",,,\"in.jsonl\",5,6,,,,,,,,,7,3,2,1,\"exact\",,,,,,,\r\n";
        assert_eq!(lines[3], alone);
        assert!(
            lines[4].ends_with(",\"url\",,,,,,\"v\u{fffd}\",\"dv8=\"\r\n"),
            "{}",
            lines[4]
        );
        let mut first = Vec::new();
        header(&mut first).unwrap();
        assert!(first.starts_with(b"id,id_base64,url,file,start,") && first.ends_with(b"\r\n"));
        let commas = |line: &[u8]| line.iter().filter(|&&byte| byte == b',').count();
        assert_eq!(commas(&first), commas(alone.as_bytes()));
    }
}
