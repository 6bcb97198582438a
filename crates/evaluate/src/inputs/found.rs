//! The pairs that a method or another tool reports.

use serde::Deserialize;
use serde_json::Value;

use super::clustering::Clustering;
use super::ids::{Ids, Pair, content, decoded, shown};
use super::lines::{Line, is_json, lines};
use super::score_text::{ParsedScore, as_scores, parse as parse_score};
use super::truth::Truth;
use crate::Result;
use crate::sketch::Score;

/// A reported pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundPair {
    /// The two documents.
    pub pair: Pair,
    /// The score, if one was reported.
    pub score: Option<Score>,
}

/// All pairs that a method reports over a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Sorted by pair, each pair once.
    pairs: Vec<FoundPair>,
}

impl Found {
    /// Creates the set of these pairs; of duplicates, the nearest score is kept.
    pub fn new(mut pairs: Vec<FoundPair>) -> Found {
        pairs.sort_by_key(|found| (found.pair, found.score.is_none(), found.score));
        pairs.dedup_by_key(|found| found.pair);
        Found { pairs }
    }

    /// Parses the matches of any tool. The formats are:
    ///
    /// * Lines of two ids and an optional score, separated by tabs, with or without a header. A
    ///   header starts with `a`, `b`, and has no column that is a number; its column `score`, if
    ///   any, has the scores.
    /// * JSON Lines with `id`, `kept` and optionally `estimate`, `distance` or `similarity` (the
    ///   first of these is used), like `duplicates.jsonl`. Lines without `kept` are ignored.
    /// * Clusters, like `clusters.jsonl`.
    ///
    /// Integers are distances; decimal numbers and fractions `n/d` are similarities. Integers in a
    /// file with similarities are similarities, as are those of `estimate` and `similarity`.
    ///
    /// # Errors
    /// [`Content`](crate::ErrorKind::Content), with the line, what was found and what was expected.
    pub fn parse(bytes: &[u8], ids: &mut Ids) -> Result<Found> {
        let mut reader = FoundReader::default();
        if is_json(bytes) {
            let first = lines(bytes).next();
            let is_cluster = |line: Line<'_>| {
                serde_json::from_slice::<Value>(line.bytes)
                    .is_ok_and(|v| v.get("members").is_some())
            };
            if first.is_some_and(is_cluster) {
                return Found::of_clusters(&Clustering::parse(bytes, ids)?);
            }
            for line in lines(bytes) {
                line.with_number(reader.json_line(line, ids))?;
            }
        } else {
            for (index, line) in lines(bytes).enumerate() {
                if index > 0 || !reader.header(line) {
                    line.with_number(reader.table_line(line, ids))?;
                }
            }
        }
        reader.finish()
    }

    /// All pairs of documents in one cluster, without scores.
    ///
    /// # Errors
    /// Errors of [`Clustering::pairs`].
    pub fn of_clusters(clusters: &Clustering) -> Result<Found> {
        let pairs = clusters.pairs()?.into_iter();
        Ok(Found::new(
            pairs.map(|pair| FoundPair { pair, score: None }).collect(),
        ))
    }

    /// These pairs and all others within their connected components, for a tool that lists each
    /// removed document with the kept one.
    ///
    /// # Errors
    /// Errors of [`Clustering::pairs`].
    pub fn transitive(&self) -> Result<Found> {
        let mut all = Found::of_clusters(&self.clusters())?;
        for found in &mut all.pairs {
            found.score = self.get(found.pair).and_then(|found| found.score);
        }
        Ok(all)
    }

    /// The pairs, ascending.
    pub fn pairs(&self) -> &[FoundPair] {
        &self.pairs
    }

    /// A pair; `None` if it was not reported.
    pub fn get(&self, pair: Pair) -> Option<&FoundPair> {
        let index = self.pairs.binary_search_by_key(&pair, |found| found.pair);
        index.ok().map(|index| &self.pairs[index])
    }

    /// The connected components of the pairs.
    pub fn clusters(&self) -> Clustering {
        Clustering::components(self.pairs.iter().map(|found| found.pair))
    }

    /// For each pair of a truth, whether it was reported.
    pub fn accepted(&self, truth: &Truth) -> Vec<bool> {
        let pairs = truth.pairs().iter();
        pairs
            .map(|labelled| self.get(labelled.pair).is_some())
            .collect()
    }

    /// For each pair of a truth, the reported score.
    pub fn scores(&self, truth: &Truth) -> Vec<Option<Score>> {
        let pairs = truth.pairs().iter();
        pairs
            .map(|labelled| self.get(labelled.pair)?.score)
            .collect()
    }
}

