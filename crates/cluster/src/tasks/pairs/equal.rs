//! Documents with equal words: the first in keep order is the leader, the others follow it.

use simtool_core::Result;

use crate::context::Context;
use crate::records::{Verdict, Words, home_of};
use crate::tasks::reading::home::WORDS;
use crate::tasks::reading::sort::KEYS;
use crate::work::{Facts, Outbox, Stream};

/// [`Verdict`], by the homes of the documents.
pub const VERDICTS: Stream = Stream(0);

/// Compares the digests of a part.
///
/// # Errors
/// Errors of reading and writing.
pub fn run(context: &Context<'_>, task: usize) -> Result<Facts> {
    let mut out = Outbox::create(context.work, "equal", task, &[context.tasks()])?;
    let mut sorter = context.sorter::<Words>();
    let words = context.inbox(context.words());
    words.records(WORDS, task, |words: Words| sorter.push(words))?;
    let mut leader: Option<Words> = None;
    for words in sorter.finish()? {
        let words = words?;
        match leader {
            Some(leader) if leader.digest == words.digest => {
                let verdict = Verdict {
                    rank: words.rank,
                    leader: leader.rank,
                    leader_text: leader.text,
                };
                out.record(VERDICTS, home_of(words.rank), &verdict)?;
            }
            _ => leader = Some(words),
        }
    }
    if context.plan.is_keyed() {
        let mut sorter = context.sorter::<[u64; 2]>();
        let divided = context.inbox("divide");
        divided.records(KEYS, task, |key: [u64; 2]| sorter.push(key))?;
        let mut last = None;
        for key in sorter.finish()? {
            let key = key?;
            out.facts.add("repeated", u64::from(last == Some(key)));
            last = Some(key);
        }
    }
    out.finish()
}
