//! The stored form of the rows of a segment.
//!
//! Most of a row is the same for all rows of a segment, or lies in a small range: sources, offsets,
//! lengths, flags. A row is taken as numbers of 32 bits. Of each, the least value in the segment is
//! stored once, and for each row only the difference, in as many bytes as the largest one needs. So
//! all rows of a segment have the same length, and a row is found by its number.

use bytemuck::Pod;

use crate::table::row::TableRow;

/// The numbers of a row of 32 bits.
const NUMBER: usize = size_of::<u32>();

/// How the rows of a segment are packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPacking {
    /// The least values.
    least: Vec<u32>,
    /// The bytes of each difference.
    widths: Vec<u8>,
    parts: Vec<PackedPart>,
    packed_bytes: usize,
}

/// What is stored of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PackedPart {
    /// Whole numbers, from the number `at` on.
    Whole { at: usize, count: usize },
    /// The difference of the number `at` to the least, in `width` bytes.
    Difference { at: usize, width: usize },
}

impl RowPacking {
    /// The shortest packing for `rows`.
    pub fn of<'r, R: TableRow>(rows: impl Iterator<Item = &'r R>) -> RowPacking {
        let numbers = size_of::<R>() / NUMBER;
        let (mut least, mut most) = (vec![u32::MAX; numbers], vec![0; numbers]);
        for row in rows {
            for ((least, most), number) in least.iter_mut().zip(&mut most).zip(numbers_of(row)) {
                *least = (*least).min(*number);
                *most = (*most).max(*number);
            }
        }
        let range = |(least, most): (&u32, &u32)| most.saturating_sub(*least);
        let widths = least.iter().zip(&most).map(range).map(width_of).collect();
        RowPacking::new(least, widths)
    }

    /// The bytes of the stored [description](Self::description) for rows of type `R`.
    pub const fn description_bytes<R>() -> usize {
        size_of::<R>() / NUMBER * (NUMBER + 1)
    }

    /// The packing with this [description](Self::description); `None` if there is none.
    pub fn read(description: &[u8]) -> Option<RowPacking> {
        let numbers = description.len() / (NUMBER + 1);
        let (least, widths) = description.split_at_checked(NUMBER * numbers)?;
        let (least, _) = least.as_chunks::<NUMBER>();
        let least = least.iter().map(|bytes| u32::from_le_bytes(*bytes));
        let is_sound = widths.len() == numbers && widths.iter().all(|width| *width <= 4);
        is_sound.then(|| RowPacking::new(least.collect(), widths.to_vec()))
    }

    fn new(mut least: Vec<u32>, widths: Vec<u8>) -> RowPacking {
        let mut parts = Vec::new();
        for (at, (least, width)) in least.iter_mut().zip(&widths).enumerate() {
            match (*width, parts.last_mut()) {
                (0, _) => {}
                (4, Some(PackedPart::Whole { at: first, count })) if *first + *count == at => {
                    *count += 1
                }
                (4, _) => parts.push(PackedPart::Whole { at, count: 1 }),
                (width, _) => parts.push(PackedPart::Difference {
                    at,
                    width: width.into(),
                }),
            }
            if *width == 4 {
                *least = 0;
            }
        }
        let packed_bytes = widths.iter().map(|width| usize::from(*width)).sum();
        RowPacking {
            least,
            widths,
            parts,
            packed_bytes,
        }
    }

    /// The least values, then the widths.
    pub fn description(&self) -> Vec<u8> {
        let least = self.least.iter().flat_map(|least| least.to_le_bytes());
        least.chain(self.widths.iter().copied()).collect()
    }

    /// The bytes of a packed row.
    pub fn packed_bytes(&self) -> usize {
        self.packed_bytes
    }

    /// Appends packed `rows`, which are among those that the packing was made for.
    pub fn pack<R: TableRow>(&self, rows: &[R], out: &mut Vec<u8>) {
        out.reserve(rows.len() * self.packed_bytes);
        for row in rows {
            let numbers = numbers_of(row);
            for part in &self.parts {
                match *part {
                    PackedPart::Whole { at, count } => {
                        out.extend_from_slice(bytemuck::cast_slice(&numbers[at..at + count]));
                    }
                    PackedPart::Difference { at, width } => {
                        let difference = numbers[at].wrapping_sub(self.least[at]);
                        out.extend_from_slice(&difference.to_le_bytes()[..width]);
                    }
                }
            }
        }
    }

    /// Replaces `rows` by as many of `packed`.
    pub fn unpack<R: Pod>(&self, packed: &[u8], rows: &mut [R]) {
        for (number, row) in rows.iter_mut().enumerate() {
            let numbers = bytemuck::cast_slice_mut::<R, u32>(std::slice::from_mut(row));
            numbers.copy_from_slice(&self.least);
            let mut packed = &packed[number * self.packed_bytes..];
            for part in &self.parts {
                packed = match *part {
                    PackedPart::Whole { at, count } => {
                        let (whole, rest) = packed.split_at(count * NUMBER);
                        let numbers = &mut numbers[at..at + count];
                        bytemuck::cast_slice_mut(numbers).copy_from_slice(whole);
                        rest
                    }
                    PackedPart::Difference { at, width } => {
                        let (difference, rest) = packed.split_at(width);
                        numbers[at] = numbers[at].wrapping_add(number_of(difference));
                        rest
                    }
                }
            }
        }
    }
}

