//! Headers of a record by name: its own, and those of the HTTP message in it.

use super::http::Message;
use super::lines::{blank_run, next_header_line, next_line};
use super::warc::{HEAD_BYTES, Kind, Record};
use crate::document::{FieldValue, FieldValues};

/// The values of the headers `names` of a record: in a WARC record its own header, else that of the
/// HTTP message. Of several with one name, the first counts. O(headers · names) time.
pub fn values<'a>(is_warc: bool, record: &Record<'a>, names: &'a [String]) -> FieldValues<'a> {
    let mut values = FieldValues::default();
    if names.is_empty() {
        return values;
    }
    if is_warc {
        own(record.raw, names, &mut values);
    }
    let message = match record.kind {
        Kind::Response => Message::split(record.body),
        _ => None,
    };
    for (name, value) in names.iter().zip(&mut values) {
        if let (None, Some(message)) = (&value, &message) {
            *value = message.values(name).next().map(field);
        }
    }
    values
}

fn own<'a>(raw: &'a [u8], names: &[String], values: &mut FieldValues<'a>) {
    let within = &raw[..raw.len().min(2 * HEAD_BYTES)];
    // The first line is the version.
    let mut at = next_line(within, blank_run(within, HEAD_BYTES)).map(|(_, behind)| behind);
    while let Some(line) = at.and_then(|at| next_header_line(within, at)) {
        if line.is_empty {
            break;
        }
        for (name, value) in names.iter().zip(&mut *values) {
            if value.is_none() && line.name.eq_ignore_ascii_case(name.as_bytes()) {
                *value = Some(field(line.value));
            }
        }
        at = Some(line.end);
    }
}

fn field(text: &[u8]) -> FieldValue<'_> {
    let number = std::str::from_utf8(text).ok();
    let is_number =
        |text: &&str| text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    FieldValue {
        text,
        number: number.filter(is_number).and_then(|text| text.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::archives::warc::{Next, next_record};

    #[test]
    fn headers_of_the_record_precede_those_of_the_message() {
        let body = "HTTP/1.1 200 OK\r\nContent-Language: fr\r\nX: 1\r\nA: http\r\n\r\nbody";
        let record = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nA:\r\n own\r\nn: 2.5\r\nN: 3\r\nContent-Length: {}\
             \r\n\r\n{body}\r\n\r\n",
            body.len()
        );
        let Next::Record(record) = next_record(record.as_bytes(), true) else {
            panic!("not a record");
        };
        let names = ["content-language", "a", "n", "missing"].map(str::to_owned);
        let found = values(true, &record, &names);
        let texts = found.map(|value| value.map(|value| value.text));
        let expected = [Some(&b"fr"[..]), Some(b"own"), Some(b"2.5"), None];
        assert_eq!(texts[..4], expected);
        assert_eq!(found[2].unwrap().number, Some(2.5));
        assert_eq!(found[0].unwrap().number, None);
        // The headers of an ARC record are those of the message alone.
        let found = values(false, &record, &names);
        assert_eq!(found[1].unwrap().text, b"http");
    }
}
