//! Lines of JSON with another text.

use super::json_line::Paths;

/// The line with `text` as the value of the field `path`, whose names are separated by dots. The
/// rest of the line stays byte for byte; bytes that are not UTF-8 become U+FFFD, as when the line is
/// read. `None` if the line is no object with this field.
///
/// O(length) time and memory.
pub fn with_text(line: &[u8], path: &str, text: &[u8]) -> Option<Vec<u8>> {
    let mended = String::from_utf8_lossy(line);
    let line = mended.as_bytes();
    let raw = Paths::new([Some(path)]).raw(line)?;
    // The value borrows from the line.
    let start = (raw.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
    let mut out = line.get(..start)?.to_vec();
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut out, &String::from_utf8_lossy(text));
    out.extend_from_slice(line.get(start + raw.len()..)?);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_changes() {
        for (line, path, expected) in [
            (
                "{\"id\": 1, \"text\" : \"a\\nb\" , \"x\":[1 ,2]}\r\n",
                "text",
                "{\"id\": 1, \"text\" : \"\\\"é\\n\" , \"x\":[1 ,2]}\r\n",
            ),
            (
                "{\"a\":{\"text\":\"x\",\"b\":\"y\"}}",
                "a.text",
                "{\"a\":{\"text\":\"\\\"é\\n\",\"b\":\"y\"}}",
            ),
            // The last value counts.
            (
                "{\"text\":\"x\",\"text\":\"y\"}",
                "text",
                "{\"text\":\"x\",\"text\":\"\\\"é\\n\"}",
            ),
        ] {
            let changed = with_text(line.as_bytes(), path, "\"é\n".as_bytes()).unwrap();
            assert_eq!(String::from_utf8(changed).unwrap(), expected);
        }
        let changed = with_text(b"{\"a\":\"\xff\",\"text\":\"\\ud800\"}", "text", b"b").unwrap();
        assert_eq!(changed, "{\"a\":\"\u{fffd}\",\"text\":\"b\"}".as_bytes());
        for line in [&b"{}"[..], b"[]", b"{\"text\":", b""] {
            assert_eq!(with_text(line, "text", b""), None);
        }
    }
}
