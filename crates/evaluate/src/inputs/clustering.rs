//! Clusters of documents, and the pairs within them.

use ahash::AHashMap;
use serde::Deserialize;

use super::ids::{Ids, Pair, content, decoded, shown};
use super::lines::{Line, is_json, lines};
use crate::Result;

/// The maximum number of pairs within clusters that are listed: 2^26, half a gigabyte.
const MAX_PAIRS: u64 = 1 << 26;

/// A partition of documents into clusters. A document that is not listed is alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clustering {
    /// (document, cluster), sorted by document. A cluster is identified by its first document.
    members: Vec<(u32, u32)>,
}

impl Clustering {
    /// The connected components of a list of pairs.
    ///
    /// Source: Tarjan, Efficiency of a good but not linear set union algorithm, JACM 22, 1975; with
    /// path halving and the smaller number as the parent.
    pub fn components(pairs: impl IntoIterator<Item = Pair>) -> Clustering {
        let mut parents: AHashMap<u32, u32> = AHashMap::new();
        for pair in pairs {
            let [a, b] = pair
                .documents()
                .map(|document| root(&mut parents, document));
            parents.insert(a.max(b), a.min(b));
        }
        let mut documents: Vec<u32> = parents.keys().copied().collect();
        documents.sort_unstable();
        let members = documents.into_iter();
        Clustering {
            members: members
                .map(|document| (document, root(&mut parents, document)))
                .collect(),
        }
    }

    /// Parses clusters: JSON Lines with `members`, like `clusters.jsonl`, or lines of an id, a tab
    /// and the name of a cluster, with or without a header `id`, `cluster`.
    ///
    /// # Errors
    /// [`Content`](crate::ErrorKind::Content), with the line, for unknown ids, ids of several
    /// documents, documents listed twice, sizes that do not match, and lines that are neither.
    pub fn parse(bytes: &[u8], ids: &mut Ids) -> Result<Clustering> {
        let mut reader = ClusteringReader::default();
        if is_json(bytes) {
            for line in lines(bytes) {
                line.with_number(reader.json_line(line, ids))?;
            }
        } else {
            for (index, line) in lines(bytes).enumerate() {
                if index > 0 || line.bytes != b"id\tcluster" {
                    line.with_number(reader.table_line(line, ids))?;
                }
            }
        }
        Ok(reader.finish())
    }

    /// (document, cluster), by ascending document. A cluster has the number of its first document.
    pub fn members(&self) -> &[(u32, u32)] {
        &self.members
    }

    /// The cluster of a document; `None` if it is not listed.
    pub fn cluster(&self, document: u32) -> Option<u32> {
        let index = self
            .members
            .binary_search_by_key(&document, |member| member.0);
        index.ok().map(|index| self.members[index].1)
    }

    /// All pairs of documents within clusters, cluster by cluster.
    ///
    /// # Errors
    /// [`Content`](crate::ErrorKind::Content) if there are more than 2^26 pairs.
    pub fn pairs(&self) -> Result<Vec<Pair>> {
        let mut sorted = self.members.clone();
        sorted.sort_unstable_by_key(|&(document, cluster)| (cluster, document));
        let groups = || sorted.chunk_by(|a, b| a.1 == b.1);
        let count: u64 = groups().map(|group| pairs_of(group.len() as u64)).sum();
        if count > MAX_PAIRS {
            return Err(content(format!(
                "found clusters with {count} pairs of documents, expected at most {MAX_PAIRS}; \
                 evaluate a part of them"
            )));
        }
        let mut pairs = Vec::with_capacity(count as usize);
        for group in groups() {
            for (index, &(a, _)) in group.iter().enumerate() {
                let later = group[index + 1..].iter();
                pairs.extend(later.filter_map(|&(b, _)| Pair::new(a, b)));
            }
        }
        Ok(pairs)
    }
}

/// The number of pairs of `count` elements.
pub(crate) fn pairs_of(count: u64) -> u64 {
    // There are at most 2^32 documents, so this does not overflow.
    count * count.saturating_sub(1) / 2
}

fn root(parents: &mut AHashMap<u32, u32>, document: u32) -> u32 {
    let mut at = document;
    loop {
        let parent = *parents.entry(at).or_insert(at);
        if parent == at {
            return at;
        }
        let above = parents.get(&parent).copied().unwrap_or(parent);
        parents.insert(at, above);
        at = above;
    }
}

/// The fields of clusters.jsonl that are used.
#[derive(Deserialize)]
struct ClusterLine {
    members: Vec<MemberId>,
    size: Option<u64>,
}

/// A member: an id, or an object with one.
#[derive(Deserialize)]
#[serde(untagged)]
enum MemberId {
    Id(String),
    Object {
        id: String,
        id_base64: Option<String>,
    },
}

#[derive(Default)]
struct ClusteringReader {
    /// Maps a document to the number of its cluster and its line.
    seen: AHashMap<u32, (usize, usize)>,
    /// Maps the name of a cluster in a table to its number.
    names: AHashMap<Vec<u8>, usize>,
    clusters: usize,
}

