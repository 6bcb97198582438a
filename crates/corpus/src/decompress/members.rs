//! Files of gzip members or zstd frames, with recovery after damaged ones.
//!
//! A member of at most [`HELD_BYTES`] is returned after its checksum was verified, so damage costs
//! only that member. A longer one is returned while it is decompressed. Bytes returned before the
//! damage was detected cannot be withdrawn, and the report says so. After damage, the next member is
//! found by its first bytes, and accepted if its first [`HELD_BYTES`] can be decompressed. Members within
//! bytes that were returned already would return them again, each of them perhaps up to the same damage.
//! So after a longer member the search begins shortly before the place where it failed, and what begins
//! before that place has to lead beyond it.

use super::blocks::Blocks;
use super::buffer::{Damage, DecodedBuffer, FillOutcome};
use super::codec::{Codec, HEADER_BYTES, Outcome, STEP_BYTES};
use super::inflaters::Inflaters;
use super::read_ahead::ReadAhead;
use super::section::Inflated;
use crate::Result;
use crate::chunk::WholeMember;
use memchr::memmem::Finder;

/// The maximum number of decompressed bytes of a member that are held until its checksum is verified.
pub(super) const HELD_BYTES: u64 = 1 << 20;

/// The minimum number of decompressed bytes of a member listed as whole. A list of shorter ones
/// would need more memory than their bytes.
const MIN_WHOLE_BYTES: u64 = 256;

/// The maximum number of compressed bytes of false members tried in the search after one damaged
/// place. Beyond it, members within a false one are no longer tried, which keeps the search linear.
const SEARCH_BYTES: u64 = 64 << 20;

/// How far before the place where a member failed whose bytes were returned the search begins: decoders
/// take some bytes of the next member for their own before they notice.
const NEAR_BYTES: u64 = 16 << 10;
/// [`SEARCH_BYTES`] after such a member.
const NEAR_SEARCH_BYTES: u64 = 256 << 10;

/// The decompressed bytes of a file of members.
pub(crate) struct Members {
    blocks: Blocks,
    codec: Codec,
    /// The current member.
    member: Option<Member>,
    /// The rest of the current member, if it was decompressed ahead.
    inflated: Option<Inflated>,
    ahead: Option<ReadAhead>,
    /// The number of decompressed bytes to drop at the start of the first member.
    unwanted: u64,
}

#[derive(Clone, Copy)]
struct Member {
    /// Its offset in the file.
    offset: u64,
    /// The number of its bytes decompressed so far.
    given: u64,
    /// The index in the output where it begins; `None` if that was removed already.
    begin: Option<usize>,
}

/// Where the next member is searched after a damaged one.
struct Search {
    /// The offset where the search begins.
    from: u64,
    /// How many bytes of false members are tried.
    left: u64,
    /// Whether what begins before the place of the failure has to lead beyond it.
    is_near: bool,
}

impl Search {
    /// A search among bytes of which none was returned.
    fn from(from: u64) -> Search {
        Search {
            from,
            left: SEARCH_BYTES,
            is_near: false,
        }
    }
}

impl Member {
    /// Whether its bytes are held until its checksum is verified.
    fn is_held(&self) -> bool {
        self.given <= HELD_BYTES
    }

    /// The search for the next member, after this one failed at the offset `failed`.
    fn search(&self, failed: u64) -> Search {
        let from = self.offset + 1;
        match self.is_held() {
            true => Search::from(from),
            false => Search {
                from: from.max(failed.saturating_sub(NEAR_BYTES)),
                left: NEAR_SEARCH_BYTES,
                is_near: true,
            },
        }
    }
}

impl Members {
    /// Reads members from the current offset of `blocks`, without the first `unwanted` decompressed
    /// bytes.
    pub(super) fn new(blocks: Blocks, codec: Codec, unwanted: u64) -> Members {
        Members {
            blocks,
            codec,
            member: None,
            inflated: None,
            ahead: None,
            unwanted,
        }
    }

