//! The repeats of members, from the parts of their leaders.

use crate::passages::spans::records::{ClassMember, LeaderPart, Repeat};
use crate::{Error, ErrorKind, Result};
use simtool_engine::Progress;
use simtool_files::{Sorted, Sorter};

/// Members between two looks at whether to stop.
const CHECKED_MEMBERS: u64 = 1 << 16;

/// Pushes the windows of all members to `repeats`.
///
/// # Errors
/// Errors of temporary files; [`ErrorKind::Interrupted`].
pub fn join(
    members: Sorted<ClassMember>,
    parts: Sorted<LeaderPart>,
    repeats: &mut Sorter<Repeat>,
    progress: &Progress,
) -> Result<()> {
    let mut parts = parts.peekable();
    // The parts of the leader of the last member.
    let mut held: Vec<LeaderPart> = Vec::new();
    let mut seen = 0u64;
    for member in members {
        let ClassMember { leader, own } = member?;
        seen += 1;
        if seen.is_multiple_of(CHECKED_MEMBERS) {
            progress.check()?;
        }
        if held.first().is_none_or(|part| part.leader != leader) {
            held.clear();
            while let Some(part) = parts.next_if(|part| match part {
                Ok(part) => part.leader <= leader,
                Err(_) => true,
            }) {
                held.extend(Some(part?).filter(|part| part.leader == leader));
            }
        }
        let [document, first] = own;
        if held.is_empty() {
            let message = "a place of a repeated stretch is missing: this is an error of simtool";
            return Err(Error::new(ErrorKind::Content, message));
        }
        for part in &held {
            repeats.push(Repeat {
                document,
                start: first + (part.start - leader[1]),
                windows: part.windows,
                kept: part.kept,
                count: part.count,
            })?;
        }
    }
    Ok(())
}
