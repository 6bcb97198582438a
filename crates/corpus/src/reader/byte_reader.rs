//! The reader of records, which cuts a source into chunks.

use super::cut::{ChunkCutter, ChunkEnd, DocumentEnd, MAX_RECORDS};
use crate::Result;
use crate::chunk::{Body, Chunk, Position, locate};
use crate::decompress::{Damage, DecodedBuffer, FillOutcome, Inflaters, Stream};
use crate::document::{NO_MEMBER, Place, Reason, Skip, too_large};
use crate::reading::Reading;
use crate::source::{Compression, Format, MOST_SECTIONS, Source};
use crate::text_formats::records;
use crate::web::WebText;
use crate::web::warc::{HEAD_BYTES, find_version};
use memchr::memchr;

/// The number of bytes read at a time.
const BLOCK_BYTES: usize = 1 << 20;

/// The number of bytes read at a time if a chunk may end soon.
const NEAR_END_BYTES: usize = 128 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The length of the parts of long records.
const PART_BYTES: usize = 1 << 20;

/// Reads a source of records from its start or from any [`Position`], chunk by chunk.
///
/// Its memory is at most one chunk ([`Reading::chunk_bytes`] and one document) and 2 MiB. Zstd
/// needs the window of the frame in addition, at most 128 MiB.
pub(super) struct ByteReader {
    source: u32,
    format: Format,
    /// [`Reading::chunk_bytes`].
    least: usize,
    /// [`Reading::max_document_bytes`].
    most: u64,
    stream: Stream,
    file_bytes: u64,
    /// [`Reading::section_bytes`], or the greatest number if the source has one section.
    section_bytes: u64,
    /// The number of the only section that is read.
    only: Option<u64>,
    /// The position of the first byte of `ahead`.
    start: Position,
    /// The bytes read for the next chunk.
    ahead: DecodedBuffer,
    /// Damage after the bytes of `ahead`.
    damage: Option<Damage>,
    ended: bool,
    /// Recognises documents among the records of web archives.
    web: WebText,
    /// Whether records over the length limit are returned in parts.
    in_parts: bool,
    /// The record whose remaining parts must be returned next.
    long: Option<LongRecord>,
}

/// A record over the length limit, which is never in memory as a whole.
#[derive(Clone, Copy)]
struct LongRecord {
    rest: DocumentEnd,
    /// Whether its header claims a length beyond the end of the file. It then ends at the next record.
    has_false_length: bool,
    /// The number of its bytes already consumed.
    passed: u64,
    /// The number of records over the length limit directly before it in the same chunk.
    number: usize,
    /// Whether it is a document according to its headers. Damaged records are reported like documents.
    is_document: bool,
}

impl ByteReader {
    /// Opens a source of `bytes` bytes, to read the chunks from position `from` on.
    pub(super) fn open(
        source: &Source,
        bytes: u64,
        number: u32,
        reading: &Reading,
        from: Position,
    ) -> Result<ByteReader> {
        let is_compressed = source.compression != Compression::None;
        let start = Position {
            member: if is_compressed {
                from.member
            } else {
                Position::start(false).member
            },
            ..from
        };
        let searched = source.has_sections() && start.begins_section();
        let start = Position {
            // The byte before it is a separator if a document begins there.
            offset: start.offset.saturating_sub(u64::from(searched)),
            ..start
        };
        let stream = Stream::open(
            source.file(),
            bytes,
            source.compression,
            (start.member, start.offset),
            BLOCK_BYTES,
        )?;
        let mut reader = ByteReader {
            source: number,
            format: source.format,
            least: reading.chunk_bytes.max(1),
            most: reading.max_document_bytes,
            stream,
            file_bytes: bytes,
            section_bytes: match source.has_sections() {
                true => reading.section_bytes.max(1),
                false => u64::MAX,
            },
            only: None,
            start,
            ahead: DecodedBuffer::default(),
            damage: None,
            ended: false,
            web: WebText::new(reading.html, reading.max_document_bytes),
            in_parts: false,
            long: None,
        };
        if searched {
            reader.find_section()?;
        }
        Ok(reader)
    }

