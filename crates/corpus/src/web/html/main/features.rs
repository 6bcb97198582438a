//! The numbers that decide whether a line belongs to the main text.
//!
//! All are integers, so they are the same on every machine.

use ahash::AHashMap;

use super::context::{ARTICLE, BODY, Context, MAIN, SECONDARY};
use super::lines::PageLines;
use super::prose::Size;

/// The features of a line. A logarithm is that of a length in half words, to the base 2 in 16ths;
/// a share is in 64ths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Features {
    /// What the elements around the line say; for a line of the core, without what the elements
    /// around all of the core say of secondary text, such as the class `with-sidebar`.
    pub(super) context: Context,
    /// The logarithm of its prose.
    pub(super) prose: i32,
    /// The share of its bytes in links.
    pub(super) links: i32,
    /// The logarithm of the length of the next line.
    pub(super) next_length: i32,
    /// The logarithm of the words in links on this line and on those around it, the weights of which
    /// fall by a quarter with each line.
    pub(super) near_links: i32,
    /// The logarithm of the length of all lines of its kind.
    pub(super) kind_length: i32,
    /// The share of the page's prose in lines of its kind.
    pub(super) kind_share: i32,
    /// The share of the page's prose that is directly in elements around which there is the same
    /// element as around that of this line.
    pub(super) parent_share: i32,
    /// Whether it is in the smallest element with at least half of the page's prose.
    pub(super) is_core: bool,
    /// The shares of the page's prose in main elements, articles and bodies.
    pub(super) main_share: i32,
    pub(super) article_share: i32,
    pub(super) body_share: i32,
}

/// The features of all lines, in order. O(size of the page) time and memory.
pub(super) fn features(page: &PageLines) -> impl Iterator<Item = Features> {
    let sizes = page.lines.iter().enumerate().map(|(number, line)| {
        let text = page.line(number);
        let links = (u64::from(line.link_bytes) * 64 / text.len().max(1) as u64).min(64) as u32;
        let size = Size::of(text);
        Measured {
            links,
            length: size.length.into(),
            linked: u64::from(size.length) * u64::from(links) / 64,
            prose: size.prose(links).into(),
        }
    });
    let lines: Vec<Measured> = sizes.collect();
    let all_prose = lines.iter().map(|line| line.prose).sum::<u64>().max(1);
    let share = move |prose: u64| (prose * 64 / all_prose) as i32;
    let prose_in = |bit| {
        let lines = page.lines.iter().zip(&lines);
        let inside = lines.filter(|(line, _)| line.context & bit != 0);
        share(inside.map(|(_, measured)| measured.prose).sum())
    };
    let [main_share, article_share, body_share] = [MAIN, ARTICLE, BODY].map(prose_in);
    let mut kinds: AHashMap<u32, (u64, u64)> = AHashMap::new();
    let mut elements = vec![0; page.parents.len()];
    let mut families = vec![0; page.parents.len()];
    for (line, measured) in page.lines.iter().zip(&lines) {
        let (length, prose) = kinds.entry(line.kind).or_default();
        *length += measured.length;
        *prose += measured.prose;
        elements[line.element as usize] += measured.prose;
        families[page.parents[line.element as usize] as usize] += measured.prose;
    }
    let is_core = core(&page.parents, elements);
    let core_lines = page
        .lines
        .iter()
        .filter(|line| is_core[line.element as usize]);
    let core_context = core_lines.fold(SECONDARY, |common, line| common & line.context);
    let near = smoothed(lines.iter().map(|line| line.linked));
    let number_of_lines = lines.len();
    (0..number_of_lines).map(move |number| {
        let (line, measured) = (&page.lines[number], &lines[number]);
        let (kind_length, kind_prose) = kinds[&line.kind];
        let next = lines.get(number + 1);
        let is_core = is_core[line.element as usize];
        let around_core = if is_core { core_context } else { 0 };
        Features {
            context: line.context & !around_core,
            prose: logarithm(measured.prose),
            links: measured.links as i32,
            next_length: logarithm(next.map_or(0, |next| next.length)),
            near_links: logarithm(near[number]),
            kind_length: logarithm(kind_length),
            kind_share: share(kind_prose),
            parent_share: share(families[page.parents[line.element as usize] as usize]),
            is_core,
            main_share,
            article_share,
            body_share,
        }
    })
}