    /// Lets other threads decompress members ahead.
    pub(super) fn helped_by(&mut self, inflaters: Inflaters) {
        // The sections would be requested from a server twice.
        if !self.blocks.is_remote() {
            self.ahead = Some(ReadAhead::new(inflaters));
        }
    }

    /// The current offset in the file.
    pub(super) fn file_offset(&self) -> u64 {
        self.blocks.offset()
    }

    /// Appends at least `want` bytes, unless the file ends or damage follows.
    pub(super) fn fill(&mut self, want: usize, output: &mut DecodedBuffer) -> Result<FillOutcome> {
        let enough = output.bytes.len() + want.max(1);
        let before = output.bytes.len();
        loop {
            let Some(member) = self.member else {
                if output.bytes.len() >= enough {
                    return Ok(FillOutcome::More);
                }
                match self.begin(output)? {
                    Begun::Member => continue,
                    Begun::End if output.bytes.len() > before => return Ok(FillOutcome::More),
                    Begun::End => return Ok(FillOutcome::End),
                    Begun::Damaged(damage) => return Ok(FillOutcome::Damaged(damage)),
                }
            };
            if output.bytes.len() >= enough && member.given > HELD_BYTES {
                return Ok(FillOutcome::More);
            }
            if let Some(damage) = self.advance(member, output)? {
                return Ok(FillOutcome::Damaged(damage));
            }
        }
    }

    /// Adjusts the start of the member to the removal of the first `length` bytes of the output.
    pub(super) fn cut(&mut self, length: usize) {
        if let Some(member) = &mut self.member {
            member.begin = member.begin.and_then(|begin| begin.checked_sub(length));
        }
    }

    /// Starts the next member, if there is one.
    fn begin(&mut self, output: &mut DecodedBuffer) -> Result<Begun> {
        let offset = self.blocks.offset();
        if let Some(ahead) = &mut self.ahead {
            self.inflated = ahead.member(offset, &self.blocks, &self.codec)?;
        }
        if self.inflated.is_some() || self.begin_codec()? {
            let begin = output.bytes.len();
            // If reading resumes within a member, the member begins before the output.
            let is_first = self.unwanted > 0;
            if !is_first {
                // Nothing is in the members before it that begin there, too.
                output.members.pop_if(|(before, _)| *before == begin);
                output.members.push((begin, offset));
            }
            self.member = Some(Member {
                offset,
                given: 0,
                begin: (!is_first).then_some(begin),
            });
            return Ok(Begun::Member);
        }
        if self.is_padding()? {
            return Ok(Begun::End);
        }
        let what = format!("no {} begins here", self.codec.member_name());
        let next = self.find_next(Search::from(offset + 1), offset, true)?;
        let detail = self.go_to(next, offset, &what);
        Ok(Begun::Damaged(Damage {
            is_truncated: false,
            is_behind_members: next.is_none(),
            begin: Some(output.bytes.len()),
            detail,
        }))
    }

    /// Prepares the codec for the next member, if one may begin here.
    fn begin_codec(&mut self) -> Result<bool> {
        let header = self.blocks.peek(HEADER_BYTES)?;
        let begins = !header.is_empty() && self.codec.begins(header);
        if begins {
            self.codec.begin(header);
        }
        Ok(begins)
    }

    /// Whether the rest of the file is zeros, which are consumed in that case.
    fn is_padding(&mut self) -> Result<bool> {
        let start = self.blocks.offset();
        loop {
            let bytes = self.blocks.peek(1)?;
            let length = bytes.len();
            if length == 0 {
                return Ok(true);
            }
            if bytes.iter().any(|&byte| byte != 0) {
                self.blocks.seek(start);
                return Ok(false);
            }
            self.blocks.consume(length);
        }
    }