    /// Goes on at the first document that begins in the section, or to its end.
    fn find_section(&mut self) -> Result<()> {
        let end = self.section_end(self.start.section());
        while let Some(separator) = self.format.separator()
            && self.start.offset < end
        {
            let found = memchr(separator, &self.ahead.bytes).map(|at| at + 1);
            self.drop_front(found.unwrap_or(self.ahead.bytes.len()));
            if found.is_some() || self.ended {
                break;
            }
            self.fill(NEAR_END_BYTES)?;
        }
        Ok(())
    }

    /// The offset at which the section behind this one begins.
    fn section_end(&self, section: u64) -> u64 {
        match section + 1 < MOST_SECTIONS {
            true => self.section_bytes.saturating_mul(section + 1),
            false => u64::MAX,
        }
    }

    /// The number of the section with this offset.
    fn section_at(&self, offset: u64) -> u64 {
        (offset / self.section_bytes).min(MOST_SECTIONS - 1)
    }

    /// Ends where `section` does.
    pub(super) fn within_section(&mut self, section: u64) {
        self.only = Some(section);
    }

    /// Returns records over the length limit in parts instead of skipping them.
    pub(super) fn return_parts(&mut self) {
        self.in_parts = true;
    }

    /// Lets other threads decompress ahead.
    pub(super) fn helped_by(&mut self, inflaters: Inflaters) {
        self.stream.helped_by(inflaters);
    }

    /// The current offset in the file.
    pub(super) fn file_offset(&self) -> u64 {
        let end = self.only.map_or(u64::MAX, |only| self.section_end(only));
        self.stream.file_offset().min(end)
    }

    /// The number of decompressed bytes already read after the last chunk.
    pub(super) fn bytes_ahead(&self) -> usize {
        self.ahead.bytes.len()
    }

    /// The next chunk, in `buffer`; `None` after the last one.
    pub(super) fn next(&mut self, mut buffer: Vec<u8>) -> Result<Option<Chunk>> {
        if let Some(long) = self.long.take() {
            return self.part(long).map(Some);
        }
        if self.only.is_some_and(|only| self.start.section() > only) {
            return Ok(None);
        }
        let is_at_start = self.start == Position::start(self.start.member != NO_MEMBER);
        if is_at_start && self.skip_byte_order_mark()? && self.in_parts {
            let mark = BYTE_ORDER_MARK.to_vec();
            return Ok(Some(self.part_chunk(mark, false, true)));
        }
        buffer.clear();
        buffer.append(&mut self.ahead.bytes);
        self.ahead.bytes = buffer;
        let section = self.section_at(self.start.offset);
        let left = self.section_end(section) - self.start.offset;
        let least = self.least.min(usize::try_from(left).unwrap_or(usize::MAX));
        let mut cutter = ChunkCutter::new(self.format, least, self.most);
        loop {
            match cutter.look(&self.ahead.bytes, self.ended) {
                ChunkEnd::At(border) => return Ok(Some(self.cut(border))),
                ChunkEnd::Before(border, rest) if self.in_parts => {
                    let chunk = self.cut(border);
                    let (long, _) = self.long(rest, &mut 0)?;
                    self.long = Some(long);
                    return Ok(Some(chunk));
                }
                ChunkEnd::Before(border, rest) => {
                    return self.skip_too_large(border, rest).map(Some);
                }
                ChunkEnd::Unknown => {}
            }
            if let Some(damage) = &self.damage {
                let bytes = &self.ahead.bytes;
                // The last record needs no separator if its file only has something appended.
                let border = match damage.is_behind_members && self.format.separator().is_some() {
                    true => bytes.len(),
                    false => cutter.last_whole(bytes),
                };
                return self.skip_damage(border).map(Some);
            }
            if self.ended {
                let border = self.ahead.bytes.len();
                return Ok((border > 0).then(|| self.cut(border)));
            }
            let missing = least.saturating_sub(self.ahead.bytes.len());
            self.fill(missing.clamp(NEAR_END_BYTES, BLOCK_BYTES))?;
        }
    }

    fn fill(&mut self, want: usize) -> Result<()> {
        match self.stream.fill(want, &mut self.ahead)? {
            FillOutcome::More => {}
            FillOutcome::End => self.ended = true,
            FillOutcome::Damaged(damage) => self.damage = Some(damage),
        }
        Ok(())
    }

