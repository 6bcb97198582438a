//! The ground truth: labelled pairs of documents.

use ahash::AHashMap;

use super::clustering::{Clustering, pairs_of};
use super::ids::{Ids, Pair, content, shown};
use super::lines::{Line, lines};
use crate::Result;

/// The maximum number of classes.
const MAX_CLASSES: usize = 1000;

/// A class of pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The label of the class.
    pub name: String,
    /// Whether its pairs are near and should be found.
    pub is_near: bool,
}

/// A pair with a known class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelledPair {
    /// The two documents.
    pub pair: Pair,
    /// The number of its class.
    pub class: usize,
}

/// The judgement of a truth on a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Near: it has this class, and should be found.
    Near(usize),
    /// Far: it has this class, and should not be found.
    Far(usize),
    /// Unknown to the truth.
    Unknown,
}

/// Pairs known to be near or far.
///
/// Pairs that are not listed are unknown, with two exceptions. In a
/// [closed world](Truth::closed_world) they are far. If clusters are given, pairs of documents in
/// different clusters are far.
#[derive(Clone, Debug)]
pub struct Truth {
    classes: Vec<Class>,
    pairs: Vec<LabelledPair>,
    indices: AHashMap<Pair, usize>,
    /// The given clusters, or the components of the near pairs.
    clusters: Clustering,
    unlisted: Unlisted,
}

/// The class of pairs that are not listed.
#[derive(Clone, Copy, Debug)]
enum Unlisted {
    Unknown,
    /// Far if both documents are in clusters.
    Apart {
        class: usize,
    },
    /// Far, in a collection of `documents` documents.
    Closed {
        class: usize,
        documents: u64,
    },
}

impl Truth {
    /// Parses `pairs.tsv`: a header `a`, `b`, `label` with optional further columns, and one pair
    /// per line.
    ///
    /// The labels `unrelated` and `0` are classes of far pairs, all others of near pairs. Pairs
    /// keep their order; a pair listed twice with the same label counts once. Classes are in the
    /// order of their first pairs, near ones first.
    ///
    /// # Errors
    /// [`Content`](crate::ErrorKind::Content), with the line, what was found and what was expected.
    pub fn from_pairs(bytes: &[u8], ids: &mut Ids) -> Result<Truth> {
        let mut all = lines(bytes);
        let header = all.next().ok_or_else(|| {
            content("line 1: found the end of the file, expected the header a, b, label")
        })?;
        let names: Vec<&[u8]> = header.columns().collect();
        if !names.starts_with(&[b"a", b"b", b"label"]) {
            return Err(header.expected("the header a, b, label with tabs between"));
        }
        let mut reader = TruthReader {
            columns: names.len(),
            ..TruthReader::default()
        };
        for line in all {
            line.with_number(reader.line(line, ids))?;
        }
        Ok(reader.finish())
    }