    /// Decompresses a step of the member; returns any damage.
    fn advance(
        &mut self,
        mut member: Member,
        output: &mut DecodedBuffer,
    ) -> Result<Option<Damage>> {
        let before = output.bytes.len();
        let outcome = match self.inflated.take() {
            Some(inflated) => self.copy(inflated, output),
            None => {
                let input = self.blocks.peek(1)?;
                if input.is_empty() {
                    return self.end_within(member, output).map(Some);
                }
                output.reserve(STEP_BYTES);
                let (used, outcome) = self.codec.step(input, &mut output.bytes);
                self.blocks.consume(used);
                outcome
            }
        };
        member.given += (output.bytes.len() - before) as u64;
        self.drop_unwanted(before, output);
        match outcome {
            Outcome::Going => self.member = Some(member),
            Outcome::Ended => {
                self.list_whole(member, output);
                self.member = None;
                self.unwanted = 0;
            }
            Outcome::Corrupt(what) => {
                let failed = self.blocks.offset();
                let next = self.find_next(member.search(failed), failed, true)?;
                return Ok(Some(self.damaged(member, next, &what, output)));
            }
        }
        Ok(None)
    }

    /// Lists a member that has ended, if its length is one of those listed.
    fn list_whole(&self, member: Member, output: &mut DecodedBuffer) {
        let is_listed = (MIN_WHOLE_BYTES..=HELD_BYTES).contains(&member.given);
        if let Some(begin) = member.begin.filter(|_| is_listed) {
            output.whole.push(WholeMember {
                bytes: begin..output.bytes.len(),
                file: member.offset..self.blocks.offset(),
            });
        }
    }

    /// Copies a step of the bytes decompressed ahead.
    fn copy(&mut self, mut inflated: Inflated, output: &mut DecodedBuffer) -> Outcome {
        let step = inflated.bytes.len().min(STEP_BYTES);
        let bytes = inflated.bytes.start..inflated.bytes.start + step;
        inflated.bytes.start += step;
        output.reserve(step);
        if let Some(ahead) = &self.ahead {
            output.bytes.extend_from_slice(ahead.bytes(bytes));
        }
        if inflated.bytes.is_empty() {
            self.blocks.seek(inflated.span.end);
            return Outcome::Ended;
        }
        self.inflated = Some(inflated);
        Outcome::Going
    }

    /// The damage of a file that ends within a member. Either the file is truncated, or the member is
    /// damaged, so that its decoder consumed whole members after it.
    fn end_within(&mut self, member: Member, output: &mut DecodedBuffer) -> Result<Damage> {
        let size = self.blocks.size();
        let next = self.find_next(member.search(size), size, false)?;
        if next.is_some() {
            return Ok(self.damaged(member, next, "it has no end", output));
        }
        self.member = None;
        self.unwanted = 0;
        self.blocks.seek(size);
        let detail = format!(
            "the file ends within the {} at byte {}, {} decompressed bytes into it",
            self.codec.member_name(),
            member.offset,
            member.given
        );
        Ok(Damage {
            is_truncated: true,
            is_behind_members: false,
            begin: member.begin,
            detail,
        })
    }

    /// Abandons a member and continues at the `next`.
    fn damaged(
        &mut self,
        member: Member,
        next: Option<u64>,
        what: &str,
        output: &mut DecodedBuffer,
    ) -> Damage {
        self.member = None;
        self.unwanted = 0;
        let is_held = member.is_held();
        if is_held {
            remove_member(member, output);
        }
        let what = format!(
            "the {} there is damaged after {} decompressed bytes: {what}{}",
            self.codec.member_name(),
            member.given,
            if is_held {
                ""
            } else {
                " (documents among them may be garbled)"
            }
        );
        Damage {
            is_truncated: false,
            is_behind_members: false,
            begin: member.begin,
            detail: self.go_to(next, member.offset, &what),
        }
    }

    fn drop_unwanted(&mut self, before: usize, output: &mut DecodedBuffer) {
        if self.unwanted > 0 {
            let new = output.bytes.len() - before;
            let unwanted = usize::try_from(self.unwanted).map_or(new, |unwanted| unwanted.min(new));
            output.bytes.drain(before..before + unwanted);
            self.unwanted -= unwanted as u64;
        }
    }

