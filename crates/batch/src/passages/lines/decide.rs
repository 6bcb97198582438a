//! The search for repeated units: its settings, its stages, and what reports say of it.

use serde_json::{Value, json};

use super::counting::Counter;
use super::estimate::estimate;
use super::job::{Job, Rule};
use super::memory::{self, Shares};
use super::occurrence::Occurrence;
use super::per::Per;
use super::reading::{Reader, Wanted, push_all, retain_repeated};
use super::warnings;
use crate::passages::decided::{Decided, Found, store_ranges};
use crate::passages::estimate::Estimate;
use crate::passages::first_reading::FirstReading;
use crate::passages::item::ReferenceTotals;
use crate::passages::ranges::RemovedRange;
use crate::passages::seen_twice::SeenTwice;
use crate::passages::totals::Totals;
use crate::passages::{Common, Names, Search};
use crate::skeleton::context::{RunContext, text_bytes};
use crate::skeleton::warning::Warning;
use crate::table::numbering::Numbering;
use crate::{Error, ErrorKind, Result};
use simtool_core::text::units::{UnitKind, UnitReader};
use simtool_corpus::Source;
use simtool_engine::units::units;
use simtool_engine::{Resources, Stage};

impl Search for Job {
    const NAMES: Names = Names {
        list: "boilerplate.jsonl",
        noun: ["unit", "units"],
        found: "repeated",
        counts: ["repeated_units", "removed_units"],
        count: "count",
        origin: "first_at",
        against: "against",
    };

    fn noun(&self) -> [&'static str; 2] {
        match self.kind {
            UnitKind::Line => ["line", "lines"],
            UnitKind::Paragraph => ["paragraph", "paragraphs"],
            UnitKind::Sentences(1) => ["sentence", "sentences"],
            UnitKind::Sentences(_) => ["run of sentences", "runs of sentences"],
        }
    }

