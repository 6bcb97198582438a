//! The units of texts: words or bytes.

use bytemuck::NoUninit;

use super::job::{Least, SpansJob};
use simtool_core::kernel::Level;
use simtool_core::sketch::Needs;
use simtool_core::text::anchors::Unit;
use simtool_engine::text_words::WordReader;

/// What is done with the units of a text, of either kind.
pub trait UnitVisitor {
    /// Visits the units of a text.
    fn visit<U: Unit + NoUninit>(&mut self, units: &[U]);
}

/// Cuts texts into units; one for each thread.
pub struct UnitCutter(Option<WordReader>);

impl UnitCutter {
    /// A cutter for the units of a job.
    pub fn new(job: &SpansJob, level: Level) -> UnitCutter {
        UnitCutter(match job.least {
            Least::Words(_) => Some(WordReader::new(job.tokenizer, Needs::HASHES, level)),
            Least::Bytes(_) => None,
        })
    }

    /// Passes the units of a text to `visitor`; returns their number.
    pub fn cut(&mut self, text: &[u8], visitor: &mut impl UnitVisitor) -> usize {
        match &mut self.0 {
            Some(words) => {
                let words = words.read(text);
                visitor.visit(words.hashes());
                words.hashes().len()
            }
            None => {
                visitor.visit(text);
                text.len()
            }
        }
    }
}