    /// Continues at the `next` member or at the end of the file. Returns the description of the bytes
    /// lost from `start` on.
    fn go_to(&mut self, next: Option<u64>, start: u64, what: &str) -> String {
        let size = self.blocks.size();
        self.blocks.seek(next.unwrap_or(size));
        let lost = next.unwrap_or(size) - start;
        match next {
            Some(next) => format!(
                "at byte {start} of the file: {what}; {lost} compressed bytes are lost, reading \
                 continues at byte {next}"
            ),
            None => format!(
                "at byte {start} of the file: {what}; the {lost} compressed bytes to its end are \
                 lost"
            ),
        }
    }

    /// The first member that the search finds whose first [`HELD_BYTES`] can be decompressed. If
    /// `may_be_cut`, the file may end within them. The search begins at most [`SEARCH_BYTES`] before
    /// `failed`, where the previous member failed.
    fn find_next(&mut self, search: Search, failed: u64, may_be_cut: bool) -> Result<Option<u64>> {
        let Search {
            mut from,
            mut left,
            is_near,
        } = search;
        let finder = Finder::new(self.codec.magic());
        if failed.saturating_sub(from) > left {
            from = failed - left;
        }
        self.blocks.seek(from);
        loop {
            let bytes = self.blocks.peek(HEADER_BYTES)?;
            if bytes.len() < finder.needle().len() {
                return Ok(None);
            }
            let Some(at) = finder.find(bytes) else {
                let searched = bytes.len() + 1 - finder.needle().len();
                self.blocks.consume(searched);
                continue;
            };
            self.blocks.consume(at);
            let candidate = self.blocks.offset();
            let header = self.blocks.peek(HEADER_BYTES)?;
            let mut behind = candidate + 1;
            if self.codec.begins(header) {
                let beyond = (is_near && candidate < failed).then_some(failed);
                if self.can_be_read(may_be_cut, beyond)? {
                    return Ok(Some(candidate));
                }
                let tried = self.blocks.offset() - candidate;
                match left.checked_sub(tried) {
                    Some(rest) => left = rest,
                    None => behind = candidate + tried.max(1),
                }
            }
            self.blocks.seek(behind);
        }
    }

    /// Whether a member begins here whose first [`HELD_BYTES`] can be decompressed. With an offset
    /// `beyond`, it has to end behind it, or [`NEAR_BYTES`] more have to be readable.
    fn can_be_read(&mut self, may_be_cut: bool, beyond: Option<u64>) -> Result<bool> {
        let size = self.blocks.size();
        let is_behind = |offset: u64| beyond.is_none_or(|beyond| offset > beyond || offset == size);
        let far = beyond.map_or(0, |beyond| beyond.saturating_add(NEAR_BYTES));
        self.codec.begin(self.blocks.peek(HEADER_BYTES)?);
        let mut given = 0;
        let mut out = Vec::with_capacity(STEP_BYTES);
        loop {
            let input = self.blocks.peek(1)?;
            if input.is_empty() {
                return Ok(may_be_cut && given > 0);
            }
            out.clear();
            let (used, outcome) = self.codec.step(input, &mut out);
            self.blocks.consume(used);
            given += out.len() as u64;
            match outcome {
                Outcome::Ended => return Ok(is_behind(self.blocks.offset())),
                Outcome::Corrupt(_) => return Ok(false),
                Outcome::Going if given > HELD_BYTES && self.blocks.offset() >= far => {
                    return Ok(true);
                }
                Outcome::Going => {}
            }
        }
    }
}

enum Begun {
    Member,
    End,
    Damaged(Damage),
}

/// Removes the bytes of a damaged member from the output.
fn remove_member(member: Member, output: &mut DecodedBuffer) {
    if let Some(begin) = member.begin {
        output.bytes.truncate(begin);
        output
            .members
            .retain(|&(_, offset)| offset != member.offset);
    }
}
