//! A file of gzip members or zstd frames, with a way around those that are damaged.
//!
//! A member of at most [`HELD_BYTES`] is given out once its checksum was found right, so that a
//! damaged one costs itself and nothing else. A longer one is given out as it is decompressed;
//! what came out before the damage was noticed cannot be called back, and the report says so.
//! Behind damage, the next member is looked for by its first bytes and taken if it can be
//! decompressed as far as it is held.

use super::ahead::Ahead;
use super::blocks::Blocks;
use super::codec::{Codec, HEADER_BYTES, Outcome, STEP_BYTES};
use super::inflaters::Inflaters;
use super::stretch::Inflated;
use super::{Break, Pile, Step};
use crate::Result;
use crate::corpus::chunk::WholeMember;
use memchr::memmem::Finder;

/// The most decompressed bytes of a member that wait for its checksum.
pub(super) const HELD_BYTES: u64 = 1 << 20;

/// The fewest decompressed bytes of a member that is listed as a whole one: a list of shorter ones
/// would take more memory than they do.
const LEAST_WHOLE_BYTES: u64 = 256;

/// How many bytes of false members, behind one damaged place, are decompressed in search of the
/// next before members within a false one are no longer tried: this keeps the search linear.
const SEARCH_BYTES: u64 = 64 << 20;

/// The decompressed bytes of a file of members.
pub(in crate::corpus) struct Members {
    blocks: Blocks,
    codec: Codec,
    /// The member that is being decompressed.
    member: Option<Member>,
    /// What of the member is still to be given out, if it was decompressed ahead.
    inflated: Option<Inflated>,
    ahead: Option<Ahead>,
    /// Decompressed bytes at the start of the first member that are not wanted.
    unwanted: u64,
}

#[derive(Clone, Copy)]
struct Member {
    /// Its offset in the file.
    offset: u64,
    /// How much came out of it.
    given: u64,
    /// The index in the pile at which it begins; `None` if it began in an earlier one.
    begin: Option<usize>,
}

impl Members {
    /// Reads members from where `blocks` stands, but for the first `unwanted` decompressed bytes.
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

    /// Has members decompressed ahead by others, where it is at the start of one.
    pub(super) fn helped_by(&mut self, inflaters: Inflaters) {
        self.ahead = Some(Ahead::new(inflaters));
    }

    /// The offset in the file that decompression has come to.
    pub(super) fn file_offset(&self) -> u64 {
        self.blocks.offset()
    }

    /// Appends at least `want` bytes, unless the file ends or is damaged before.
    pub(super) fn fill(&mut self, want: usize, pile: &mut Pile) -> Result<Step> {
        let enough = pile.bytes.len() + want.max(1);
        let before = pile.bytes.len();
        loop {
            let Some(member) = self.member else {
                if pile.bytes.len() >= enough {
                    return Ok(Step::More);
                }
                match self.begin(pile)? {
                    Begun::Member => continue,
                    Begun::End if pile.bytes.len() > before => return Ok(Step::More),
                    Begun::End => return Ok(Step::End),
                    Begun::Broken(broken) => return Ok(Step::Broken(broken)),
                }
            };
            if pile.bytes.len() >= enough && member.given > HELD_BYTES {
                return Ok(Step::More);
            }
            if let Some(broken) = self.advance(member, pile)? {
                return Ok(Step::Broken(broken));
            }
        }
    }

    /// Forgets where the member begins, because the bytes before `length` leave the pile.
    pub(super) fn cut(&mut self, length: usize) {
        if let Some(member) = &mut self.member {
            member.begin = member.begin.and_then(|begin| begin.checked_sub(length));
        }
    }