    /// Skips a byte-order mark. Returns whether there was one.
    fn skip_byte_order_mark(&mut self) -> Result<bool> {
        while self.ahead.bytes.len() < BYTE_ORDER_MARK.len() && !self.ended && self.damage.is_none()
        {
            self.fill(self.least.min(BLOCK_BYTES))?;
        }
        let is_there = self.ahead.bytes.starts_with(BYTE_ORDER_MARK);
        if is_there {
            self.drop_front(BYTE_ORDER_MARK.len());
        }
        Ok(is_there)
    }

    /// Ends the chunk at `border`; the bytes after it are kept for the next chunk.
    fn cut(&mut self, border: usize) -> Chunk {
        let start = self.start;
        let ahead = self.ahead.split_off(border);
        let chunk = std::mem::replace(&mut self.ahead, ahead);
        self.start.chunk += 1;
        self.move_start(border, &chunk.members);
        Chunk {
            source: self.source,
            start,
            end: self.start,
            body: Body::Bytes {
                bytes: chunk.bytes,
                members: chunk.members,
                whole: chunk.whole,
            },
            skipped: Vec::new(),
        }
    }

    /// Drops the first `length` bytes.
    fn drop_front(&mut self, length: usize) {
        let ahead = self.ahead.split_off(length);
        let dropped = std::mem::replace(&mut self.ahead, ahead);
        self.move_start(length, &dropped.members);
    }

    /// Advances the start by `length` bytes, in which `members` begin. The new start is in the member
    /// of the last of these bytes, so it does not depend on whether the next member was read.
    fn move_start(&mut self, length: usize, members: &[(usize, u64)]) {
        if let Some(last) = length.checked_sub(1) {
            let (member, offset) = locate(self.start, members, last);
            self.start.member = member;
            self.start.offset = offset + 1;
            self.start.enter(self.section_at(self.start.offset));
        }
        self.stream.cut(length);
        if let Some(damage) = &mut self.damage {
            damage.begin = damage.begin.and_then(|begin| begin.checked_sub(length));
        }
    }

    fn place(&self, index: usize, length: u64) -> Place {
        let (member, offset) = locate(self.start, &self.ahead.members, index);
        Place::new(self.source, member, offset, length)
    }

    /// Ends the chunk at `border` and skips the documents over the length limit that follow it, at most
    /// [`MAX_RECORDS`], without storing them.
    fn skip_too_large(&mut self, border: usize, rest: DocumentEnd) -> Result<Chunk> {
        let mut chunk = self.cut(border);
        let (mut at, mut number, mut next) = (0, 0, Some(rest));
        let mut is_whole = true;
        while let Some(rest) = next {
            let mut place = self.place(at, 0);
            let (long, id) = self.long(rest, &mut at)?;
            (place.length, is_whole) = self.skip_long(long, &mut at)?;
            if long.is_document {
                let (reason, detail) = match rest {
                    DocumentEnd::Length(claimed) => {
                        records::skip_reason(claimed, place.length, is_whole, self.most)
                    }
                    DocumentEnd::Separator(_) | DocumentEnd::EndOfInput => {
                        (Reason::TooLarge, too_large(place.length, self.most))
                    }
                };
                chunk.skipped.push(Skip {
                    id,
                    ..skip(place, reason, detail)
                });
            }
            number += 1;
            next = self.next_too_large(number, is_whole, &mut at)?;
        }
        self.drop_front(at);
        // Later chunks do not need the capacity of a long document.
        self.ahead.bytes.shrink_to(BLOCK_BYTES);
        self.end_long(is_whole, &mut chunk.skipped)?;
        chunk.end = self.start;
        Ok(chunk)
    }

    /// The end of the record at index `at`, if it is over the length limit according to its header and
    /// belongs to the same chunk as the record before it, which has this number and was whole or not.
    fn next_too_large(
        &mut self,
        number: usize,
        is_whole: bool,
        at: &mut usize,
    ) -> Result<Option<DocumentEnd>> {
        let has_headers = self.format.separator().is_none() && !self.format.is_whole_file();
        if !is_whole || number == MAX_RECORDS || !has_headers {
            return Ok(None);
        }
        self.fill_to(at, 2 * HEAD_BYTES)?;
        let length = records::longer_than(self.most, self.format, &self.ahead.bytes[*at..]);
        Ok(length.map(DocumentEnd::Length))
    }

