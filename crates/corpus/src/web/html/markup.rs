//! A tokenizer of HTML: text, start tags, end tags.
//!
//! It follows the states of the WHATWG's tokenizer (HTML §13.2.5), except for the contents of
//! scripts, which [`Tokens::skip_raw`] skips. Every byte is examined at most twice.

use memchr::{memchr, memmem};

/// A token of markup; comments and declarations are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// Characters, with unchanged entities.
    Text(&'a [u8]),
    /// A start tag.
    Open {
        /// The unchanged name.
        name: &'a [u8],
        /// The bytes between the name and the `>`.
        attributes: &'a [u8],
    },
    /// The unchanged name in an end tag.
    Close(&'a [u8]),
}

/// The tokens of an HTML text.
pub(crate) struct Tokens<'a> {
    html: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(html: &'a [u8]) -> Self {
        Tokens { html, at: 0 }
    }

    /// The number of bytes read so far.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Skips all bytes before the end tag `name`, or all remaining bytes.
    pub(super) fn skip_raw(&mut self, name: &[u8]) {
        let rest = &self.html[self.at..];
        let ends = |&place: &usize| {
            let behind = &rest[place + 2..];
            behind
                .get(..name.len())
                .is_some_and(|found| found.eq_ignore_ascii_case(name))
                && behind.get(name.len()).is_none_or(|&byte| ends_name(byte))
        };
        let place = memmem::find_iter(rest, b"</").find(ends);
        self.at += place.unwrap_or(rest.len());
    }

    /// The name and attributes of the tag whose name begins at `at`; `None` if the bytes end within it.
    fn tag(&mut self, at: usize) -> Option<(&'a [u8], &'a [u8])> {
        let rest = &self.html[at..];
        let name = rest
            .iter()
            .position(|&byte| ends_name(byte))
            .unwrap_or(rest.len());
        let mut attributes = Attributes::new(&rest[name..]);
        attributes.by_ref().for_each(drop);
        self.at = at + name + attributes.at;
        attributes
            .closed
            .then(|| (&rest[..name], &rest[name..name + attributes.at - 1]))
    }

    fn skip_comment(&mut self, at: usize) {
        let rest = &self.html[at..];
        // `<!-->` and `<!--->` are whole comments.
        let short = [&b">"[..], b"->"]
            .into_iter()
            .find(|end| rest.starts_with(end));
        let long = || {
            let mut dashes = memmem::find_iter(rest, b"--");
            dashes.find_map(|place| match &rest[place + 2..] {
                [b'>', ..] => Some(place + 3),
                [b'!', b'>', ..] => Some(place + 4),
                // The last two of three dashes may end the comment.
                [b'-', b'>', ..] => Some(place + 4),
                [b'-', b'!', b'>', ..] => Some(place + 5),
                _ => None,
            })
        };
        self.at = at + short.map(<[u8]>::len).or_else(long).unwrap_or(rest.len());
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let start = self.at;
            let rest = self.html.get(start..).filter(|rest| !rest.is_empty())?;
            match rest {
                [b'<', letter, ..] if letter.is_ascii_alphabetic() => {
                    let (name, attributes) = self.tag(start + 1)?;
                    return Some(Token::Open { name, attributes });
                }
                [b'<', b'/', letter, ..] if letter.is_ascii_alphabetic() => {
                    return Some(Token::Close(self.tag(start + 2)?.0));
                }
                [b'<', b'!', b'-', b'-', ..] => self.skip_comment(start + 4),
                [b'<', b'!' | b'?' | b'/', ..] => {
                    self.at = memchr(b'>', rest).map_or(self.html.len(), |end| start + end + 1);
                }
                _ => {
                    let end = memchr(b'<', &rest[1..]).map_or(rest.len(), |end| end + 1);
                    self.at = start + end;
                    return Some(Token::Text(&rest[..end]));
                }
            }
        }
    }
}

fn ends_name(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b'/' | b'>')
}

/// The unchanged names and values of the attributes of a tag; stops after its `>`.
pub(crate) struct Attributes<'a> {
    bytes: &'a [u8],
    at: usize,
    closed: bool,
}

impl<'a> Attributes<'a> {
    /// The attributes in `bytes`, which begin after the name of the tag.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Attributes {
            bytes,
            at: 0,
            closed: false,
        }
    }

    fn skip(&mut self, is_skipped: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let length = rest
            .iter()
            .position(|&byte| !is_skipped(byte))
            .unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn value(&mut self) -> &'a [u8] {
        self.skip(|byte| byte.is_ascii_whitespace());
        let rest = &self.bytes[self.at..];
        match rest.first() {
            Some(quote @ (b'"' | b'\'')) => {
                let value = &rest[1..];
                let end = memchr(*quote, value).unwrap_or(value.len());
                self.at += 1 + (end + 1).min(value.len());
                &value[..end]
            }
            _ => self.skip(|byte| !byte.is_ascii_whitespace() && byte != b'>'),
        }
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.closed {
            return None;
        }
        self.skip(|byte| byte.is_ascii_whitespace() || byte == b'/');
        let rest = &self.bytes[self.at..];
        if *rest.first()? == b'>' {
            self.at += 1;
            self.closed = true;
            return None;
        }
        // An equals sign at the start belongs to the name.
        self.at += 1;
        self.skip(|byte| !ends_name(byte) && byte != b'=');
        let name = &rest[..self.at - (self.bytes.len() - rest.len())];
        let behind = self.at;
        self.skip(|byte| byte.is_ascii_whitespace());
        if self.bytes.get(self.at) == Some(&b'=') {
            self.at += 1;
            return Some((name, self.value()));
        }
        self.at = behind;
        Some((name, &[]))
    }
}