#[derive(Deserialize)]
struct JsonLine {
    id: String,
    id_base64: Option<String>,
    kept: Option<String>,
    kept_base64: Option<String>,
    /// The score of the method, which `duplicates.jsonl` has besides the verified similarity.
    estimate: Option<Value>,
    distance: Option<Value>,
    similarity: Option<Value>,
}

#[derive(Default)]
struct FoundReader {
    pairs: Vec<Pair>,
    scores: Vec<Option<ParsedScore>>,
    /// The number of columns of the header, and the index of the scores among them.
    columns: Option<(usize, Option<usize>)>,
}

const SCORE_FORMAT: &str = "a number, a fraction n/d or [n, d], at least 0";

impl FoundReader {
    fn header(&mut self, line: Line<'_>) -> bool {
        let names: Vec<&[u8]> = line.columns().collect();
        let is_score = |name: &&[u8]| parse_score(name).is_some();
        let is_header = names.starts_with(&[b"a", b"b"]) && !names.iter().any(is_score);
        if is_header {
            self.columns = Some((names.len(), names.iter().position(|name| *name == b"score")));
        }
        is_header
    }

    fn table_line(&mut self, line: Line<'_>, ids: &mut Ids) -> Result<()> {
        let columns: Vec<&[u8]> = line.columns().collect();
        let (fits, score) = match self.columns {
            Some((count, score)) => (columns.len() == count, score),
            None => (matches!(columns.len(), 2 | 3), Some(2)),
        };
        let (&[a, b, ..], true) = (&columns[..], fits) else {
            let expected = match self.columns {
                Some((count, _)) => format!("{count} columns with tabs between, as in the header"),
                None => "two ids and perhaps a score with tabs between".to_owned(),
            };
            let found = shown(line.bytes);
            return Err(content(format!("found {found}, expected {expected}")));
        };
        let text = score.and_then(|score| columns.get(score));
        let text = text.filter(|text| !text.is_empty());
        let score = text.map(|text| {
            let complaint = || content(format!("found {}, expected {SCORE_FORMAT}", shown(text)));
            parse_score(text).ok_or_else(complaint)
        });
        self.add(a, b, score.transpose()?, ids)
    }

    fn json_line(&mut self, line: Line<'_>, ids: &mut Ids) -> Result<()> {
        let object: JsonLine = serde_json::from_slice(line.bytes).map_err(|error| {
            content(format!(
                "found {}, expected an object with \"id\" and \"kept\": {error}",
                shown(line.bytes)
            ))
        })?;
        let Some(kept) = object.kept else {
            return Ok(());
        };
        let score = match (object.estimate, object.distance, object.similarity) {
            (Some(estimate), ..) => Some(json_similarity(&estimate)?),
            (None, Some(distance), _) => Some(json_distance(&distance)?),
            (None, None, Some(similarity)) => Some(json_similarity(&similarity)?),
            (None, None, None) => None,
        };
        let id = decoded(object.id, object.id_base64)?;
        let kept = decoded(kept, object.kept_base64)?;
        self.add(&id, &kept, score, ids)
    }

    fn add(&mut self, a: &[u8], b: &[u8], score: Option<ParsedScore>, ids: &mut Ids) -> Result<()> {
        let pair = Pair::new(ids.resolve(a)?, ids.resolve(b)?)
            .ok_or_else(|| content(format!("found {} twice, expected two documents", shown(a))))?;
        self.pairs.push(pair);
        self.scores.push(score);
        Ok(())
    }

    fn finish(self) -> Result<Found> {
        let scores = as_scores(self.scores).ok_or_else(|| {
            content(format!(
                "found a distance beyond {}, expected a smaller one",
                u32::MAX
            ))
        })?;
        let pairs = self.pairs.into_iter().zip(scores);
        Ok(Found::new(
            pairs
                .map(|(pair, score)| FoundPair { pair, score })
                .collect(),
        ))
    }
}

fn json_similarity(value: &Value) -> Result<ParsedScore> {
    let written = match value {
        Value::Array(parts) => match &parts[..] {
            [numerator, denominator] => numerator.as_u64().zip(denominator.as_u64()),
            _ => None,
        },
        Value::Number(number) => match parse_score(number.to_string().as_bytes()) {
            Some(ParsedScore::Whole(whole)) => Some((whole, 1)),
            Some(ParsedScore::Fraction(numerator, denominator)) => Some((numerator, denominator)),
            None => None,
        },
        _ => None,
    };
    let fraction = written.filter(|&(_, denominator)| denominator > 0);
    let fraction =
        fraction.map(|(numerator, denominator)| ParsedScore::Fraction(numerator, denominator));
    fraction.ok_or_else(|| {
        let found = shown(value.to_string().as_bytes());
        content(format!(
            "found the similarity {found}, expected {SCORE_FORMAT}"
        ))
    })
}

