//! Generators of words, pages and hash tables.

/// A xorshift generator: Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8, 2003.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as usize % bound
    }

    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}

/// A different word of four letters for every number below 26^4.
pub fn word(number: usize) -> String {
    let digits = [17576, 676, 26, 1].map(|place| number / place % 26);
    digits
        .map(|digit| char::from(b'a' + digit as u8))
        .iter()
        .collect()
}

/// A page with an id and words, and no form feed.
pub fn page(id: &str, words: &[String]) -> Vec<u8> {
    let lines: Vec<String> = words.chunks(12).map(|line| line.join(" ")).collect();
    format!("{id}\n{}\n", lines.join("\n")).into_bytes()
}

/// Pages of `words_per_page` words each.
pub fn pages(words: &[String], words_per_page: usize) -> Vec<u8> {
    let pages: Vec<Vec<u8>> = words
        .chunks(words_per_page)
        .enumerate()
        .map(|(number, words)| page(&format!("page {number}"), words))
        .collect();
    pages.join(&b'\x0c')
}

/// Each word as often as its count says, in random order.
pub fn shuffled(counts: impl IntoIterator<Item = (String, usize)>, seed: u64) -> Vec<String> {
    let repeated = counts
        .into_iter()
        .flat_map(|(word, count)| vec![word; count]);
    let mut words: Vec<String> = repeated.collect();
    Random(seed).shuffle(&mut words);
    words
}

/// Rows of random binary digits.
pub fn hash_table(rows: usize, columns: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut table = Vec::with_capacity(rows * (columns + 1));
    for _ in 0..rows {
        table.extend((0..columns).map(|_| b'0' + random.below(2) as u8));
        table.push(b'\n');
    }
    table
}