    /// The truth of labelled pairs, with the rules of [`from_pairs`](Self::from_pairs).
    ///
    /// # Errors
    /// [`Content`](crate::ErrorKind::Content) for a pair with two labels, an empty label, or too
    /// many labels.
    pub fn labelled<'a>(pairs: impl IntoIterator<Item = (Pair, &'a str)>) -> Result<Truth> {
        Truth::with_far_class(pairs, None)
    }

    /// Like [`labelled`](Self::labelled), where the pairs labelled `far` should not be found either.
    ///
    /// # Errors
    /// Errors of [`labelled`](Self::labelled).
    pub fn with_far_class<'a>(
        pairs: impl IntoIterator<Item = (Pair, &'a str)>,
        far: Option<&str>,
    ) -> Result<Truth> {
        let mut reader = TruthReader::default();
        for (number, (pair, label)) in pairs.into_iter().enumerate() {
            let class = reader.class(label.as_bytes())?;
            reader.classes[class].is_near &= Some(label) != far;
            reader.add(pair, class, number + 1)?;
        }
        Ok(reader.finish())
    }

    /// Parses clusters in either format of [`Clustering::parse`]. Pairs within one cluster are
    /// near, pairs across clusters are far, and pairs with a document in none are unknown.
    ///
    /// # Errors
    /// Errors of [`Clustering::parse`] and [`Clustering::pairs`].
    pub fn from_clusters(bytes: &[u8], ids: &mut Ids) -> Result<Truth> {
        let clusters = Clustering::parse(bytes, ids)?;
        let pairs = clusters.pairs()?.into_iter();
        let pairs: Vec<_> = pairs.map(|pair| LabelledPair { pair, class: 0 }).collect();
        let classes = vec![
            Class::new("same cluster", true),
            Class::new("other cluster", false),
        ];
        let mut truth = Truth::new(classes, pairs, Unlisted::Apart { class: 1 });
        truth.clusters = clusters;
        Ok(truth)
    }

    /// The same truth for a closed world: of the pairs among `documents` documents, all that are not
    /// listed are far.
    ///
    /// They become the last class, `unlisted`.
    #[must_use]
    pub fn closed_world(mut self, documents: usize) -> Truth {
        self.unlisted = Unlisted::Closed {
            class: self.classes.len(),
            documents: documents as u64,
        };
        self.classes.push(Class::new("unlisted", false));
        self
    }

    fn new(classes: Vec<Class>, pairs: Vec<LabelledPair>, unlisted: Unlisted) -> Truth {
        let indices = pairs.iter().enumerate();
        let indices = indices
            .map(|(index, labelled)| (labelled.pair, index))
            .collect();
        let near = pairs
            .iter()
            .filter(|labelled| classes[labelled.class].is_near);
        let clusters = Clustering::components(near.map(|labelled| labelled.pair));
        Truth {
            classes,
            pairs,
            indices,
            clusters,
            unlisted,
        }
    }

    /// The classes; that of pairs that are not listed is last.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The listed pairs, in their order.
    pub fn pairs(&self) -> &[LabelledPair] {
        &self.pairs
    }

    /// Whether the listed pair at `index` is near.
    ///
    /// # Panics
    /// If there is no such pair.
    pub fn is_near(&self, index: usize) -> bool {
        self.classes[self.pairs[index].class].is_near
    }

    /// The index of a pair in [`pairs`](Self::pairs), if it is listed.
    pub fn position(&self, pair: Pair) -> Option<usize> {
        self.indices.get(&pair).copied()
    }

    /// The judgement on a pair.
    pub fn judge(&self, pair: Pair) -> Judgement {
        if let Some(index) = self.position(pair) {
            let class = self.pairs[index].class;
            return match self.classes[class].is_near {
                true => Judgement::Near(class),
                false => Judgement::Far(class),
            };
        }
        let listed = |document| self.clusters.cluster(document).is_some();
        match self.unlisted {
            Unlisted::Closed { class, .. } => Judgement::Far(class),
            Unlisted::Apart { class } if pair.documents().into_iter().all(listed) => {
                Judgement::Far(class)
            }
            _ => Judgement::Unknown,
        }
    }

    /// The number of pairs of each class, including those that are known but not listed.
    pub fn class_sizes(&self) -> Vec<u64> {
        let mut sizes = vec![0; self.classes.len()];
        for labelled in &self.pairs {
            sizes[labelled.class] += 1;
        }
        let listed = self.pairs.len() as u64;
        match self.unlisted {
            Unlisted::Unknown => {}
            Unlisted::Apart { class } => {
                let documents = self.clusters.members().len() as u64;
                sizes[class] = pairs_of(documents).saturating_sub(listed);
            }
            Unlisted::Closed { class, documents } => {
                sizes[class] = pairs_of(documents).saturating_sub(listed);
            }
        }
        sizes
    }

    /// The given clusters, or the connected components of the near pairs.
    pub fn clusters(&self) -> &Clustering {
        &self.clusters
    }

    /// The documents of the listed pairs and of the clusters, ascending.
    pub fn documents(&self) -> Vec<u32> {
        let paired = self
            .pairs
            .iter()
            .flat_map(|labelled| labelled.pair.documents());
        let clustered = self.clusters.members().iter().map(|member| member.0);
        let mut documents: Vec<u32> = paired.chain(clustered).collect();
        documents.sort_unstable();
        documents.dedup();
        documents
    }

    /// The number of documents if the world is closed.
    pub fn closed_documents(&self) -> Option<u64> {
        match self.unlisted {
            Unlisted::Closed { documents, .. } => Some(documents),
            _ => None,
        }
    }

    /// Whether pairs that are not listed may be known to be far.
    pub fn judges_unlisted(&self) -> bool {
        !matches!(self.unlisted, Unlisted::Unknown)
    }
}

