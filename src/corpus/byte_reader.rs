//! Reads a source of records and cuts it into chunks.

use super::chunk::{Body, Chunk, Position, locate};
use super::cut::{Cut, Cutter, Rest};
use super::decompress::{Break, Inflaters, Pile, Step, Stream};
use super::document::{NO_MEMBER, Place, Reason, Skip};
use super::reading::Reading;
use super::records;
use super::source::{Compression, Format, Source};
use super::web::WebText;
use super::web::warc::{HEAD_BYTES, find_version};
use crate::Result;
use memchr::memchr;

/// How much of a file is read at a time.
const BLOCK_BYTES: usize = 1 << 20;

/// How much is read at a time where a chunk may end at any moment.
const NEAR_END_BYTES: usize = 128 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How long the parts are in which long records are given out.
const PART_BYTES: usize = 1 << 20;

/// Reads a source of records from its start or from any [`Position`], chunk by chunk.
///
/// Holds at most one chunk, which is as long as [`Reading::chunk_bytes`] and one document, and
/// 2 MiB; for zstd, the frame's window besides, at most 128 MiB.
pub(super) struct ByteReader {
    source: u32,
    format: Format,
    least: usize,
    most: u64,
    stream: Stream,
    file_bytes: u64,
    /// Where the bytes of `ahead` begin.
    start: Position,
    /// Bytes that belong to the next chunk.
    ahead: Pile,
    /// Damage that stands behind the bytes of `ahead`.
    damage: Option<Break>,
    ended: bool,
    /// Tells documents among the records of web archives.
    web: WebText,
    /// Whether records that are too long are given out in parts.
    in_parts: bool,
    /// The record of which parts are still to be given out.
    long: Option<Long>,
}

/// A record that is longer than documents may be, which is not held as a whole.
#[derive(Clone, Copy)]
struct Long {
    rest: Rest,
    /// Whether it is said to go on behind the end of the file; it ends where the next one begins.
    is_false: bool,
    /// How many of its bytes have been passed.
    passed: u64,
    is_document: bool,
}