    fn common(&self) -> Common<'_> {
        Common {
            action: self.action,
            remains: self.remains,
            reading: &self.reading,
            reference_reading: &self.reading,
            dump: self.dump,
            shards: &self.shards,
            page: self.page,
        }
    }

    fn settings(&self) -> Value {
        let rule = match &self.rule {
            Rule::Repeated { above, per, keep } => json!({
                "above": above,
                "within": per.to_string(),
                "keep": keep.name(),
            }),
            Rule::Listed(listed) => json!({
                "listed_units": listed.len(),
                "listed_xxh3_128": format!("{:032x}", listed.digest()),
            }),
        };
        json!({
            "command": "lines",
            "unit": self.kind.to_string(),
            "normalize": self.normal.to_string(),
            "rule": rule,
            "action": self.action.to_string(),
            "remains": self.common().remains_settings(),
            "list": self.listed,
            "dump": self.common().dump_settings(),
            "page": self.page,
            "reading": self.reading,
        })
    }

    fn check(&self) -> Result<()> {
        match self.rule {
            Rule::Repeated { above: 0, .. } => {
                let message = "above 0: expected at least 1 (every unit occurs once)";
                Err(Error::new(ErrorKind::Parameter, message))
            }
            _ => Ok(()),
        }
    }

    fn check_references(&self) -> Result<()> {
        if !self.is_by_list() && self.per() == Per::All {
            return Ok(());
        }
        let message = "documents to compare with are counted together with all of the input, so \
                       they cannot be combined with a list of units or with groups (within)";
        Err(Error::new(ErrorKind::Parameter, message))
    }

    fn least_memory_bytes(&self, threads: usize) -> u64 {
        memory::least_bytes(threads, &self.reading)
    }

    fn removes_blank_lines(&self) -> bool {
        self.kind == UnitKind::Paragraph
    }

    fn estimate(
        &self,
        sources: &[Source],
        references: usize,
        resources: &Resources,
    ) -> Result<Estimate> {
        estimate(self, sources, references, resources)
    }

    fn decide(&self, run: RunContext<'_>) -> Result<()> {
        let progress = run.progress;
        let shares = Shares::of(run.resources, &self.reading);
        let reader = Reader {
            job: self,
            pipeline: run.pipeline(),
        };
        let mut sorter = shares.sorter::<Occurrence>(shares.occurrences);
        let total = reader.pipeline.bytes();
        progress.begin(Stage::Count, total);
        let bytes = self.table_bytes(text_bytes(run.sources), shares.table);
        let (mut reading, table) = match self.is_by_list() {
            true => (FirstReading::resume(run)?, SeenTwice::new(bytes)),
            false => FirstReading::resume_with_table(run, bytes, shares.table)?,
        };
        let most = shares.kept / size_of::<Occurrence>();
        let kept = reader.first(&mut reading, &table, most, &mut sorter)?;
        let needs_table = kept.is_none() && !self.is_by_list();
        let documents = reading.finish(needs_table.then_some(&table))?;
        progress.end(total);
        let units = units(run.sources);
        let numbering = Numbering::new(&documents.chunks, run.sources.len(), &units)?;
        match (kept, &self.rule) {
            (Some(mut kept), Rule::Repeated { .. }) => {
                retain_repeated(&mut kept, &table);
                push_all(&mut sorter, &kept, self.per())?;
            }
            (Some(_), Rule::Listed(_)) => {}
            (None, rule) => {
                progress.begin(Stage::Locate, total);
                let wanted = match rule {
                    Rule::Repeated { .. } => Wanted::Repeated(&table),
                    Rule::Listed(listed) => Wanted::Listed(listed),
                };
                reader.second(wanted, &numbering, &mut sorter)?;
                progress.end(total);
            }
        }
        drop(table);
        progress.begin(Stage::Gather, 0);
        let counter = Counter {
            rule: &self.rule,
            references: numbering.documents_before(run.references),
            listed: self.listed,
            space: shares.space,
            progress,
        };
        let ranges = shares.sorter::<RemovedRange>(shares.ranges);
        let counted = counter.count(sorter.finish()?, ranges)?;
        let found = Found {
            ranges: store_ranges(run.work, counted.ranges)?,
            origins: None,
            items: None,
            most_frequent: counted.most_frequent,
            totals: counted.totals,
        };
        Decided::store(
            self,
            run,
            (&documents, &numbering),
            found,
            |_, removed, row| removed >= row.unit_bytes,
        )?;
        progress.end(0);
        Ok(())
    }

    fn hash_of(&self) -> impl FnMut(&[u8]) -> Option<u128> {
        let mut reader = UnitReader::new(self.kind, self.normal);
        move |text| reader.hash_of(text)
    }

    fn list_fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("unit", self.kind.to_string()),
            ("normalize", self.normal.to_string()),
        ]
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let rule = match &self.rule {
            Rule::Repeated { above, per, keep } => format!(
                "what occurs more often than {above} times{}; kept: {}",
                match per {
                    Per::All => String::new(),
                    per => format!(", within {per}"),
                },
                keep.name()
            ),
            Rule::Listed(listed) => format!("{} listed units", listed.len()),
        };
        vec![
            ("Unit", self.kind.to_string()),
            ("Equal but for", self.normal.to_string()),
            ("Removed", rule),
        ]
    }

    fn counts_units(&self) -> bool {
        true
    }

    fn warnings(&self, totals: &Totals, _: &[ReferenceTotals]) -> Vec<Warning> {
        warnings::warnings(self, totals)
    }
}

impl Job {
    /// The bytes of the table of the units of `text_bytes` bytes of text: enough for units of 64 bytes, and at most `most`.
    pub(super) fn table_bytes(&self, text_bytes: u64, most: usize) -> usize {
        if self.is_by_list() {
            return 0;
        }
        let wanted = usize::try_from(text_bytes / 16).unwrap_or(usize::MAX);
        wanted.clamp(1 << 16, most.max(1 << 16))
    }
}
