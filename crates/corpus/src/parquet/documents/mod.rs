//! The documents of a batch of rows.

pub(super) mod fields;
pub(super) mod value_text;

use crate::chunk::Body;
use crate::document::too_large;
use crate::document::{Document, Doubt, Parsed, Reason};
use crate::reading::Reading;
use crate::text_formats::raw_text::{RawText, is_utf8};
use crate::visitor::ChunkVisitor;
use fields::{Fields, Row};
use std::ops::Range;

/// Visits the rows of a chunk. A chunk that reports lost rows has none.
pub(crate) fn documents(
    reading: &Reading,
    texts: &mut RawText,
    visitor: &mut ChunkVisitor<'_, '_, '_>,
) {
    let Body::Rows { batch, .. } = &visitor.chunk.body else {
        return;
    };
    let mut fields = Fields::of(batch, reading);
    for index in 0..batch.num_rows() {
        let record = index..index + 1;
        if visitor.wants(&record, &[]) {
            emit(texts, visitor, &record, &fields.row(index));
        }
    }
}

fn emit(
    texts: &mut RawText,
    visitor: &mut ChunkVisitor<'_, '_, '_>,
    record: &Range<usize>,
    row: &Row<'_>,
) {
    let Some(text) = row.text else {
        let detail = "is null or not a string".to_owned();
        return visitor.skip(record, row.id, Reason::NoText, detail);
    };
    let length = text.len() as u64;
    if length > visitor.most {
        return visitor.skip(
            record,
            row.id,
            Reason::TooLarge,
            too_large(length, visitor.most),
        );
    }
    // Invalid UTF-8 is replaced as in JSON lines.
    let mended = (!is_utf8(text)).then(|| String::from_utf8_lossy(text));
    let text = texts.of_string(mended.as_ref().map_or(text, |mended| mended.as_bytes()));
    visitor.emit(Parsed::Document(Document {
        place: visitor.place(record),
        raw: &[],
        id: row.id,
        url: row.url,
        date: row.date,
        fields: row.fields,
        text,
        doubt: Doubt::of(false, mended.is_some()),
    }));
}
