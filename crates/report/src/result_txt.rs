//! `result.txt`: for each sample its id, and for each distance the ids of the articles at that
//! distance.

use crate::Result;

/// The block of one sample, written from the nearest articles to the farthest.
///
/// Its bytes go to a sink in pieces, so that a block of any length needs no memory. Ids are not
/// copied.
///
/// ```
/// use simtool_report::result_txt::Block;
///
/// let mut bytes = Vec::new();
/// let mut block = Block::begin(b"sample", |piece| {
///     bytes.extend_from_slice(piece);
///     Ok(())
/// })?;
/// block.add(0, b"same")?;
/// block.add(2, b"near")?;
/// block.add(2, b"as near")?;
/// block.finish()?;
/// assert_eq!(bytes, b"sample\n0:same \n2:near as near \n");
/// # Ok::<(), simtool_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Block<S> {
    sink: S,
    distance: Option<u32>,
}

impl<S: FnMut(&[u8]) -> Result<()>> Block<S> {
    /// A block with the sample's id and no articles.
    ///
    /// # Errors
    /// Errors of `sink`.
    pub fn begin(sample_id: &[u8], mut sink: S) -> Result<Block<S>> {
        sink(sample_id)?;
        sink(b"\n")?;
        Ok(Block {
            sink,
            distance: None,
        })
    }

    /// Adds an article; distances must not descend.
    ///
    /// # Errors
    /// Errors of the sink.
    #[inline]
    pub fn add(&mut self, distance: u32, article_id: &[u8]) -> Result<()> {
        if self.distance != Some(distance) {
            if self.distance.is_some() {
                (self.sink)(b"\n")?;
            }
            (self.sink)(distance.to_string().as_bytes())?;
            (self.sink)(b":")?;
            self.distance = Some(distance);
        }
        (self.sink)(article_id)?;
        (self.sink)(b" ")
    }

    /// Ends the block.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn finish(mut self) -> Result<()> {
        match self.distance {
            Some(_) => (self.sink)(b"\n"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_core::{Error, ErrorKind};

    #[test]
    fn no_match_is_the_id_alone() {
        let mut bytes = Vec::new();
        let block = Block::begin(b"a b", |piece: &[u8]| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        block.unwrap().finish().unwrap();
        assert_eq!(bytes, b"a b\n");
    }

    #[test]
    fn what_the_sink_refuses_ends_the_block() {
        let mut left = 3;
        let mut block = Block::begin(b"s", |_: &[u8]| {
            left -= 1;
            match left {
                0 => Err(Error::new(ErrorKind::Write, "no more")),
                _ => Ok(()),
            }
        })
        .unwrap();
        assert_eq!(block.add(1, b"a").unwrap_err().to_string(), "no more");
    }
}
