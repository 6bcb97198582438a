//! The documents of a batch of rows.

use super::fields::{Fields, Row};
use crate::corpus::byte_reader::too_large;
use crate::corpus::chunk::Body;
use crate::corpus::document::{Document, Doubt, Parsed, Reason};
use crate::corpus::parser::Walk;
use crate::corpus::raw_text::RawText;
use crate::corpus::reading::Reading;
use std::ops::Range;

/// Gives the rows of a chunk; one that stands for lost rows has none.
pub(in crate::corpus) fn documents(
    reading: &Reading,
    texts: &mut RawText,
    walk: &mut Walk<'_, '_, '_>,
) {
    let Body::Rows { batch, .. } = &walk.chunk.body else {
        return;
    };
    let mut fields = Fields::of(batch, reading);
    for index in 0..batch.num_rows() {
        let record = index..index + 1;
        if walk.wants(&record, &[]) {
            give(texts, walk, &record, &fields.row(index));
        }
    }
}

fn give(texts: &mut RawText, walk: &mut Walk<'_, '_, '_>, record: &Range<usize>, row: &Row<'_>) {
    let Some(text) = row.text else {
        let detail = "is null or no string".to_owned();
        return walk.skip(record, row.id, Reason::NoText, detail);
    };
    let length = text.len() as u64;
    if length > walk.most {
        return walk.skip(
            record,
            row.id,
            Reason::TooLarge,
            too_large(length, walk.most),
        );
    }
    // Bytes that are no text are mended as in JSON lines.
    let mended = match std::str::from_utf8(text) {
        Ok(_) => None,
        Err(_) => Some(String::from_utf8_lossy(text)),
    };
    let text = texts.of_string(mended.as_ref().map_or(text, |mended| mended.as_bytes()));
    walk.give(Parsed::Document(Document {
        place: walk.place(record),
        raw: &[],
        id: row.id,
        url: row.url,
        date: row.date,
        keep_field: row.keep_field,
        text,
        doubt: Doubt::of(false, mended.is_some()),
    }));
}
