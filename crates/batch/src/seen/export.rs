//! The documents of an index as rows, with how often each text was seen.

use ahash::AHashMap;

use super::open_index::{Seen, similarity_of};
use crate::Result;
use crate::dedup::{EXACT, NORMALIZED};
use simtool_engine::spill_space::{Share, SpillSpace};
use simtool_files::Sorter;
use simtool_index::{Evidence, IndexView, Record, Standing};
use simtool_report::index_rows::{IndexRow, SeenCounts};

/// Rows between two checks whether to stop.
const CHECKED: u64 = 1 << 12;

/// Which documents are exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Export {
    /// Only documents that are no copies.
    pub kept_only: bool,
    /// Only clusters of at least this number of sources; 0 for all.
    pub min_sources: u64,
}

/// The counts of a cluster of several documents.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    size: u64,
    sources: u64,
    sites: u64,
    dumps: u64,
    /// Numbers of dumps.
    first_dump: u32,
    last_dump: u32,
    /// The ordinal of the best document.
    best: u64,
}

/// The kinds of what is counted.
const SOURCE: u64 = 0;
const SITE: u64 = 1;
const DUMP: u64 = 2;

impl Seen {
    /// Passes a row for each document to `take`, in the order of their addition; `check` may stop it.
    ///
    /// A document whose copied one was removed is a cluster of its own. Reads all records twice.
    /// Memory: that of `space`, and some 60 bytes for each cluster of several documents.
    ///
    /// # Errors
    /// Errors of reading, of temporary files, of `take` and of `check`.
    pub fn export(
        &self,
        export: Export,
        space: &SpillSpace<'_>,
        check: &mut dyn FnMut() -> Result<()>,
        take: &mut dyn FnMut(&IndexRow<'_>) -> Result<()>,
    ) -> Result<u64> {
        let view = self.index().view();
        let counts = counts(&view, space, check)?;
        let name = self.settings().spec.name();
        let dump = |number: u32| view.dumps().get(number as usize).map_or("", |label| label);
        let mut rows = 0;
        view.for_each(|ordinal, record| {
            if ordinal.is_multiple_of(CHECKED) {
                check()?;
            }
            let copied = view.copied(record)?;
            let cluster = copied.map_or(ordinal, |(kept, _)| kept);
            let kept = matches!(record.standing, Standing::Kept | Standing::Empty);
            let counts = counts.get(&cluster).copied().unwrap_or_else(|| Counts {
                size: 1,
                sources: u64::from(record.entry.source != 0),
                sites: u64::from(record.entry.site != 0),
                dumps: 1,
                first_dump: record.dump,
                last_dump: record.dump,
                best: ordinal,
            });
            if export.kept_only && !kept || counts.sources < export.min_sources {
                return Ok(());
            }
            let of = copied
                .map(|(kept, _)| view.get(kept))
                .transpose()?
                .flatten();
            let evidence = copied.map(|(_, evidence)| evidence);
            let similarity = evidence.and_then(|evidence| similarity_of(self.settings(), evidence));
            let is_near = matches!(evidence, Some(Evidence::Near { .. }));
            let exact = similarity.filter(|_| is_near && !self.settings().estimates());
            let (id, id_base64) = IndexRow::named(record.entry.id);
            let payload = record.entry.payload;
            rows += 1;
            take(&IndexRow {
                id,
                id_base64,
                dump: dump(record.dump),
                kept,
                best: ordinal == counts.best,
                of: of.as_ref().map(|of| String::from_utf8_lossy(of.entry.id)),
                method: evidence.map(|evidence| match evidence {
                    Evidence::Text => EXACT,
                    Evidence::Words => NORMALIZED,
                    Evidence::Near { .. } => &name,
                }),
                similarity: similarity.map(|[part, whole]| part as f64 / whole.max(1) as f64),
                shared: exact.map(|[shared, _]| shared),
                shingles: exact.map(|[_, all]| all),
                cluster,
                counts: SeenCounts {
                    size: counts.size,
                    sources: counts.sources,
                    sites: counts.sites,
                    first_dump: dump(counts.first_dump),
                    last_dump: dump(counts.last_dump),
                    dumps: counts.dumps,
                },
                payload: (!payload.is_empty()).then(|| String::from_utf8_lossy(payload)),
            })
        })?;
        Ok(rows)
    }
}

/// The counts of all clusters of several documents, by the ordinals of their kept ones.
fn counts(
    view: &IndexView,
    space: &SpillSpace<'_>,
    check: &mut dyn FnMut() -> Result<()>,
) -> Result<AHashMap<u64, Counts>> {
    let mut clusters: AHashMap<u64, Counts> = AHashMap::new();
    // Clusters with their origins: kind and hash, or number of a dump.
    let mut origins: Sorter<[u64; 3]> = space.sorter(Share::WHOLE);
    let mut add = |cluster: u64, record: &Record<'_>| -> Result<()> {
        let entry = &record.entry;
        for (kind, origin) in [(SOURCE, entry.source), (SITE, entry.site)] {
            if origin != 0 {
                origins.push([cluster, kind, origin])?;
            }
        }
        origins.push([cluster, DUMP, record.dump.into()])
    };
    view.for_each(|ordinal, record| {
        if ordinal.is_multiple_of(CHECKED) {
            check()?;
        }
        let Some((cluster, _)) = view.copied(record)? else {
            return Ok(());
        };
        let counts = clusters.entry(cluster).or_default();
        if counts.size == 0
            && let Some(kept) = view.get(cluster)?
        {
            add(cluster, &kept)?;
            counts.size = 1;
            counts.first_dump = kept.dump;
        }
        counts.size += 1;
        counts.last_dump = record.dump;
        counts.best = record.best().unwrap_or(cluster);
        add(cluster, record)
    })?;
    let mut last = None;
    for origin in origins.finish()? {
        let origin = origin?;
        let [cluster, kind, _] = origin;
        if last.replace(origin) == Some(origin) {
            continue;
        }
        let counts = clusters.entry(cluster).or_default();
        match kind {
            SOURCE => counts.sources += 1,
            SITE => counts.sites += 1,
            _ => counts.dumps += 1,
        }
    }
    for (cluster, counts) in &mut clusters {
        // The best copy may have been removed.
        if counts.best != *cluster && view.get(counts.best)?.is_none() {
            counts.best = *cluster;
        }
    }
    Ok(clusters)
}