/// What is known of a line by itself, in half words but for `links`, a share in 64ths.
struct Measured {
    links: u32,
    length: u64,
    linked: u64,
    prose: u64,
}

/// 16 times the logarithm of `number` + 1 to the base 2, linear between powers of two.
fn logarithm(number: u64) -> i32 {
    let number = number + 1;
    let power = number.ilog2();
    let fraction = (u128::from(number) << 4 >> power) as i32 - 16;
    power as i32 * 16 + fraction
}

/// For each value, itself twice and those around it, whose weights fall by a quarter with each step.
fn smoothed(values: impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + Clone) -> Vec<u64> {
    let mut around = vec![0; values.len()];
    let mut add = |(place, value): (usize, u64), sum: &mut u64| {
        *sum -= *sum >> 2;
        around[place] += *sum;
        *sum += 16 * value;
    };
    let (mut before, mut after) = (0, 0);
    values
        .clone()
        .enumerate()
        .for_each(|value| add(value, &mut before));
    values
        .clone()
        .enumerate()
        .rev()
        .for_each(|value| add(value, &mut after));
    let around = around.into_iter().zip(values);
    around
        .map(|(around, value)| (around >> 4) + value)
        .collect()
}

/// For each element, whether it is the smallest element with half of all prose, or in it.
///
/// `prose` has that of the lines directly in each element. An element has a greater number than the
/// one around it.
fn core(parents: &[u32], mut prose: Vec<u64>) -> Vec<bool> {
    for number in (1..parents.len()).rev() {
        prose[parents[number] as usize] += prose[number];
    }
    // Elements with half of the prose are in each other, unless there are two equal halves.
    let has_half = |number: &usize| prose[*number] > 0 && 2 * prose[*number] >= prose[0];
    let core = (0..parents.len()).rfind(has_half).unwrap_or(0);
    let mut is_core = vec![false; parents.len()];
    is_core[core] = true;
    for number in core + 1..parents.len() {
        is_core[number] = is_core[parents[number] as usize];
    }
    is_core
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn logarithms_grow() {
        assert_eq!([0, 1, 2, 3, 7].map(logarithm), [0, 16, 24, 32, 48]);
        assert_eq!(logarithm(u64::MAX - 1), 63 * 16 + 15);
    }

    #[test]
    fn the_core_is_the_smallest_element_with_half_of_the_prose() {
        // 1 has 2 and 3; 3 has 4 and 5.
        let parents = [0, 0, 1, 1, 3, 3];
        let found = core(&parents, vec![0, 0, 30, 0, 35, 35]);
        assert_eq!(found, [false, false, false, true, true, true]);
        let found = core(&parents, vec![0, 0, 30, 0, 60, 10]);
        assert_eq!(found, [false, false, false, false, true, false]);
        assert_eq!(core(&parents, vec![0; 6]), [true; 6]);
    }

    proptest! {
        #[test]
        fn smoothing_is_a_weighted_sum(values in prop::collection::vec(0u64..1000, 0..50)) {
            let found = smoothed(values.iter().copied());
            for (place, &value) in found.iter().enumerate() {
                let weight = |other: usize| 0.75f64.powi(place.abs_diff(other) as i32);
                let others = values.iter().enumerate().filter(|(other, _)| *other != place);
                // The weight of the nearest is 3/4.
                let sum: f64 = others.map(|(other, &value)| weight(other) * value as f64).sum();
                let expected = sum + values[place] as f64;
                prop_assert!((value as f64 - expected).abs() < 2.0, "{value} {expected}");
            }
        }
    }
}