impl ClusteringReader {
    fn json_line(&mut self, line: Line<'_>, ids: &mut Ids) -> Result<()> {
        let cluster: ClusterLine = serde_json::from_slice(line.bytes).map_err(|error| {
            content(format!(
                "found {}, expected an object with \"members\", a list of ids or of objects with \"id\": {error}",
                shown(line.bytes)
            ))
        })?;
        if let Some(size) = cluster
            .size
            .filter(|&size| size != cluster.members.len() as u64)
        {
            let members = cluster.members.len();
            return Err(content(format!(
                "found size {size} and {members} members, expected as many members as the size"
            )));
        }
        self.clusters += 1;
        for member in cluster.members {
            let id = match member {
                MemberId::Id(id) => id.into_bytes(),
                MemberId::Object { id, id_base64 } => decoded(id, id_base64)?,
            };
            self.add(ids.resolve(&id)?, self.clusters, line, ids)?;
        }
        Ok(())
    }

    fn table_line(&mut self, line: Line<'_>, ids: &mut Ids) -> Result<()> {
        let columns: Vec<&[u8]> = line.columns().take(3).collect();
        let &[id, name] = &columns[..] else {
            return Err(content(format!(
                "found {}, expected an id, a tab and a cluster",
                shown(line.bytes)
            )));
        };
        let next = self.names.len();
        let cluster = *self.names.entry(name.to_vec()).or_insert(next);
        self.add(ids.resolve(id)?, cluster, line, ids)
    }

    fn add(&mut self, document: u32, cluster: usize, line: Line<'_>, ids: &Ids) -> Result<()> {
        match self.seen.insert(document, (cluster, line.number)) {
            None => Ok(()),
            Some((_, before)) => Err(content(format!(
                "found {}, which is in a cluster since line {before}; expected each document \
                 once",
                shown(ids.name(document))
            ))),
        }
    }

    fn finish(self) -> Clustering {
        let seen = self.seen.into_iter();
        let mut members: Vec<(u32, usize)> = seen
            .map(|(document, (cluster, _))| (document, cluster))
            .collect();
        members.sort_unstable();
        let mut first: AHashMap<usize, u32> = AHashMap::new();
        let members = members.into_iter();
        Clustering {
            members: members
                .map(|(document, cluster)| (document, *first.entry(cluster).or_insert(document)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Clustering> {
        let mut ids = Ids::of_collection([&b"a"[..], b"b", b"c", b"d"]).unwrap();
        Clustering::parse(text.as_bytes(), &mut ids)
    }

    #[test]
    fn both_forms_say_the_same() {
        let lines = "{\"cluster\":1,\"kept\":\"d\",\"size\":2,\"members\":[{\"id\":\"d\"},\
                     {\"id\":\"?\",\"id_base64\":\"Yg==\",\"file\":\"f\"}]}\n\
                     {\"members\":[\"c\"]}\n";
        let clusters = parse(lines).unwrap();
        assert_eq!(clusters.members(), [(1, 1), (2, 2), (3, 1)]);
        assert_eq!(
            parse("id\tcluster\nd\tx\nb\tx\r\nc\ty\n").unwrap(),
            clusters
        );
        assert_eq!(parse("d\tx\nb\tx\nc\ty").unwrap(), clusters);
        assert_eq!(clusters.pairs().unwrap(), [Pair::new(1, 3).unwrap()]);
        assert_eq!((clusters.cluster(3), clusters.cluster(0)), (Some(1), None));
        assert_eq!(parse("").unwrap(), Clustering::default());
    }

    #[test]
    fn complaints_name_the_line_what_was_found_and_what_was_expected() {
        for (text, expected) in [
            (
                "a\tx\nq\tx",
                "line 2: found the id \"q\", which no document has",
            ),
            (
                "a\tx\n\na\ty",
                "line 3: found \"a\", which is in a cluster since line 1",
            ),
            ("a\tx\tz", "expected an id, a tab and a cluster"),
            ("a", "expected an id, a tab and a cluster"),
            (
                "{\"members\":[\"a\"],\"size\":2}",
                "found size 2 and 1 members",
            ),
            ("{\"members\":[\"a\",\"a\"]}", "since line 1"),
            ("{\"members\":7}", "expected an object with \"members\""),
            ("{}", "missing field"),
            ("{\"members\":[\"a\"", "line 1: found"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn too_many_pairs_are_refused_before_they_are_listed() {
        let members = (0..20_000).map(|document| (document, 0)).collect();
        let error = Clustering { members }.pairs().unwrap_err().to_string();
        assert!(error.contains("199990000 pairs"), "{error}");
    }

    proptest! {
        #[test]
        fn components_are_what_can_be_reached(
            edges in prop::collection::vec((0u32..12, 0u32..12), 0..16),
        ) {
            let pairs: Vec<Pair> = edges.iter().filter_map(|&(a, b)| Pair::new(a, b)).collect();
            let clusters = Clustering::components(pairs.iter().copied());
            let mut least: Vec<u32> = (0..12).collect();
            for _ in 0..12 {
                for pair in &pairs {
                    let [a, b] = pair.documents().map(|document| document as usize);
                    let both = least[a].min(least[b]);
                    (least[a], least[b]) = (both, both);
                }
            }
            for document in 0..12 {
                let named = pairs.iter().any(|pair| pair.documents().contains(&document));
                let expected = named.then_some(least[document as usize]);
                prop_assert_eq!(clusters.cluster(document), expected);
            }
            let listed = clusters.pairs().unwrap();
            let all = (0..12).flat_map(|a| (a + 1..12).map(move |b| (a, b)));
            let expected = all.filter(|&(a, b)| {
                clusters.cluster(a).is_some() && clusters.cluster(a) == clusters.cluster(b)
            });
            prop_assert_eq!(listed.len(), expected.count());
        }

        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Clustering::parse(&bytes, &mut Ids::open());
        }
    }
}
