//! The scalar reference implementation: a linear search of the key's cache line.

use super::{KeyTable, LINE_KEYS, Probed, line_of};

pub(super) fn probe(table: &KeyTable, keys: &[u64], found: &mut Probed) {
    (found.slot_count, found.missed_count) = (0, 0);
    for &key in keys {
        let line = line_of(key, table.lines.len());
        match table.lines[line].0.iter().position(|&member| member == key) {
            Some(place) if place >= table.dropped_places => {
                found.slots[found.slot_count] = (line * LINE_KEYS + place) as u16;
                found.slot_count += 1;
            }
            Some(_) => {}
            None => {
                found.missed[found.missed_count] = key;
                found.missed_count += 1;
            }
        }
    }
}
