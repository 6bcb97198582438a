//! Which pairs are near, as far as it is known.

use ahash::AHashMap;

use super::clustering::{Clustering, pairs_of};
use super::ids::{Ids, Pair, content, shown};
use super::lines::{Line, lines};
use crate::Result;

/// More classes than this are no classes.
const MOST_CLASSES: usize = 1000;

/// A kind of pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its label.
    pub name: String,
    /// Whether its pairs ought to be found.
    pub is_near: bool,
}

/// A pair of which it is known what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelledPair {
    /// The two documents.
    pub pair: Pair,
    /// The number of its class.
    pub class: usize,
}

/// What is known of any pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is of this class, and ought to be found.
    Near(usize),
    /// It is of this class, and ought not to be found.
    Far(usize),
    /// Nobody knows.
    Unknown,
}

/// Pairs of which it is known whether they are near.
///
/// What is not listed is unknown, unless the world is closed or clusters say that the two
/// documents are apart.
#[derive(Clone, Debug)]
pub struct Truth {
    classes: Vec<Class>,
    pairs: Vec<LabelledPair>,
    places: AHashMap<Pair, usize>,
    /// Given, or the components of the near pairs.
    clusters: Clustering,
    rest: Rest,
}

/// What the pairs are that are not listed.
#[derive(Clone, Copy, Debug)]
enum Rest {
    Unknown,
    /// Far if both documents are in clusters.
    Apart {
        class: usize,
    },
    /// Far, of this class, in a collection of so many documents.
    Closed {
        class: usize,
        documents: u64,
    },
}

impl Truth {
    /// Reads `pairs.tsv`: a header `a`, `b`, `label`, perhaps more columns, and a pair a line.
    ///
    /// The labels `unrelated` and `0` are classes of pairs that are far, all others of near ones.
    /// Pairs keep their order; one that is listed twice with the same label counts once. Classes
    /// are in the order of their first pairs, the near ones first.
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
        let mut reader = Reader {
            columns: names.len(),
            ..Reader::default()
        };
        for line in all {
            line.place(reader.line(line, ids))?;
        }
        Ok(reader.finish())
    }

    /// Pairs and their labels, as a file would have them.
    ///
    /// # Errors
    /// [`Content`](crate::ErrorKind::Content) for a pair with two labels, an empty label, and too
    /// many of them.
    pub fn labelled<'a>(pairs: impl IntoIterator<Item = (Pair, &'a str)>) -> Result<Truth> {
        let mut reader = Reader::default();
        for (number, (pair, label)) in pairs.into_iter().enumerate() {
            let class = reader.class(label.as_bytes())?;
            reader.add(pair, class, number + 1)?;
        }
        Ok(reader.finish())
    }

    /// The truth of clusters, in either form of [`Clustering::parse`]: pairs within one are near,
    /// pairs of documents in different ones are far, and documents in none are unknown.
    ///
    /// # Errors
    /// Those of [`Clustering::parse`] and [`Clustering::pairs`].
    pub fn from_clusters(bytes: &[u8], ids: &mut Ids) -> Result<Truth> {
        let clusters = Clustering::parse(bytes, ids)?;
        let pairs = clusters.pairs()?.into_iter();
        let pairs: Vec<_> = pairs.map(|pair| LabelledPair { pair, class: 0 }).collect();
        let classes = vec![
            Class::new("same cluster", true),
            Class::new("other cluster", false),
        ];
        let mut truth = Truth::new(classes, pairs, Rest::Apart { class: 1 });
        truth.clusters = clusters;
        Ok(truth)
    }

    /// The same with all pairs that are not listed counted as far, among so many documents.
    ///
    /// They become the last class, `unlisted`.
    #[must_use]
    pub fn closed_world(mut self, documents: usize) -> Truth {
        self.rest = Rest::Closed {
            class: self.classes.len(),
            documents: documents as u64,
        };
        self.classes.push(Class::new("unlisted", false));
        self
    }

    fn new(classes: Vec<Class>, pairs: Vec<LabelledPair>, rest: Rest) -> Truth {
        let places = pairs.iter().enumerate();
        let places = places
            .map(|(place, labelled)| (labelled.pair, place))
            .collect();
        let near = pairs
            .iter()
            .filter(|labelled| classes[labelled.class].is_near);
        let clusters = Clustering::components(near.map(|labelled| labelled.pair));
        Truth {
            classes,
            pairs,
            places,
            clusters,
            rest,
        }
    }

    /// The classes; that of pairs that are not listed is the last one.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The listed pairs, in their order.
    pub fn pairs(&self) -> &[LabelledPair] {
        &self.pairs
    }

    /// Whether the listed pair at `place` ought to be found.
    ///
    /// # Panics
    /// If there is none.
    pub fn is_near(&self, place: usize) -> bool {
        self.classes[self.pairs[place].class].is_near
    }

    /// Where a pair is listed, if it is.
    pub fn place(&self, pair: Pair) -> Option<usize> {
        self.places.get(&pair).copied()
    }

    /// What is known of a pair.
    pub fn judge(&self, pair: Pair) -> Judgement {
        if let Some(place) = self.place(pair) {
            let class = self.pairs[place].class;
            return match self.classes[class].is_near {
                true => Judgement::Near(class),
                false => Judgement::Far(class),
            };
        }
        let listed = |document| self.clusters.cluster(document).is_some();
        match self.rest {
            Rest::Closed { class, .. } => Judgement::Far(class),
            Rest::Apart { class } if pair.documents().into_iter().all(listed) => {
                Judgement::Far(class)
            }
            _ => Judgement::Unknown,
        }
    }

    /// How many pairs there are of each class, with those that are not listed but known.
    pub fn class_sizes(&self) -> Vec<u64> {
        let mut sizes = vec![0; self.classes.len()];
        for labelled in &self.pairs {
            sizes[labelled.class] += 1;
        }
        let listed = self.pairs.len() as u64;
        match self.rest {
            Rest::Unknown => {}
            Rest::Apart { class } => {
                let documents = self.clusters.members().len() as u64;
                sizes[class] = pairs_of(documents).saturating_sub(listed);
            }
            Rest::Closed { class, documents } => {
                sizes[class] = pairs_of(documents).saturating_sub(listed);
            }
        }
        sizes
    }

    /// The clusters: those that were given, or the connected components of the near pairs.
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

    /// How many documents there are in a closed world; `None` if it is open.
    pub fn closed_documents(&self) -> Option<u64> {
        match self.rest {
            Rest::Closed { documents, .. } => Some(documents),
            _ => None,
        }
    }

    /// Whether a pair may be far without being listed.
    pub fn knows_more_than_it_lists(&self) -> bool {
        !matches!(self.rest, Rest::Unknown)
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
struct Reader {
    columns: usize,
    classes: Vec<Class>,
    pairs: Vec<LabelledPair>,
    /// Pair -> (class, line).
    seen: AHashMap<Pair, (usize, usize)>,
}

impl Reader {
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
        if self.classes.len() == MOST_CLASSES {
            return Err(content(format!(
                "found the label {}, expected at most {MOST_CLASSES} different ones",
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
        Truth::new(classes.collect(), self.pairs, Rest::Unknown)
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
    fn clusters_know_who_is_apart() {
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
        for label in 0..=MOST_CLASSES {
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
        fn hostile_bytes_are_errors_at_worst(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Truth::from_pairs(&bytes, &mut Ids::open());
            let table = [b"a\tb\tlabel\n", &bytes[..]].concat();
            let _ = Truth::from_pairs(&table, &mut Ids::open());
            let _ = Truth::from_clusters(&bytes, &mut Ids::open());
        }
    }
}