impl Class {
    fn new(name: &str, is_near: bool) -> Class {
        Class {
            name: name.to_owned(),
            is_near,
        }
    }
}

#[derive(Default)]
struct TruthReader {
    columns: usize,
    classes: Vec<Class>,
    pairs: Vec<LabelledPair>,
    /// Maps a pair to its class and line.
    seen: AHashMap<Pair, (usize, usize)>,
}

impl TruthReader {
    fn line(&mut self, line: Line<'_>, ids: &mut Ids) -> Result<()> {
        let columns: Vec<&[u8]> = line.columns().take(self.columns + 1).collect();
        let (&[a, b, label, ..], true) = (&columns[..], columns.len() == self.columns) else {
            return Err(content(format!(
                "found {}, expected {} columns with tabs between, as in the header",
                shown(line.bytes),
                self.columns
            )));
        };
        let class = self.class(label)?;
        let pair = Pair::new(ids.resolve(a)?, ids.resolve(b)?)
            .ok_or_else(|| content(format!("found {} twice, expected two documents", shown(a))))?;
        self.add(pair, class, line.number)
    }

    fn add(&mut self, pair: Pair, class: usize, line: usize) -> Result<()> {
        match self.seen.insert(pair, (class, line)) {
            None => self.pairs.push(LabelledPair { pair, class }),
            Some((before, at)) if before != class => {
                let [found, before] = [class, before].map(|class| &self.classes[class].name);
                return Err(content(format!(
                    "found the label {found:?} for a pair that line {at} calls {before:?}; \
                     expected one label"
                )));
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn class(&mut self, label: &[u8]) -> Result<usize> {
        let known = self
            .classes
            .iter()
            .position(|class| class.name.as_bytes() == label);
        if let Some(class) = known {
            return Ok(class);
        }
        let name = std::str::from_utf8(label)
            .ok()
            .filter(|name| !name.is_empty());
        let Some(name) = name else {
            return Err(content(format!(
                "found the label {}, expected a name in UTF-8",
                shown(label)
            )));
        };
        if self.classes.len() == MAX_CLASSES {
            return Err(content(format!(
                "found the label {}, expected at most {MAX_CLASSES} different ones",
                shown(label)
            )));
        }
        let is_near = !matches!(name, "unrelated" | "0");
        self.classes.push(Class::new(name, is_near));
        Ok(self.classes.len() - 1)
    }

    fn finish(mut self) -> Truth {
        let mut order: Vec<usize> = (0..self.classes.len()).collect();
        order.sort_by_key(|&class| !self.classes[class].is_near);
        let mut number = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            number[old] = new;
        }
        for labelled in &mut self.pairs {
            labelled.class = number[labelled.class];
        }
        let classes = order.iter().map(|&old| self.classes[old].clone());
        Truth::new(classes.collect(), self.pairs, Unlisted::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair(a: u32, b: u32) -> Pair {
        Pair::new(a, b).unwrap()
    }

    fn ids() -> Ids {
        Ids::of_collection([&b"a"[..], b"b", b"c", b"d", b"e"]).unwrap()
    }

    fn parse(text: &[u8]) -> Result<Truth> {
        Truth::from_pairs(text, &mut ids())
    }

    #[test]
    fn labels_are_classes_and_the_near_ones_come_first() {
        let text = b"\xef\xbb\xbfa\tb\tlabel\tscore\r\nb\ta\tunrelated\t0.1\r\n\
                     c\td\tminor\t1\r\nd\tc\tminor\t1\r\na\td\t0\t0\n";
        let truth = parse(text).unwrap();
        let names: Vec<_> = truth
            .classes()
            .iter()
            .map(|class| &class.name[..])
            .collect();
        assert_eq!(names, ["minor", "unrelated", "0"]);
        let listed: Vec<_> = (truth.pairs().iter().map(|l| (l.pair, l.class))).collect();
        assert_eq!(listed, [(pair(0, 1), 1), (pair(2, 3), 0), (pair(0, 3), 2)]);
        assert_eq!(truth.class_sizes(), [1, 1, 1]);
        assert_eq!(truth.judge(pair(3, 2)), Judgement::Near(0));
        assert_eq!(truth.judge(pair(0, 1)), Judgement::Far(1));
        assert_eq!(truth.judge(pair(0, 2)), Judgement::Unknown);
        assert_eq!(truth.documents(), [0, 1, 2, 3]);
        let closed = truth.closed_world(5);
        assert_eq!(closed.judge(pair(0, 2)), Judgement::Far(3));
        assert_eq!(closed.class_sizes(), [1, 1, 1, 7]);
        assert_eq!(closed.closed_documents(), Some(5));
    }

    #[test]
    fn pairs_across_clusters_are_far() {
        let truth = Truth::from_clusters(b"a\tx\nb\tx\nc\tx\nd\ty\n", &mut ids()).unwrap();
        assert_eq!(truth.judge(pair(0, 2)), Judgement::Near(0));
        assert_eq!(truth.judge(pair(0, 3)), Judgement::Far(1));
        assert_eq!(truth.judge(pair(0, 4)), Judgement::Unknown);
        assert_eq!(truth.class_sizes(), [3, 3]);
        assert_eq!(truth.documents(), [0, 1, 2, 3]);
        let closed = truth.closed_world(5);
        assert_eq!(closed.judge(pair(0, 4)), Judgement::Far(2));
        assert_eq!(closed.judge(pair(0, 3)), Judgement::Far(2));
        assert_eq!(closed.class_sizes(), [3, 0, 7]);
    }

    #[test]
    fn complaints_name_the_line_what_was_found_and_what_was_expected() {
        for (text, expected) in [
            (
                &b""[..],
                "line 1: found the end of the file, expected the header",
            ),
            (
                b"a,b,label\n",
                "line 1: found \"a,b,label\", expected the header a, b, label",
            ),
            (
                b"a\tb\tlabel\na\tb\n",
                "line 2: found \"a\\tb\", expected 3 columns",
            ),
            (b"a\tb\tlabel\na\tb\tx\ty\n", "expected 3 columns"),
            (
                b"a\tb\tlabel\n\na\tq\tx\n",
                "line 3: found the id \"q\", which no document has",
            ),
            (
                b"a\tb\tlabel\na\ta\tx\n",
                "line 2: found \"a\" twice, expected two documents",
            ),
            (
                b"a\tb\tlabel\na\tb\t\n",
                "found the label \"\", expected a name in UTF-8",
            ),
            (b"a\tb\tlabel\na\tb\t\xff\n", "expected a name in UTF-8"),
            (
                b"a\tb\tlabel\na\tb\tx\nb\ta\ty\n",
                "line 3: found the label \"y\" for a pair that line 2 calls \"x\"",
            ),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let mut many = b"a\tb\tlabel\n".to_vec();
        for label in 0..=MAX_CLASSES {
            many.extend_from_slice(format!("x{label}\ty\tlabel {label}\n").as_bytes());
        }
        let error = Truth::from_pairs(&many, &mut Ids::open())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 1002") && error.contains("at most 1000"),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Truth::from_pairs(&bytes, &mut Ids::open());
            let table = [b"a\tb\tlabel\n", &bytes[..]].concat();
            let _ = Truth::from_pairs(&table, &mut Ids::open());
            let _ = Truth::from_clusters(&bytes, &mut Ids::open());
        }
    }
}
