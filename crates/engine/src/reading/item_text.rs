//! The text of a reference item.

use simtool_corpus::Document;

/// The text of a document with the further fields that were requested, in order, each after a line
/// break. Missing and empty fields are left out. Uses `buffer` if there is such a field.
pub fn item_text<'a>(document: &Document<'a>, buffer: &'a mut Vec<u8>) -> &'a [u8] {
    let further = document.fields.iter().flatten();
    let mut further = further.filter(|field| !field.text.is_empty()).peekable();
    if further.peek().is_none() {
        return document.text;
    }
    buffer.clear();
    buffer.extend_from_slice(document.text);
    for field in further {
        buffer.push(b'\n');
        buffer.extend_from_slice(field.text);
    }
    buffer
}