fn numbers_of<R: TableRow>(row: &R) -> &[u32] {
    bytemuck::cast_slice(std::slice::from_ref(row))
}

/// The bytes of a number.
fn width_of(number: u32) -> u8 {
    (u32::BITS - number.leading_zeros()).div_ceil(8) as u8
}

/// The number of one to three bytes, little-endian.
fn number_of(bytes: &[u8]) -> u32 {
    match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c] => u32::from_le_bytes([a, b, c, 0]),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::row::{Flags, Row};
    use bytemuck::Zeroable;
    use proptest::prelude::*;
    use simtool_corpus::Place;

    fn row((digest, offset, length): (u128, u64, u64), (words, flags): (u32, u32)) -> Row {
        Row {
            digest,
            place: Place::new(1, u64::MAX, offset, length),
            words,
            flags: Flags(flags),
            ..Row::zeroed()
        }
    }

    proptest! {
        #[test]
        fn rows_are_unpacked_as_they_were_packed(
            rows in prop::collection::vec(
                ((any::<u128>(), prop_oneof![0..300u64, 0xffff_fff0..0x1_0000_0010u64, any::<u64>()], 0..70_000u64),
                 (0..200u32, 0..5000u32)),
                0..20,
            ),
            first in 0..20usize,
        ) {
            let rows: Vec<Row> = rows.into_iter().map(|(place, facts)| row(place, facts)).collect();
            let packing = RowPacking::of(rows.iter());
            let description = packing.description();
            prop_assert_eq!(description.len(), RowPacking::description_bytes::<Row>());
            prop_assert_eq!(RowPacking::read(&description), Some(packing.clone()));
            let mut packed = Vec::new();
            let (one, other) = rows.split_at(first.min(rows.len()));
            packing.pack(one, &mut packed);
            packing.pack(other, &mut packed);
            prop_assert_eq!(packed.len(), rows.len() * packing.packed_bytes());
            let mut found = vec![row((7, 7, 7), (7, 7)); other.len()];
            packing.unpack(&packed[one.len() * packing.packed_bytes()..], &mut found);
            prop_assert_eq!(&found[..], other);
        }
    }

    #[test]
    fn only_what_differs_is_stored() {
        let rows = [100u64, 300, 70_100].map(|offset| row((0, offset, 60), (9, 0)));
        let packing = RowPacking::of(rows.iter());
        assert_eq!(packing.packed_bytes(), 3);
        assert_eq!(RowPacking::of(rows[..2].iter()).packed_bytes(), 1);
        assert_eq!(RowPacking::of(rows[..1].iter()).packed_bytes(), 0);
        let mut wrong = packing.description();
        *wrong.last_mut().unwrap() = 5;
        assert_eq!(RowPacking::read(&wrong), None);
        assert_eq!(RowPacking::read(&wrong[1..]), None);
    }
}
