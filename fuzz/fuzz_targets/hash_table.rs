//! Parsing a hash table gives its digits, or an error that names the line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simtool::ErrorKind;
use simtool::sketch::hash_table::read_rows;

fuzz_target!(|input: (u16, u8, &[u8])| {
    let (rows, columns, table) = (
        usize::from(input.0) % 10_001,
        usize::from(input.1) % 129,
        input.2,
    );
    let text = table.strip_prefix(b"\xef\xbb\xbf").unwrap_or(table);
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let row = |line: &&[u8]| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let digits = line.get(..columns)?;
        let is_binary = digits.iter().all(|digit| b"01".contains(digit));
        let bits = digits
            .iter()
            .zip(0..)
            .map(|(digit, column)| u128::from(digit & 1) << column);
        is_binary.then(|| bits.sum::<u128>())
    };
    let bad = lines.iter().take(rows).position(|line| row(line).is_none());
    match read_rows(table, rows, columns) {
        Ok(found) => {
            assert!(bad.is_none() && found.len() == rows);
            assert!(
                found
                    .iter()
                    .zip(&lines)
                    .all(|(&found, line)| row(line) == Some(found))
            );
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Content);
            let text = error.to_string();
            match bad {
                Some(line) => assert!(text.starts_with(&format!("line {}:", line + 1)), "{text}"),
                None => {
                    assert!(lines.len() < rows);
                    assert!(text.contains(&format!("{rows} rows")), "{text}");
                    assert!(
                        text.contains(&format!("there are {}", lines.len())),
                        "{text}"
                    );
                }
            }
        }
    }
});
