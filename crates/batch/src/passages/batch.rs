//! Every search as a job with a work directory: its checks and its files.

use serde_json::Value;

use super::run::{PAGE, PassageRun};
use super::search::PassageSearch;
use crate::passages::report::spans::SPANS;
use crate::passages::report::summary::PassageSummary;
use crate::passages::settings::action::Action;
use crate::skeleton::context::RunContext;
use crate::skeleton::invocation::Against;
use crate::skeleton::job::BatchJob;
use crate::skeleton::settings::{BatchSettings, WrittenDocuments};
use crate::skeleton::skipped::SKIPPED;
use crate::workdir::{SUMMARY, TIMINGS};
use crate::write::check::check_texts;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::Source;

/// The longest document, so that places in texts fit four bytes.
const MOST_DOCUMENT_BYTES: u64 = 1 << 31;

impl<S: PassageSearch> BatchJob for S {
    type Summary = PassageSummary;

    fn batch(&self) -> BatchSettings<'_> {
        let common = self.common();
        BatchSettings {
            reading: &common.reading,
            reference_reading: self.reference_reading(),
            dump: common.dump,
            shards: &common.shards,
        }
    }

    fn settings(&self) -> Value {
        self.common().with(self.own_settings())
    }

    fn check(&self) -> Result<()> {
        PassageSearch::check(self)?;
        let common = self.common();
        let refuse = |message: String| Err(Error::new(ErrorKind::Parameter, message));
        if common.reading.max_document_bytes > MOST_DOCUMENT_BYTES {
            return refuse(format!(
                "max_document {}: expected at most 2G",
                common.reading.max_document_bytes
            ));
        }
        if common.shards.is_used() && common.action == Action::Mark {
            let message = "write_format has an effect only where documents are written: choose \
                           the action cut, mask or drop-document:SHARE";
            return refuse(message.to_owned());
        }
        if common.remains.has_rule() && common.action != Action::Cut {
            let [_, passages] = S::NAMES.noun;
            return refuse(format!(
                "what has to remain of a document is counted only if {passages} are cut, and the \
                 action is {}",
                common.action
            ));
        }
        Ok(())
    }

    fn check_against(&self, against: Against<'_>) -> Result<()> {
        match against.documents().is_empty() {
            false => self.check_references(),
            true if self.needs_references() => {
                let message = format!("{}: no file was found", S::NAMES.against);
                Err(Error::new(ErrorKind::Parameter, message))
            }
            true => Ok(()),
        }
    }

    fn check_inputs(&self, inputs: &[Source]) -> Result<()> {
        match self.written().files.is_empty() || !self.common().action.changes_texts() {
            true => Ok(()),
            false => check_texts(inputs),
        }
    }

    fn stages_memory_bytes(&self, threads: usize) -> u64 {
        self.search_memory_bytes(threads)
    }

    fn written(&self) -> WrittenDocuments {
        let common = self.common();
        let directories = common.action.directory().into_iter().collect();
        WrittenDocuments {
            advice: "choose --action mark",
            ..WrittenDocuments::new(directories, &common.shards)
        }
    }

    fn reports(&self) -> Vec<&'static str> {
        let always = [SPANS, S::NAMES.list, SKIPPED, TIMINGS, "run.json", SUMMARY];
        let page = self.common().page.then_some(PAGE);
        always.into_iter().chain(page).collect()
    }

    fn stages(&self, run: RunContext<'_>) -> Result<(PassageSummary, String)> {
        PassageRun { search: self, run }.all()
    }

    fn parse_summary(text: &Value) -> Option<PassageSummary> {
        PassageSummary::parse(text, &S::NAMES)
    }
}
