//! Rows to digests, sketches and places in keep order; with groups, also to their masks.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use simtool_core::Result;
use simtool_core::dedup::keep::{Facts, Policy, Value};
use simtool_core::kernel::Level;
use simtool_core::sketch::{Method, Needs, digest};
use simtool_corpus::RawText;
use simtool_engine::text_words::WordReader;

use crate::columns::{Columns, Texts, column, damaged, longs};
use crate::groups::{GroupColumns, Groups};
use crate::settings::{Settings, refuse};
use crate::step::Step;

/// A document that is compared by its sketch.
pub const USUAL: i32 = 0;
/// One with too few words for the method, or without features.
pub const SHORT: i32 = 1;
/// One without words (with `exact` and `normalized`: without text).
pub const EMPTY: i32 = 2;
/// One without a text, which is skipped.
pub const NO_TEXT: i32 = 3;
/// One that is too long, which is skipped.
pub const TOO_LARGE: i32 = 4;

/// The longest document by default.
pub const MAX_TEXT_BYTES: u64 = 16 << 20;

/// The step `sketch`: the columns `doc`, `text`, perhaps `url`, `date` and `f0`, `f1`, … for the
/// fields of the keep order, and `g0`, `g1`, … for those of groups.
pub struct Sketch {
    method: Option<Box<dyn Method>>,
    policies: Vec<Policy>,
    /// Words of a shingle, if a policy counts shingles.
    counted: Option<usize>,
    least_words: usize,
    most: u64,
    words: WordReader,
    texts: RawText,
    reference: bool,
    groups: Option<Groups>,
    /// Whether documents of one text are equal, whatever their words.
    is_exact: bool,
    made: Option<RecordBatch>,
}

/// The columns of the result.
#[derive(Default)]
struct SketchRows {
    docs: Vec<Option<Vec<u8>>>,
    sorts: Vec<Option<Vec<u8>>>,
    texts: Vec<Option<Vec<u8>>>,
    digests: Vec<Option<Vec<u8>>>,
    sketches: Vec<Option<Vec<u8>>>,
    states: Vec<i32>,
    bytes: Vec<i64>,
    masks: Vec<i64>,
}

impl Sketch {
    /// The step.
    ///
    /// # Errors
    /// Errors of the settings.
    pub fn new(settings: Settings) -> Result<Sketch> {
        let method = match settings.is_by_equality() {
            true => None,
            false => Some(settings.build()?),
        };
        let keep = settings.keep()?;
        let needs = method
            .as_ref()
            .map_or(Needs::default(), |method| method.needs());
        let counts = keep.compared().contains(&Policy::MostShingles);
        Ok(Sketch {
            policies: keep.compared().to_vec(),
            counted: match counts {
                true => Some(settings.verification()?.shingle),
                false => None,
            },
            least_words: method.as_ref().map_or(1, |method| method.least_words()),
            most: settings.max_document.unwrap_or(MAX_TEXT_BYTES),
            words: WordReader::new(
                settings.tokenizer()?,
                needs.and(Needs::HASHES),
                Level::best(),
            ),
            texts: RawText::new(settings.html.unwrap_or_default()),
            reference: settings.reference,
            groups: Groups::new(&settings)?,
            is_exact: settings.is_exact(),
            made: None,
            method,
        })
    }

    fn row(
        &mut self,
        doc: &[u8],
        text: Option<&[u8]>,
        facts: &RowFacts<'_>,
        rows: &mut SketchRows,
    ) {
        let class = u8::from(!self.reference);
        let mut sort = vec![class];
        rows.docs.push(Some([&[class], doc].concat()));
        let text = text.map(|text| self.texts.of_string(text));
        let state = match text {
            None => NO_TEXT,
            Some(text) if text.len() as u64 > self.most => TOO_LARGE,
            Some(_) => USUAL,
        };
        let (Some(text), USUAL) = (text, state) else {
            rows.bytes.push(0);
            rows.masks.push(0);
            rows.states.push(state);
            rows.sorts.push(None);
            rows.texts.push(None);
            rows.digests.push(None);
            rows.sketches.push(None);
            return;
        };
        rows.bytes.push(text.len() as i64);
        let mask = match (&self.groups, facts.groups) {
            (Some(groups), Some(columns)) => groups.mask(columns, facts.row, text),
            _ => 0,
        };
        rows.masks.push(mask.cast_signed());
        let mut words = self.words.read(text);
        let count = words.hashes().len();
        let shingles = self
            .counted
            .map_or(0, |width| words.shingle_set(width).len() as u64);
        let is_empty = count == 0 && (self.method.is_some() || text.is_empty());
        let mut sketch = Vec::new();
        let has_any = match &self.method {
            Some(method) => words.sketch(&**method, &mut sketch) && count >= self.least_words,
            None => true,
        };
        rows.states.push(match (is_empty, has_any) {
            (true, _) => EMPTY,
            (false, false) => SHORT,
            (false, true) => USUAL,
        });
        rows.sketches.push((has_any && !is_empty).then_some(sketch));
        let of_words = digest::of_words(words.hashes()) ^ u128::from(mask);
        // Of equal words, texts are only compared, so that equal texts of two groups may be equal.
        let of_text = match self.is_exact {
            true => digest::of_text(text) ^ u128::from(mask),
            false => digest::of_text(text),
        };
        rows.digests.push(Some(of_words.to_be_bytes().to_vec()));
        rows.texts.push(Some(of_text.to_be_bytes().to_vec()));
        for (place, policy) in self.policies.iter().enumerate() {
            sort.extend(policy.key(&facts.of(place, text.len() as u64, shingles)));
        }
        sort.extend_from_slice(doc);
        rows.sorts.push(Some(sort));
    }
}