    /// Starts the next member, if there is one.
    fn begin(&mut self, pile: &mut Pile) -> Result<Begun> {
        let offset = self.blocks.offset();
        if let Some(ahead) = &mut self.ahead {
            self.inflated = ahead.member(offset, &self.blocks, &self.codec)?;
        }
        if self.inflated.is_some() || self.begin_codec()? {
            let begin = pile.bytes.len();
            // Resuming within a member: it begins before the pile does.
            let is_first = self.unwanted > 0;
            if !is_first {
                pile.members.push((begin, offset));
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
        let next = self.find_next(offset + 1, offset, true)?;
        let detail = self.go_to(next, offset, &what);
        Ok(Begun::Broken(Break {
            is_truncated: false,
            begin: Some(pile.bytes.len()),
            detail,
        }))
    }

    /// Makes the codec ready for the next member, if one may begin here.
    fn begin_codec(&mut self) -> Result<bool> {
        let header = self.blocks.peek(HEADER_BYTES)?;
        let begins = !header.is_empty() && self.codec.begins(header);
        if begins {
            self.codec.begin(header);
        }
        Ok(begins)
    }

    /// Whether there are nothing but zeros to the end of the file; they are used up then.
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

    /// Decompresses a step of the member; what is wrong, if it cannot be.
    fn advance(&mut self, mut member: Member, pile: &mut Pile) -> Result<Option<Break>> {
        let before = pile.bytes.len();
        let outcome = match self.inflated.take() {
            Some(inflated) => self.copy(inflated, pile),
            None => {
                let input = self.blocks.peek(1)?;
                if input.is_empty() {
                    return self.end_within(member, pile).map(Some);
                }
                pile.reserve(STEP_BYTES);
                let (used, outcome) = self.codec.step(input, &mut pile.bytes);
                self.blocks.consume(used);
                outcome
            }
        };
        member.given += (pile.bytes.len() - before) as u64;
        self.drop_unwanted(before, pile);
        match outcome {
            Outcome::Going => self.member = Some(member),
            Outcome::Ended => {
                self.list_whole(member, pile);
                self.member = None;
                self.unwanted = 0;
            }
            Outcome::Corrupt(what) => {
                let failed = self.blocks.offset();
                let next = self.find_next(member.offset + 1, failed, true)?;
                return Ok(Some(self.damaged(member, next, &what, pile)));
            }
        }
        Ok(None)
    }

    /// Lists a member that has ended, if its length is one of those listed.
    fn list_whole(&self, member: Member, pile: &mut Pile) {
        let is_listed = (LEAST_WHOLE_BYTES..=HELD_BYTES).contains(&member.given);
        if let Some(begin) = member.begin.filter(|_| is_listed) {
            pile.whole.push(WholeMember {
                bytes: begin..pile.bytes.len(),
                file: member.offset..self.blocks.offset(),
            });
        }
    }

    /// Copies a step of what was decompressed ahead.
    fn copy(&mut self, mut inflated: Inflated, pile: &mut Pile) -> Outcome {
        let step = inflated.bytes.len().min(STEP_BYTES);
        let bytes = inflated.bytes.start..inflated.bytes.start + step;
        inflated.bytes.start += step;
        pile.reserve(step);
        if let Some(ahead) = &self.ahead {
            pile.bytes.extend_from_slice(ahead.bytes(bytes));
        }
        if inflated.bytes.is_empty() {
            self.blocks.seek(inflated.span.end);
            return Outcome::Ended;
        }
        self.inflated = Some(inflated);
        Outcome::Going
    }

    /// What it means that the file ends within a member: that it is truncated, unless damage made
    /// the member run over others that are whole.
    fn end_within(&mut self, member: Member, pile: &mut Pile) -> Result<Break> {
        let size = self.blocks.size();
        let next = self.find_next(member.offset + 1, size, false)?;
        if next.is_some() {
            return Ok(self.damaged(member, next, "it has no end", pile));
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
        Ok(Break {
            is_truncated: true,
            begin: member.begin,
            detail,
        })
    }

    /// Gives up a member and goes to the `next`.
    fn damaged(&mut self, member: Member, next: Option<u64>, what: &str, pile: &mut Pile) -> Break {
        self.member = None;
        self.unwanted = 0;
        let is_held = member.given <= HELD_BYTES;
        if is_held {
            take_back(member, pile);
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
        Break {
            is_truncated: false,
            begin: member.begin,
            detail: self.go_to(next, member.offset, &what),
        }
    }

    fn drop_unwanted(&mut self, before: usize, pile: &mut Pile) {
        if self.unwanted > 0 {
            let new = pile.bytes.len() - before;
            let unwanted = usize::try_from(self.unwanted).map_or(new, |unwanted| unwanted.min(new));
            pile.bytes.drain(before..before + unwanted);
            self.unwanted -= unwanted as u64;
        }
    }

    /// Goes to the `next` member, or to the end of the file; tells what is lost from `start` on.
    fn go_to(&mut self, next: Option<u64>, start: u64, what: &str) -> String {
        let size = self.blocks.size();
        self.blocks.seek(next.unwrap_or(size));
        let lost = next.unwrap_or(size) - start;
        match next {
            Some(next) => format!(
                "at byte {start} of the file: {what}; {lost} compressed bytes are lost, reading \
                 goes on at byte {next}"
            ),
            None => format!(
                "at byte {start} of the file: {what}; the {lost} compressed bytes to its end are \
                 lost"
            ),
        }
    }

    /// The first member from `from` on that can be decompressed as far as members are held, or, if
    /// `may_be_cut`, to the end of the file. Looks back from where the one before `failed` by no
    /// more than [`SEARCH_BYTES`].
    fn find_next(&mut self, mut from: u64, failed: u64, may_be_cut: bool) -> Result<Option<u64>> {
        let mut left = SEARCH_BYTES;
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
                if self.can_be_read(may_be_cut)? {
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

    /// Whether what comes next is a member, as far as it can be held.
    fn can_be_read(&mut self, may_be_cut: bool) -> Result<bool> {
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
                Outcome::Ended => return Ok(true),
                Outcome::Corrupt(_) => return Ok(false),
                Outcome::Going if given > HELD_BYTES => return Ok(true),
                Outcome::Going => {}
            }
        }
    }
}

enum Begun {
    Member,
    End,
    Broken(Break),
}

/// Removes what a member that turned out damaged left in the pile.
fn take_back(member: Member, pile: &mut Pile) {
    if let Some(begin) = member.begin {
        pile.bytes.truncate(begin);
        pile.members.retain(|&(_, offset)| offset != member.offset);
    }
}
