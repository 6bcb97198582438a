//! The kinds of sketches that an index holds.

use super::permutation::Value;
use crate::sketch::{Compare, Shape};
use crate::{Error, ErrorKind, Result};

/// How sketches are stored and searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Fingerprints of at most 64 bits.
    Narrow {
        /// The number of bits.
        width: u32,
        /// The largest distance.
        distance: u32,
    },
    /// Fingerprints of 65 to 128 bits.
    Wide {
        /// The number of bits.
        width: u32,
        /// The largest distance.
        distance: u32,
    },
    /// Sketches that are searched by keys.
    Keys,
}

impl Form {
    /// The form of a method's sketches.
    pub fn of(method: &dyn Compare) -> Result<Form> {
        match method.shape() {
            Shape::Bits { width, distance } if (1..=64).contains(&width) => Ok(Form::Narrow {
                width,
                distance: distance.min(width),
            }),
            Shape::Bits { width, distance } if (65..=128).contains(&width) => Ok(Form::Wide {
                width,
                distance: distance.min(width),
            }),
            Shape::Bits { width, .. } => {
                let message = format!("fingerprints of {width} bits: an index holds 1 to 128");
                Err(Error::new(ErrorKind::Parameter, message))
            }
            _ => Ok(Form::Keys),
        }
    }

    /// The number of this form in the header of a segment.
    pub fn kind(self) -> u32 {
        match self {
            Form::Narrow { .. } => 4,
            Form::Wide { .. } => 5,
            Form::Keys => 3,
        }
    }

    /// Width and distance; zeros for keys.
    pub fn bits(self) -> (u32, u32) {
        match self {
            Form::Narrow { width, distance } | Form::Wide { width, distance } => (width, distance),
            Form::Keys => (0, 0),
        }
    }

    /// Checks that `sketch` has the form of the method.
    pub fn check(self, sketch: &[u8], method: &dyn Compare) -> Result<()> {
        if self.holds(sketch, method) {
            return Ok(());
        }
        let found = sketch.len();
        let message = match method.sketch_bytes() {
            Some(expected) => format!("a sketch of {found} bytes: expected {expected}"),
            None => format!("{found} bytes that are no sketch of {}", method.name()),
        };
        Err(Error::new(ErrorKind::Parameter, message))
    }

    /// Whether `sketch` has the form of the method.
    pub fn holds(self, sketch: &[u8], method: &dyn Compare) -> bool {
        sketch.len() >= self.bits().0.div_ceil(8) as usize && method.is_sketch(sketch)
    }

    /// The fingerprints of sketches, none of which is empty; `None` if they are searched by keys.
    pub fn fingerprints(self, sketches: &[&[u8]]) -> Option<Queries> {
        match self {
            Form::Narrow { width, .. } => {
                let values = sketches.iter().map(|sketch| u64::of_sketch(sketch, width));
                Some(Queries::Narrow(values.collect()))
            }
            Form::Wide { width, .. } => {
                let values = sketches.iter().map(|sketch| u128::of_sketch(sketch, width));
                Some(Queries::Wide(values.collect()))
            }
            Form::Keys => None,
        }
    }
}

/// The fingerprints of a search.
pub enum Queries {
    /// Of at most 64 bits.
    Narrow(Vec<u64>),
    /// Of 65 to 128 bits.
    Wide(Vec<u128>),
}
