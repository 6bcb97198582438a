//! The columns of Parquet shards.

use std::path::Path;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};

use crate::shards::settings::shard_settings::{FIELDS, TEXT_FIELDS};
use crate::{Error, ErrorKind, Result};
use simtool_corpus::parquet::Table;
use simtool_corpus::{Format, Reading, Source};

/// What the columns of a record are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The text of the document, and what is known of it.
    Text,
    /// The columns of the input, which is only tables.
    Own,
    /// Text, id, URL and date, and all other fields as JSON: inputs with fields that are not only
    /// tables.
    Fields,
}

/// The columns of the shards of a run.
#[derive(Clone, Debug)]
pub struct Layout {
    /// What they are.
    pub kind: Kind,
    /// The columns.
    pub schema: SchemaRef,
}

impl Layout {
    /// The columns for the documents of `sources`; with `only_text`, by their texts.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if a column has different types in two tables; those of reading.
    pub fn new(
        sources: &[Source],
        reading: &Reading,
        source_field: &str,
        only_text: bool,
    ) -> Result<Layout> {
        let have_fields = |source: &Source| source.format.has_fields();
        let is_table = |source: &Source| source.format == Format::Parquet;
        let kind = match (
            sources.iter().any(have_fields),
            sources.iter().all(is_table),
        ) {
            (true, true) if !only_text => Kind::Own,
            (true, false) if !only_text => Kind::Fields,
            _ => Kind::Text,
        };
        let text = |name: &str, may_lack| Arc::new(Field::new(name, DataType::Utf8, may_lack));
        let source = text(source_field, false);
        let [id, url, date, body, language, digest, start, member] = TEXT_FIELDS;
        let mut columns: Vec<FieldRef> = vec![
            text(id, false),
            text(url, true),
            text(date, true),
            text(body, false),
        ];
        match kind {
            Kind::Text => columns.extend([
                text(language, true),
                text(digest, false),
                source,
                Arc::new(Field::new(start, DataType::Int64, false)),
                Arc::new(Field::new(member, DataType::Int64, true)),
            ]),
            Kind::Fields => columns.extend([source, text(FIELDS, false)]),
            Kind::Own => {
                columns = union(sources, reading)?;
                columns.push(source);
            }
        }
        Ok(Layout {
            kind,
            schema: Arc::new(Schema::new(columns)),
        })
    }
}

/// The columns of all tables, in the order of their first appearance. One that a table lacks may be
/// null. What the tables say besides of themselves is left out: it may describe other columns.
fn union(sources: &[Source], reading: &Reading) -> Result<Vec<FieldRef>> {
    let mut columns: Vec<(FieldRef, &Path, usize)> = Vec::new();
    let mut tables = 0;
    for source in sources.iter().filter(|source| !source.is_stream()) {
        // The rows of a table with a damaged footer are all skipped.
        let Ok(table) = Table::open(source.file(), reading)? else {
            continue;
        };
        tables += 1;
        for field in table.schema().fields() {
            let known = columns
                .iter_mut()
                .find(|(known, ..)| known.name() == field.name());
            let Some((known, first, seen)) = known else {
                let may_lack = field.is_nullable() || tables > 1;
                let field = Field::new(field.name(), field.data_type().clone(), may_lack);
                columns.push((Arc::new(field), &source.path, tables));
                continue;
            };
            if known.data_type() != field.data_type() {
                let message = format!(
                    "the column {:?} is of the type {}, but {} in {}: one table cannot have both \
                     (choose --write-format jsonl.zst, or run simtool for each)",
                    field.name(),
                    field.data_type(),
                    known.data_type(),
                    first.display(),
                );
                return Err(Error::new(ErrorKind::Parameter, message).in_file(&source.path));
            }
            let may_lack = known.is_nullable() || field.is_nullable();
            *known = Arc::new(known.as_ref().clone().with_nullable(may_lack));
            *seen = tables;
        }
        // Columns that this table lacks.
        for (known, _, seen) in &mut columns {
            if *seen < tables {
                *known = Arc::new(known.as_ref().clone().with_nullable(true));
            }
        }
    }
    Ok(columns.into_iter().map(|(field, ..)| field).collect())
}