fn json_distance(value: &Value) -> Result<ParsedScore> {
    value.as_u64().map(ParsedScore::Whole).ok_or_else(|| {
        let found = shown(value.to_string().as_bytes());
        content(format!(
            "found the distance {found}, expected a whole number"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &[u8]) -> Result<Found> {
        let mut ids = Ids::of_collection([&b"a"[..], b"b", b"c", b"\xff"]).unwrap();
        Found::parse(text, &mut ids)
    }

    fn listed(text: &[u8]) -> Vec<([u32; 2], Option<Score>)> {
        let found = parse(text).unwrap();
        found
            .pairs()
            .iter()
            .map(|f| (f.pair.documents(), f.score))
            .collect()
    }

    #[test]
    fn tables_with_and_without_headers_and_scores() {
        let near = Some(Score::Distance(3));
        assert_eq!(listed(b"c\ta\nb\ta\t3\n"), [([0, 1], near), ([0, 2], None)]);
        assert_eq!(listed(b"a\tb\tx\tscore\nb\ta\ty\t3\r\n"), [([0, 1], near)]);
        assert_eq!(listed(b"a\tb\tlabel\nb\ta\tminor\n"), [([0, 1], None)]);
        let shares = [
            ([0, 1], Some(Score::Fraction(1, 1))),
            ([0, 2], Some(Score::Fraction(1, 2))),
        ];
        assert_eq!(listed(b"b\ta\t1\nc\ta\t0.5\nc\ta\t0.25\na\tc\n"), shares);
        assert_eq!(listed(b""), []);
    }

    #[test]
    fn duplicates_and_clusters_of_dedup() {
        let lines = b"{\"id\":\"b\",\"kept\":\"a\",\"cluster\":0,\"distance\":3,\"estimate\":null,\"similarity\":0.9}\n\
                      {\"id\":\"?\",\"id_base64\":\"/w==\",\"kept\":\"a\",\"distance\":4}\n\
                      {\"id\":\"c\",\"kept\":null}\n";
        let expected = [
            ([0, 1], Some(Score::Distance(3))),
            ([0, 3], Some(Score::Distance(4))),
        ];
        assert_eq!(listed(lines), expected);
        let shares = b"{\"id\":\"b\",\"kept\":\"a\",\"similarity\":[9,10]}\n\
                       {\"id\":\"c\",\"kept\":\"a\",\"similarity\":0.5}";
        let expected = [
            ([0, 1], Score::Fraction(9, 10)),
            ([0, 2], Score::Fraction(1, 2)),
        ];
        assert_eq!(
            listed(shares),
            expected.map(|(pair, score)| (pair, Some(score)))
        );
        let clusters = b"{\"cluster\":0,\"kept\":\"a\",\"size\":3,\"members\":[\"a\",\"b\",\"c\"]}";
        assert_eq!(
            listed(clusters),
            [([0, 1], None), ([0, 2], None), ([1, 2], None)]
        );
        let star = parse(b"a\tb\t1\nc\ta\t2\n").unwrap().transitive().unwrap();
        let scores: Vec<_> = star.pairs().iter().map(|found| found.score).collect();
        assert_eq!(
            scores,
            [Some(Score::Distance(1)), Some(Score::Distance(2)), None]
        );
    }

    #[test]
    fn complaints_name_the_line_what_was_found_and_what_was_expected() {
        for (text, expected) in [
            (
                &b"a\n"[..],
                "line 1: found \"a\", expected two ids and perhaps a score",
            ),
            (b"c\tb\t1\t2\n", "expected two ids and perhaps a score"),
            (
                b"a\tb\tscore\nb\tc\n",
                "line 2: found \"b\\tc\", expected 3 columns",
            ),
            (b"c\tb\t-1\n", "line 1: found \"-1\", expected a number"),
            (b"c\tb\t4294967296\n", "found a distance beyond 4294967295"),
            (b"c\tq\n", "found the id \"q\", which no document has"),
            (b"c\tc\n", "found \"c\" twice"),
            (
                b"{\"id\":\"a\"}\n{",
                "line 2: found \"{\", expected an object",
            ),
            (
                b"{\"id\":\"a\",\"kept\":\"b\",\"distance\":1.5}",
                "found the distance",
            ),
            (
                b"{\"id\":\"a\",\"kept\":\"b\",\"similarity\":[1,0]}",
                "found the similarity",
            ),
            (
                b"{\"id\":\"a\",\"id_base64\":\"*\",\"kept\":\"b\"}",
                "expected Base64",
            ),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Found::parse(&bytes, &mut Ids::open());
            let object = [b"{\"id\":\"a\",\"kept\":\"b\",\"similarity\":", &bytes[..], b"}"].concat();
            let _ = Found::parse(&object, &mut Ids::open());
        }
    }
}
