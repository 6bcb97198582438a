//! Synthetic documents with near-duplicates among them.

use std::fmt::Write;

/// A document to be written in some format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub id: String,
    pub url: String,
    pub date: String,
    pub text: String,
}

/// Pseudorandom numbers, determined by a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }
}

/// `count` documents: new ones, exact and edited copies of earlier ones, short and empty ones.
pub fn documents(seed: u64, count: usize) -> Vec<Text> {
    let mut random = Random::new(seed);
    let mut documents: Vec<Text> = Vec::new();
    for number in 0..count {
        let kind = random.below(10);
        let text = match (kind, documents.is_empty()) {
            (0, _) => String::new(),
            (1, _) => words(&mut random, 5),
            (2..=3, false) => copy(&mut random, &documents),
            (4..=6, false) => edited(&mut random, &documents),
            _ => words(&mut random, 150),
        };
        documents.push(Text {
            id: format!("d{number}"),
            url: format!(
                "https://site{}.example/{}",
                random.below(3),
                "x".repeat(random.below(9) as usize)
            ),
            date: format!("20{:02}-0{}-11", random.below(20) + 4, random.below(9) + 1),
            text,
        });
    }
    documents
}

fn words(random: &mut Random, most: u64) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(most) {
        let _ = write!(text, "{} ", word(random));
    }
    text
}

fn word(random: &mut Random) -> String {
    // Few words are frequent.
    let rank = random.below(40) * random.below(40);
    format!(
        "w{}x",
        "abcdefghij".chars().nth((rank % 10) as usize).unwrap()
    )
    .repeat(1 + rank as usize % 3)
        + &rank.to_string()
}

fn copy(random: &mut Random, documents: &[Text]) -> String {
    let original = &documents[random.below(documents.len() as u64) as usize].text;
    match random.below(2) {
        0 => original.clone(),
        // The same words in upper case and with other separators.
        _ => original.to_uppercase().replace(' ', ",\t"),
    }
}

fn edited(random: &mut Random, documents: &[Text]) -> String {
    let original = &documents[random.below(documents.len() as u64) as usize].text;
    let edits = 1 + random.below(40);
    let mut words: Vec<String> = original.split_whitespace().map(str::to_owned).collect();
    for _ in 0..=words.len() as u64 / edits / 3 {
        if !words.is_empty() {
            let position = random.below(words.len() as u64) as usize;
            words[position] = word(random);
        }
    }
    words.join(" ")
}