    /// Reads until `least` bytes or all that are left follow the index `at`, which becomes 0 if bytes
    /// before it are dropped.
    fn fill_to(&mut self, at: &mut usize, least: usize) -> Result<()> {
        while self.ahead.bytes.len() - *at < least && !self.ended && self.damage.is_none() {
            self.drop_front(std::mem::take(at));
            self.fill(NEAR_END_BYTES)?;
        }
        Ok(())
    }

    /// Continues after a long record, which was consumed to its end if `is_whole`.
    fn end_long(&mut self, is_whole: bool, skipped: &mut Vec<Skip>) -> Result<()> {
        if self.format.is_whole_file() {
            self.end_here();
        } else if !is_whole {
            self.skip_damaged_bytes(false, skipped)?;
        }
        Ok(())
    }

    /// The record at index `at`, which is over the length limit, and its id.
    fn long(&mut self, rest: DocumentEnd, at: &mut usize) -> Result<(LongRecord, Vec<u8>)> {
        let (is_document, id) = match rest {
            DocumentEnd::Length(length) => self.is_document(length, at)?,
            DocumentEnd::Separator(_) | DocumentEnd::EndOfInput => (true, Vec::new()),
        };
        let has_false_length = matches!(rest, DocumentEnd::Length(length) if self.start.member == NO_MEMBER
            && (self.start.offset + *at as u64).saturating_add(length) > self.file_bytes);
        let long = LongRecord {
            rest,
            has_false_length,
            passed: 0,
            number: 0,
            is_document: is_document || has_false_length,
        };
        Ok((long, id))
    }

    /// The next part of a long record. Its length depends only on the record.
    fn part(&mut self, mut long: LongRecord) -> Result<Chunk> {
        let (end, known) = loop {
            let is_last = self.ended || self.damage.is_some();
            let (end, known) = self.end_of(long, 0, is_last);
            if known >= PART_BYTES || end.is_some() || is_last {
                break (end, known);
            }
            self.fill(BLOCK_BYTES)?;
        };
        let mut bytes = self.ahead.bytes[..known.min(PART_BYTES)].to_vec();
        self.drop_front(bytes.len());
        if known > bytes.len() || (end.is_none() && !(self.ended || self.damage.is_some())) {
            long.passed += bytes.len() as u64;
            self.long = Some(long);
            return Ok(self.part_chunk(bytes, long.is_document, false));
        }
        if end.is_none() && self.damage.is_some() {
            // The bytes after the damage belong to another record.
            bytes.extend_from_slice(match self.format.separator() {
                Some(b'\n') => b"\n",
                Some(_) => b"\x0c",
                None => b"\r\n\r\n",
            });
        }
        self.ahead.bytes.shrink_to(BLOCK_BYTES);
        let number = long.number + 1;
        match self.next_too_large(number, end.is_some(), &mut 0)? {
            Some(rest) => {
                let (next, _) = self.long(rest, &mut 0)?;
                self.long = Some(LongRecord { number, ..next });
            }
            None => self.end_long(end.is_some(), &mut Vec::new())?,
        }
        Ok(self.part_chunk(bytes, long.is_document, true))
    }

    fn part_chunk(&self, bytes: Vec<u8>, is_document: bool, is_last: bool) -> Chunk {
        Chunk {
            source: self.source,
            start: self.start,
            end: self.start,
            body: Body::Part {
                bytes,
                is_document,
                is_last,
            },
            skipped: Vec::new(),
        }
    }

    /// Whether the record of `length` bytes at index `at` is a document according to its headers; and
    /// its id.
    fn is_document(&mut self, length: u64, at: &mut usize) -> Result<(bool, Vec<u8>)> {
        let heads = length.min(2 * HEAD_BYTES as u64) as usize;
        self.fill_to(at, heads)?;
        let bytes = &self.ahead.bytes[*at..];
        let bytes = &bytes[..bytes.len().min(heads)];
        Ok(match records::begun_record(self.format, bytes) {
            Some(record) => (self.web.is_document(&record), record.id.to_vec()),
            None => (true, Vec::new()),
        })
    }

    /// Skips a long record at index `at`, at most up to damage or the end of the input. Returns the
    /// number of bytes skipped and whether the record was whole.
    fn skip_long(&mut self, mut long: LongRecord, at: &mut usize) -> Result<(u64, bool)> {
        loop {
            let is_last = self.ended || self.damage.is_some();
            let (end, length) = self.end_of(long, *at, is_last);
            long.passed += length as u64;
            *at += length;
            if end.is_some() || is_last {
                return Ok((long.passed, end.is_some()));
            }
            self.drop_front(std::mem::take(at));
            self.fill(BLOCK_BYTES)?;
        }
    }

