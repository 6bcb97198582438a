//! Records of web archives and their texts.

use crate::document::{Document, Doubt, Parsed, Reason, too_large};
use crate::source::Format;
use crate::visitor::ChunkVisitor;
use crate::web::WebText;
use crate::web::warc::{GARBAGE_BYTES, HEAD_BYTES, Head, Next, Record};
use crate::web::{arc, headers, warc};
use std::ops::Range;

/// The next record of an archive.
pub(crate) fn next_record(format: Format, bytes: &[u8], is_end: bool) -> Next<'_> {
    match format {
        Format::Arc => arc::next_record(bytes, is_end),
        _ => warc::next_record(bytes, is_end),
    }
}

/// The length that the header of the first record of `bytes` claims, up to the end of its block, if
/// it exceeds `most`. For ARC records the limit is at least 1 MiB and 64 KiB.
pub(crate) fn longer_than(most: u64, format: Format, bytes: &[u8]) -> Option<u64> {
    let most = match format {
        Format::Arc => most.max((GARBAGE_BYTES + HEAD_BYTES) as u64),
        _ => most,
    };
    let length = match format {
        Format::Arc => match arc::next_record(bytes, false) {
            Next::Incomplete { needed } => needed,
            Next::Record(record) => block_end(&record),
            Next::Damaged { .. } | Next::End => return None,
        },
        _ => {
            let head = Head::at(bytes)?;
            (head.bytes as u64).saturating_add(head.content_length)
        }
    };
    (length > most).then_some(length)
}

fn block_end(record: &Record<'_>) -> u64 {
    let before = record.body.as_ptr() as usize - record.raw.as_ptr() as usize;
    (before + record.body.len()) as u64
}

/// The record at the start of `bytes`. Its block may be cut off by the end of `bytes`, but an ARC
/// record must be whole.
pub(crate) fn begun_record(format: Format, bytes: &[u8]) -> Option<Record<'_>> {
    if format == Format::Arc {
        return match arc::next_record(bytes, true) {
            Next::Record(record) => Some(record),
            _ => None,
        };
    }
    let head = Head::at(bytes)?;
    Some(Record {
        raw: bytes,
        kind: head.kind,
        id: head.id,
        url: head.url,
        date: head.date,
        content_type: head.content_type,
        body: &bytes[head.bytes..],
    })
}

/// Visits the documents among the records of a chunk. Their fields are headers named `fields`.
pub(crate) fn read(
    web: &mut WebText,
    format: Format,
    fields: &[String],
    visitor: &mut ChunkVisitor<'_, '_, '_>,
) {
    let is_warc = format == Format::Warc;
    let bytes = visitor.chunk.bytes();
    let mut at = 0;
    loop {
        match next_record(format, &bytes[at..], true) {
            Next::Record(record) => {
                let place = at..at + record.raw.len();
                at = place.end;
                if !web.is_document(&record) {
                    visitor.others += 1;
                } else if visitor.wants(&place, record.id) {
                    emit(web, &record, (is_warc, fields), visitor, &place);
                }
            }
            Next::Damaged {
                resume_at,
                reason,
                detail,
            } => {
                let place = at..at + resume_at;
                at = place.end;
                visitor.skip(&place, &[], reason, detail);
            }
            Next::Incomplete { .. } | Next::End => break,
        }
    }
}

fn emit(
    web: &mut WebText,
    record: &Record<'_>,
    (is_warc, fields): (bool, &[String]),
    visitor: &mut ChunkVisitor<'_, '_, '_>,
    place: &Range<usize>,
) {
    match web.text(record) {
        Ok(text) => {
            let document = Document {
                place: visitor.place(place),
                raw: record.raw,
                id: record.id,
                url: record.url,
                date: record.date,
                fields: headers::values(is_warc, record, fields),
                text: text.text,
                doubt: Doubt::of(text.unknown_label, text.broken),
            };
            visitor.emit(Parsed::Document(document));
        }
        Err((reason, detail)) => visitor.skip(place, record.id, reason, detail),
    }
}

/// The reason and description for a skipped document whose header claims `claimed` bytes. `found`
/// bytes were found; if they are not the whole record, the input ended.
pub(crate) fn skip_reason(claimed: u64, found: u64, is_whole: bool, most: u64) -> (Reason, String) {
    if found == claimed {
        return (Reason::TooLarge, too_large(found, most));
    }
    let reason = if is_whole {
        Reason::BadRecord
    } else {
        Reason::Truncated
    };
    (
        reason,
        format!("the header claims {claimed} bytes, but the record has {found}"),
    )
}