impl Step for Sketch {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let docs = Identities::of(batch)?;
        let texts = column(batch, "text")?;
        let texts = Texts::of(texts).ok_or_else(|| {
            refuse(format!(
                "text: the column has the type {}, expected text",
                texts.data_type()
            ))
        })?;
        let place = |place| batch.column_by_name(&format!("f{place}"));
        let fields: Vec<Option<FieldColumn>> = (0..self.policies.len())
            .map(|number| place(number).and_then(FieldColumn::of))
            .collect();
        let named = |name| batch.column_by_name(name).and_then(Texts::of);
        let (urls, dates) = (named("url"), named("date"));
        let groups = self.groups.as_ref().map(|groups| groups.columns(batch));
        let mut rows = SketchRows::default();
        for row in 0..batch.num_rows() {
            let facts = RowFacts {
                row,
                url: urls.as_ref().and_then(|urls| urls.get(row)),
                date: dates.as_ref().and_then(|dates| dates.get(row)),
                fields: &fields,
                groups: groups.as_ref(),
            };
            self.row(&docs.get(row), texts.get(row), &facts, &mut rows);
        }
        let mut columns = Columns::default()
            .same("key", column(batch, "doc")?)
            .same("id", column(batch, "id")?)
            .bytes("doc", &rows.docs)
            .flags("reference", vec![self.reference; batch.num_rows()])
            .ints("state", rows.states)
            .longs("text_bytes", rows.bytes)
            .bytes("digest", &rows.digests)
            .bytes("text_digest", &rows.texts)
            .bytes("sort", &rows.sorts)
            .bytes("sketch", &rows.sketches);
        if self.groups.is_some() {
            columns = columns.longs("mask", rows.masks);
        }
        self.made = Some(columns.batch()?);
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.made.take())
    }
}

/// The identities of documents, as bytes that sort as they do.
enum Identities<'a> {
    Whole(&'a [i64]),
    Bytes(Texts),
}

impl<'a> Identities<'a> {
    fn of(batch: &'a RecordBatch) -> Result<Identities<'a>> {
        let array = column(batch, "doc")?;
        if array.null_count() > 0 {
            return Err(damaged(
                "a row has no id: every document needs one (or pass order= with a column that \
                 has a value in every row)",
            ));
        }
        match Texts::of(array) {
            Some(texts) => Ok(Identities::Bytes(texts)),
            None => longs(batch, "doc").map(Identities::Whole),
        }
    }

    fn get(&self, row: usize) -> Vec<u8> {
        match self {
            // Negative numbers come first.
            Identities::Whole(numbers) => {
                let bits = numbers[row] as u64 ^ 1 << 63;
                bits.to_be_bytes().to_vec()
            }
            Identities::Bytes(texts) => texts.get(row).unwrap_or_default().to_vec(),
        }
    }
}

/// Values of a field.
enum FieldColumn {
    Numbers(Float64Array),
    Texts(Texts),
}

impl FieldColumn {
    fn of(array: &ArrayRef) -> Option<FieldColumn> {
        match Texts::of(array) {
            Some(texts) => Some(FieldColumn::Texts(texts)),
            None => {
                let numbers = array.as_primitive_opt::<Float64Type>()?;
                Some(FieldColumn::Numbers(numbers.clone()))
            }
        }
    }

    fn get(&self, row: usize) -> Option<Value<'_>> {
        match self {
            FieldColumn::Numbers(numbers) => numbers
                .is_valid(row)
                .then(|| Value::Number(numbers.value(row))),
            FieldColumn::Texts(texts) => texts.get(row).map(Value::Text),
        }
    }
}

/// What policies compare.
struct RowFacts<'a> {
    url: Option<&'a [u8]>,
    date: Option<&'a [u8]>,
    fields: &'a [Option<FieldColumn>],
    groups: Option<&'a GroupColumns>,
    row: usize,
}

impl RowFacts<'_> {
    fn of(&self, place: usize, text_bytes: u64, shingles: u64) -> Facts<'_> {
        let field = self.fields[place].as_ref();
        Facts {
            text_bytes,
            shingles,
            date: self.date.unwrap_or_default(),
            url: self.url.unwrap_or_default(),
            field: field.and_then(|field| field.get(self.row)),
        }
    }
}