    /// The length of the rest, from index `at`, of a long record, if it ends within the available
    /// bytes, and the number of bytes known to belong to it. If `is_last`, no bytes follow.
    fn end_of(&self, long: LongRecord, at: usize, is_last: bool) -> (Option<usize>, usize) {
        let bytes = &self.ahead.bytes[at..];
        let (end, kept) = match long.rest {
            DocumentEnd::Separator(separator) => (memchr(separator, bytes).map(|at| at + 1), 0),
            DocumentEnd::Length(_) if long.has_false_length => {
                // The last bytes may be the start of a version line, so they are searched again.
                let kept = if is_last { 0 } else { bytes.len().min(7) };
                (find_version(bytes, usize::from(long.passed == 0)), kept)
            }
            DocumentEnd::Length(length) => {
                let left = usize::try_from(length - long.passed).ok();
                (left.filter(|&left| left <= bytes.len()), 0)
            }
            DocumentEnd::EndOfInput => (None, 0),
        };
        (end, end.unwrap_or(bytes.len() - kept))
    }

    /// Ends the chunk at `border`; the partial document after it is lost with the damaged bytes.
    fn skip_damage(&mut self, border: usize) -> Result<Chunk> {
        // If the member begins after a separator, members are assumed to contain whole documents.
        let bytes = &self.ahead.bytes;
        let begin = self.damage.as_ref().and_then(|damage| damage.begin);
        let is_start = begin.is_some_and(|begin| match begin.checked_sub(1) {
            Some(last) => bytes.get(last).copied() == self.format.separator(),
            None => true,
        });
        let mut chunk = self.cut(border);
        self.skip_damaged_bytes(is_start, &mut chunk.skipped)?;
        chunk.end = self.start;
        Ok(chunk)
    }

    /// Drops the bytes before the damage, if there is any, and reports it. Continues at the start
    /// of a document: at the next member if `is_start`, otherwise after the next separator. After
    /// [`MAX_RECORDS`] damaged members with nothing between them, the next chunk reports more.
    fn skip_damaged_bytes(&mut self, mut is_start: bool, skipped: &mut Vec<Skip>) -> Result<()> {
        for _ in 0..MAX_RECORDS {
            let Some(damage) = self.damage.take() else {
                break;
            };
            let length = self.ahead.bytes.len();
            let place = self.place(0, length as u64);
            let reason = if damage.is_truncated {
                Reason::Truncated
            } else {
                Reason::Damaged
            };
            skipped.push(skip(place, reason, damage.detail));
            self.drop_front(length);
            self.start.member = self.stream.file_offset();
            self.start.offset = 0;
            if self.format.is_whole_file() {
                self.end_here();
                return Ok(());
            }
            self.fill(NEAR_END_BYTES)?;
            is_start |= self.format == Format::Jsonl && self.ahead.bytes.first() == Some(&b'{');
            if !self.ahead.bytes.is_empty() && (is_start || self.skip_to_separator()?) {
                break;
            }
        }
        Ok(())
    }

    /// Ends reading; the rest of the file is ignored.
    fn end_here(&mut self) {
        self.ended = true;
        self.damage = None;
        if self.start.member == NO_MEMBER {
            self.start.offset = self.file_bytes;
        } else {
            self.start.member = self.file_bytes;
            self.start.offset = 0;
        }
    }

    /// Drops all bytes up to and including the next separator and returns `true`. Without one, drops
    /// all bytes up to damage or the end, and returns `false`.
    fn skip_to_separator(&mut self) -> Result<bool> {
        let Some(separator) = self.format.separator() else {
            return Ok(true);
        };
        loop {
            if let Some(at) = memchr(separator, &self.ahead.bytes) {
                self.drop_front(at + 1);
                return Ok(true);
            }
            self.drop_front(self.ahead.bytes.len());
            if self.ended || self.damage.is_some() {
                return Ok(false);
            }
            self.fill(NEAR_END_BYTES)?;
        }
    }
}

fn skip(place: Place, reason: Reason, detail: String) -> Skip {
    Skip {
        place,
        id: Vec::new(),
        reason,
        detail,
    }
}
