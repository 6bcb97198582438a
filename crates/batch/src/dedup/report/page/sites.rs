//! Documents by site, counted exactly.

use bytemuck::{Pod, Zeroable};

use crate::Result;
use crate::dedup::memory;
use simtool_engine::spill_space::SpillSpace;
use simtool_files::Sorter;
use simtool_report::dedup::Totals;

/// The number of sites that are shown.
const SITES: usize = 20;

/// A document of a site. Sorts by site, then by document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct SiteDocument {
    /// The hash of the host.
    site: u64,
    document: u32,
    is_dropped: u32,
    text_bytes: u64,
}

/// The documents of all sites.
pub struct Sites {
    documents: Sorter<SiteDocument>,
    all: Totals,
    without: Totals,
}

/// The sites with the most dropped documents.
#[derive(Debug, PartialEq, Eq)]
pub struct LargestSites {
    /// The first document of each, and its counts.
    pub sites: Vec<(u32, Totals)>,
    /// How many other sites there are.
    pub others: u64,
    /// Their sums.
    pub rest: Totals,
    /// Documents without a site.
    pub without: Totals,
}

impl Sites {
    /// No documents so far.
    pub fn new(space: &SpillSpace<'_>) -> Sites {
        Sites {
            documents: space.sorter(memory::SITES),
            all: Totals::default(),
            without: Totals::default(),
        }
    }

    /// Counts a document by its site.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn add(
        &mut self,
        document: u32,
        site: Option<u64>,
        text_bytes: u64,
        is_dropped: bool,
    ) -> Result<()> {
        let Some(site) = site else {
            self.without.add_document(text_bytes, is_dropped);
            return Ok(());
        };
        self.all.add_document(text_bytes, is_dropped);
        self.documents.push(SiteDocument {
            site,
            document,
            is_dropped: u32::from(is_dropped),
            text_bytes,
        })
    }

    /// The sites with the most dropped documents, among equals those with the most documents, then
    /// the first in the input. `None` if no document has a site.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn finish(self) -> Result<Option<LargestSites>> {
        if self.all.seen == 0 {
            return Ok(None);
        }
        let mut sites: Vec<(u32, Totals)> = Vec::new();
        let mut others = 0;
        let mut end = |site: (u32, Totals)| {
            let rank = |(first, totals): &(u32, Totals)| {
                (u64::MAX - totals.dropped, u64::MAX - totals.seen, *first)
            };
            let place = sites.partition_point(|other| rank(other) < rank(&site));
            others += 1;
            if site.1.dropped > 0 && place < SITES {
                sites.insert(place, site);
                sites.truncate(SITES);
            }
        };
        let mut current: Option<(u64, (u32, Totals))> = None;
        for document in self.documents.finish()? {
            let document = document?;
            let (_, (_, totals)) = match &mut current {
                Some(current) if current.0 == document.site => current,
                other => {
                    let new = (document.site, (document.document, Totals::default()));
                    if let Some((_, ended)) = other.replace(new) {
                        end(ended);
                    }
                    other.get_or_insert(new)
                }
            };
            totals.add_document(document.text_bytes, document.is_dropped == 1);
        }
        if let Some((_, ended)) = current {
            end(ended);
        }
        let mut rest = self.all;
        for (_, shown) in &sites {
            rest -= *shown;
        }
        Ok(Some(LargestSites {
            others: others - sites.len() as u64,
            sites,
            rest,
            without: self.without,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_core::dedup::keep;
    use std::collections::BTreeMap;

    /// Promise (Methods and their evaluation): The HTML page of a deduplication has …
    #[test]
    fn sites_are_counted_exactly_with_any_memory() {
        let directory = tempfile::tempdir().unwrap();
        let documents: Vec<(String, u64, bool)> = (0..20_000_u64)
            .map(|number| {
                let site = number * number % 997 % 211;
                let url = match site {
                    0..5 => "no host".to_owned(),
                    _ => format!("http://WWW{}.example/{number}", site.isqrt() * 7),
                };
                (url, number % 50, number % 3 == 0 && site % 2 == 0)
            })
            .collect();
        let mut naive: BTreeMap<&str, (u32, Totals)> = BTreeMap::new();
        for (number, (url, bytes, is_dropped)) in (0..).zip(&documents) {
            let host = url.split('/').nth(2).unwrap_or_default();
            let (_, totals) = naive.entry(host).or_insert((number, Totals::default()));
            totals.add_document(*bytes, *is_dropped);
        }
        let without = naive.remove("").unwrap().1;
        let mut expected: Vec<(u32, Totals)> = naive.into_values().collect();
        let all = expected.len() as u64;
        expected.retain(|(_, totals)| totals.dropped > 0);
        expected.sort_by_key(|(first, totals)| {
            (u64::MAX - totals.dropped, u64::MAX - totals.seen, *first)
        });
        expected.truncate(SITES);
        assert!(expected.len() > 5);
        for memory_bytes in [1 << 12, 1 << 24] {
            let space = SpillSpace {
                directory: directory.path(),
                memory_bytes,
            };
            let mut sites = Sites::new(&space);
            for (number, (url, bytes, is_dropped)) in (0..).zip(&documents) {
                sites
                    .add(number, keep::site(url.as_bytes()), *bytes, *is_dropped)
                    .unwrap();
            }
            let found = sites.finish().unwrap().unwrap();
            assert_eq!(found.sites, expected);
            assert_eq!(
                (found.without, found.others),
                (without, all - expected.len() as u64)
            );
            let seen: u64 = expected.iter().map(|(_, totals)| totals.seen).sum();
            assert_eq!(seen + found.rest.seen + without.seen, 20_000);
        }
    }

    #[test]
    fn without_urls_there_are_no_sites() {
        let directory = tempfile::tempdir().unwrap();
        let space = SpillSpace {
            directory: directory.path(),
            memory_bytes: 1 << 20,
        };
        let mut sites = Sites::new(&space);
        sites.add(0, None, 3, true).unwrap();
        assert!(sites.finish().unwrap().is_none());
    }
}
