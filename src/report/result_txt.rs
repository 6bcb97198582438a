//! `result.txt`: for each sample its id, then for each distance the ids of the articles there.

/// The block of one sample, written from the nearest articles to the farthest.
///
/// ```
/// use simtool::report::result_txt::Block;
///
/// let mut block = Block::new(b"sample");
/// block.add(0, b"same");
/// block.add(2, b"near");
/// block.add(2, b"as near");
/// assert_eq!(block.finish(), b"sample\n0:same \n2:near as near \n");
/// ```
#[derive(Clone, Debug)]
pub struct Block {
    bytes: Vec<u8>,
    distance: Option<u32>,
}

impl Block {
    /// A block with the sample's id and no articles.
    pub fn new(sample_id: &[u8]) -> Block {
        Block {
            bytes: [sample_id, b"\n"].concat(),
            distance: None,
        }
    }

    /// Adds an article; distances must not descend.
    pub fn add(&mut self, distance: u32, article_id: &[u8]) {
        if self.distance != Some(distance) {
            if self.distance.is_some() {
                self.bytes.push(b'\n');
            }
            self.bytes
                .extend_from_slice(distance.to_string().as_bytes());
            self.bytes.push(b':');
            self.distance = Some(distance);
        }
        self.bytes.extend_from_slice(article_id);
        self.bytes.push(b' ');
    }

    /// What has been written so far and not been taken yet.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// The rest of the block.
    pub fn finish(mut self) -> Vec<u8> {
        if self.distance.is_some() {
            self.bytes.push(b'\n');
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_match_is_the_id_alone() {
        assert_eq!(Block::new(b"a b").finish(), b"a b\n");
    }

    #[test]
    fn taken_pieces_make_the_same_block() {
        let mut block = Block::new(b"s");
        let mut pieces = block.take();
        for (distance, id) in [(1, b"a"), (1, b"b"), (3, b"c")] {
            block.add(distance, id);
            pieces.extend(block.take());
        }
        pieces.extend(block.finish());
        assert_eq!(pieces, b"s\n1:a b \n3:c \n");
    }
}
