//! The stages of a job: what each of their tasks reads and writes.
//!
//! ```text
//! read ─► (sort) ─► equal ─► spread ─► near ─► sets ─┬────────────────► proposed ─► lent ─► verified
//! texts             words    keys      keys    texts └─► prefix ─► pairs ──┘                    │
//!                                                        shingles                               ▼
//! reports ◄─ named ◄─ counted ◄─ outcomes ◄─ refusals ◄─ labels ◄──────────────────────────── settled
//! ```
//!
//! If URLs are compared, `pages`, `newest` and `words` come before `equal`, and `captured` before `counted`.
//! With an index, `known` follows `spread`. With containment, all documents are compared by their shingles,
//! and there are no refused pairs.
//!
//! Each document has a *home*: the task that read it or, if the keep order is not that of the input,
//! one that has consecutive documents of the keep order. Its rank tells the home, and its row there.

mod pairs;
mod reading;
mod reports;

pub use pairs::frequent::may_be_hot;
pub use reports::rows::{Gone, gone};

use simtool_core::{Error, ErrorKind, Result};

use crate::context::Context;
use crate::work::{Facts, TaskFile};
use pairs::{candidates, equal, frequent, known, near, proposed, settled, spread, verified};
use reading::{captures, read, sets, sort};
use reports::{captured, outcomes, refusals, rows};

/// Runs a task of a stage, unless its file is there already.
///
/// # Errors
/// Errors of the stage; [`ErrorKind::Parameter`] for an unknown one.
pub fn run(context: &Context<'_>, stage: &str, task: usize) -> Result<Facts> {
    if let Some(file) = TaskFile::find(context.work, stage, task)? {
        return Ok(Facts {
            found: 1,
            ..file.facts().clone()
        });
    }
    let (name, round) = match stage.rsplit_once('-') {
        Some((name, round)) => (name, round.parse().ok()),
        None => (stage, None),
    };
    match (name, round) {
        ("read", None) => read::run(context, task),
        ("divide", None) => sort::divide(context, task),
        ("sort", None) => sort::run(context, task),
        ("pages", None) => captures::pages(context, task),
        ("newest", None) => captures::newest(context, task),
        ("words", None) => captures::words(context, task),
        ("equal", None) => equal::run(context, task),
        ("spread", None) => spread::run(context, task),
        ("known", None) => known::run(context, task),
        ("near", None) => near::run(context, task),
        ("wanted", None) => sets::wanted(context, task),
        ("sets", None) => sets::run(context, task),
        ("elements", None) => frequent::elements(context, task),
        ("frequent", None) => frequent::frequent(context, task),
        ("common", None) => frequent::common(context, task),
        ("hot", None) => frequent::hot(context, task),
        ("prefix", Some(round)) => candidates::prefix(context, task, round),
        ("pairs", Some(round)) => candidates::pairs(context, task, round),
        ("proposed", Some(round)) => proposed::proposed(context, task, round),
        ("lent" | "shown", Some(_)) => verified::lent(context, stage, task),
        ("verified" | "compared", Some(_)) => verified::run(context, stage, task),
        ("settled", Some(round)) => settled::run(context, round),
        ("firsts", Some(_)) => proposed::firsts(context, stage, task),
        ("labels", None) => refusals::labels(context, task),
        ("refusals", None) => refusals::run(context, task),
        ("refused", Some(_)) => refusals::refused(context, stage, task),
        ("outcomes", None) => outcomes::outcomes(context, task),
        ("captured", None) => captured::captured(context, task),
        ("counted", None) => outcomes::counted(context, task),
        ("named", None) => outcomes::named(context, task),
        ("reports", None) => rows::run(context, task),
        _ => {
            let message = format!("there is no stage {stage}");
            Err(Error::new(ErrorKind::Parameter, message))
        }
    }
}