impl ByteReader {
    /// Opens a source of `bytes` bytes to read the chunk that begins at `from` and all behind it.
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
        let stream = Stream::open(
            source.file(),
            bytes,
            source.compression,
            (start.member, start.offset),
            BLOCK_BYTES,
        )?;
        Ok(ByteReader {
            source: number,
            format: source.format,
            least: reading.chunk_bytes.max(1),
            most: reading.max_document_bytes,
            stream,
            file_bytes: bytes,
            start,
            ahead: Pile::default(),
            damage: None,
            ended: false,
            web: WebText::new(reading.html, reading.max_document_bytes),
            in_parts: false,
            long: None,
        })
    }

    /// Gives records that are too long out in parts instead of passing over them.
    pub(super) fn give_parts(&mut self) {
        self.in_parts = true;
    }

    /// Has what is ahead decompressed by others too.
    pub(super) fn helped_by(&mut self, inflaters: Inflaters) {
        self.stream.helped_by(inflaters);
    }

    /// The offset in the file that reading has come to.
    pub(super) fn file_offset(&self) -> u64 {
        self.stream.file_offset()
    }

    /// Decompressed bytes that were read ahead of the last chunk.
    pub(super) fn bytes_ahead(&self) -> usize {
        self.ahead.bytes.len()
    }

    /// The next chunk, in `buffer`; `None` behind the last one.
    pub(super) fn next(&mut self, mut buffer: Vec<u8>) -> Result<Option<Chunk>> {
        if let Some(long) = self.long.take() {
            return self.part(long).map(Some);
        }
        let is_at_start = self.start == Position::start(self.start.member != NO_MEMBER);
        if is_at_start && self.skip_byte_order_mark()? && self.in_parts {
            let mark = BYTE_ORDER_MARK.to_vec();
            return Ok(Some(self.part_chunk(mark, false, true)));
        }
        buffer.clear();
        buffer.append(&mut self.ahead.bytes);
        self.ahead.bytes = buffer;
        let mut cutter = Cutter::new(self.format, self.least, self.most);
        loop {
            match cutter.look(&self.ahead.bytes, self.ended) {
                Cut::At(border) => return Ok(Some(self.cut(border))),
                Cut::Before(border, rest) if self.in_parts => {
                    let chunk = self.cut(border);
                    let (long, _) = self.long(rest)?;
                    self.long = Some(long);
                    return Ok(Some(chunk));
                }
                Cut::Before(border, rest) => return self.skip_too_large(border, rest).map(Some),
                Cut::More => {}
            }
            if self.damage.is_some() {
                let border = cutter.last_whole(&self.ahead.bytes);
                return self.skip_damage(border).map(Some);
            }
            if self.ended {
                let border = self.ahead.bytes.len();
                return Ok((border > 0).then(|| self.cut(border)));
            }
            let missing = self.least.saturating_sub(self.ahead.bytes.len());
            self.fill(missing.clamp(NEAR_END_BYTES, BLOCK_BYTES))?;
        }
    }

    fn fill(&mut self, want: usize) -> Result<()> {
        match self.stream.fill(want, &mut self.ahead)? {
            Step::More => {}
            Step::End => self.ended = true,
            Step::Broken(damage) => self.damage = Some(damage),
        }
        Ok(())
    }

    /// Says whether there was one.
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

    /// Ends the chunk at `border`; what stands behind it is kept for the next one.
    fn cut(&mut self, border: usize) -> Chunk {
        let start = self.start;
        let ahead = self.ahead.split_off(border);
        let chunk = std::mem::replace(&mut self.ahead, ahead);
        self.move_start(border, &chunk.members);
        self.start.chunk += 1;
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

    /// Forgets the first `length` bytes.
    fn drop_front(&mut self, length: usize) {
        let ahead = self.ahead.split_off(length);
        let dropped = std::mem::replace(&mut self.ahead, ahead);
        self.move_start(length, &dropped.members);
    }

    /// Moves the start by `length` bytes, in which `members` begin: into the member of the last of
    /// them, so that it does not depend on whether the next member was seen already.
    fn move_start(&mut self, length: usize, members: &[(usize, u64)]) {
        if let Some(last) = length.checked_sub(1) {
            let (member, offset) = locate(self.start, members, last);
            self.start.member = member;
            self.start.offset = offset + 1;
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

    /// Ends the chunk at `border` and skips the document behind it without holding it.
    fn skip_too_large(&mut self, border: usize, rest: Rest) -> Result<Chunk> {
        let mut chunk = self.cut(border);
        let mut place = self.place(0, 0);
        let (long, id) = self.long(rest)?;
        let (length, is_whole) = self.pass(long)?;
        place.length = length;
        // The room that a long document took is not kept for the chunks to come.
        self.ahead.bytes.shrink_to(BLOCK_BYTES);
        if long.is_document {
            let (reason, detail) = match rest {
                Rest::Record(claimed) => {
                    records::why_passed_over(claimed, length, is_whole, self.most)
                }
                Rest::Separator(_) | Rest::All => (Reason::TooLarge, too_large(length, self.most)),
            };
            chunk.skipped.push(Skip {
                id,
                ..skip(place, reason, detail)
            });
        }
        self.end_long(is_whole, &mut chunk.skipped)?;
        chunk.end = self.start;
        Ok(chunk)
    }

    /// Goes on behind a long record, of which all was passed if it `is_whole`.
    fn end_long(&mut self, is_whole: bool, skipped: &mut Vec<Skip>) -> Result<()> {
        if self.format.is_whole_file() {
            self.end_here();
        } else if !is_whole {
            self.pass_damage(false, skipped)?;
        }
        Ok(())
    }

    /// The long record that comes next, and its id.
    fn long(&mut self, rest: Rest) -> Result<(Long, Vec<u8>)> {
        let (is_document, id) = match rest {
            Rest::Record(length) => self.is_document(length)?,
            Rest::Separator(_) | Rest::All => (true, Vec::new()),
        };
        let is_false = matches!(rest, Rest::Record(length) if self.start.member == NO_MEMBER
            && self.start.offset.saturating_add(length) > self.file_bytes);
        let long = Long {
            rest,
            is_false,
            passed: 0,
            is_document,
        };
        Ok((long, id))
    }

    /// The next part of a long record. Its length depends on the record alone.
    fn part(&mut self, mut long: Long) -> Result<Chunk> {
        let (end, known) = loop {
            let is_last = self.ended || self.damage.is_some();
            let (end, known) = self.end_of(long, is_last);
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
            // What comes behind the damage is another record.
            bytes.extend_from_slice(match self.format.separator() {
                Some(b'\n') => b"\n",
                Some(_) => b"\x0c",
                None => b"\r\n\r\n",
            });
        }
        self.ahead.bytes.shrink_to(BLOCK_BYTES);
        self.end_long(end.is_some(), &mut Vec::new())?;
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

    /// Whether the record of `length` bytes that comes next is a document, from its heads; and its
    /// id.
    fn is_document(&mut self, length: u64) -> Result<(bool, Vec<u8>)> {
        let heads = length.min(2 * HEAD_BYTES as u64) as usize;
        while self.ahead.bytes.len() < heads && !self.ended && self.damage.is_none() {
            self.fill(NEAR_END_BYTES)?;
        }
        let bytes = &self.ahead.bytes[..self.ahead.bytes.len().min(heads)];
        Ok(match records::begun_record(self.format, bytes) {
            Some(record) => (self.web.is_document(&record), record.id.to_vec()),
            None => (true, Vec::new()),
        })
    }

    /// Passes over a long record, up to damage or the end of the input at most; says how long that
    /// is and whether it is all.
    fn pass(&mut self, mut long: Long) -> Result<(u64, bool)> {
        loop {
            let is_last = self.ended || self.damage.is_some();
            let (end, length) = self.end_of(long, is_last);
            long.passed += length as u64;
            self.drop_front(length);
            if end.is_some() || is_last {
                return Ok((long.passed, end.is_some()));
            }
            self.fill(BLOCK_BYTES)?;
        }
    }

    /// The index at which a long record ends, if it does among the bytes there are, and how many of
    /// them are known to belong to it. With `is_last`, no bytes follow.
    fn end_of(&self, long: Long, is_last: bool) -> (Option<usize>, usize) {
        let bytes = &self.ahead.bytes;
        let (end, kept) = match long.rest {
            Rest::Separator(separator) => (memchr(separator, bytes).map(|at| at + 1), 0),
            Rest::Record(_) if long.is_false => {
                // A version that is cut by the end of the bytes is kept for another look.
                let kept = if is_last { 0 } else { bytes.len().min(7) };
                (find_version(bytes, usize::from(long.passed == 0)), kept)
            }
            Rest::Record(length) => {
                let left = usize::try_from(length - long.passed).ok();
                (left.filter(|&left| left <= bytes.len()), 0)
            }
            Rest::All => (None, 0),
        };
        (end, end.unwrap_or(bytes.len() - kept))
    }

    /// Ends the chunk at `border`; the piece of a document behind it is lost with what follows.
    fn skip_damage(&mut self, border: usize) -> Result<Chunk> {
        // Where a member begins behind a separator, members are taken to hold whole documents.
        let bytes = &self.ahead.bytes;
        let begin = self.damage.as_ref().and_then(|damage| damage.begin);
        let is_start = begin.is_some_and(|begin| match begin.checked_sub(1) {
            Some(last) => bytes.get(last).copied() == self.format.separator(),
            None => true,
        });
        let mut chunk = self.cut(border);
        self.pass_damage(is_start, &mut chunk.skipped)?;
        chunk.end = self.start;
        Ok(chunk)
    }

    /// Drops the bytes there are if damage stands behind them, reports it, and goes to where a
    /// document begins: to the next member if `is_start`, else behind the next separator.
    fn pass_damage(&mut self, mut is_start: bool, skipped: &mut Vec<Skip>) -> Result<()> {
        while let Some(damage) = self.damage.take() {
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

    /// Leaves out the rest of the file.
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

    /// Drops what stands before the next separator, and that; if there is none, all up to damage
    /// or the end, and says `false`.
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

/// What is wrong with a document of `length` bytes where `most` are the limit.
pub(super) fn too_large(length: u64, most: u64) -> String {
    format!("{length} bytes, and documents of at most {most} are read")
}
