//! XML that arrives in pieces, as far as listings of stores use it.

use crate::requests::answer::Failure;

/// The maximum number of bytes of a tag, and of the text of an element.
const MAX_BYTES: usize = 16 << 10;
/// The maximum depth of elements.
const MAX_DEPTH: usize = 16;

/// A reader that holds one tag and the texts of the open elements.
#[derive(Default)]
pub(super) struct Xml {
    /// The start of a tag or text that has not arrived yet.
    rest: Vec<u8>,
    open: Vec<Element>,
    is_complete: bool,
}

/// An element. Of its name, the prefix is left out; its text is that after its last child.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub name: String,
    pub attributes: String,
    pub text: String,
}

impl Xml {
    /// Reads a piece. `each` gets elements as they end, with the name of their parents, which is empty
    /// for the outermost one.
    ///
    /// # Errors
    /// [`Failure::Final`] for what is no XML, or has parts that are too long; those of `each`.
    pub(super) fn read(
        &mut self,
        piece: &[u8],
        each: &mut impl FnMut(&str, &Element) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut bytes = std::mem::take(&mut self.rest);
        bytes.extend_from_slice(piece);
        let mut rest = bytes.as_slice();
        while let Some(length) = token(rest) {
            let (token, after) = rest.split_at(length);
            self.accept(token, each)?;
            rest = after;
        }
        if rest.len() > MAX_BYTES {
            return Err(too_long());
        }
        self.rest = rest.to_vec();
        Ok(())
    }

    /// Checks that the outermost element has ended.
    ///
    /// # Errors
    /// [`Failure::Broken`] if it has not; [`Failure::Final`] if it did not begin.
    pub(super) fn end(&self) -> Result<(), Failure> {
        match (self.is_complete, self.rest.first()) {
            (true, _) => Ok(()),
            // Another kind of text.
            (false, Some(first)) if self.open.is_empty() && *first != b'<' => Err(invalid()),
            (false, _) => Err(Failure::broken("the answer is incomplete")),
        }
    }

    fn accept(
        &mut self,
        token: &[u8],
        each: &mut impl FnMut(&str, &Element) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let text = std::str::from_utf8(token).map_err(|_| invalid())?;
        let Some(tag) = text.strip_prefix('<') else {
            return self.add(&decoded(text)?);
        };
        if let Some(content) = tag.strip_prefix("![CDATA[") {
            return self.add(content.strip_suffix("]]>").unwrap_or(content));
        }
        if tag.starts_with(['?', '!']) {
            return Ok(());
        }
        let tag = tag.strip_suffix('>').unwrap_or(tag);
        if let Some(name) = tag.strip_prefix('/') {
            return self.close(local(name.trim_end()), each);
        }
        let (tag, is_empty) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let end = tag.find(|letter: char| letter.is_ascii_whitespace());
        let (name, attributes) = tag.split_at(end.unwrap_or(tag.len()));
        if self.open.len() >= MAX_DEPTH || self.is_complete {
            return Err(invalid());
        }
        self.open.push(Element {
            name: local(name).to_owned(),
            attributes: attributes.to_owned(),
            text: String::new(),
        });
        match is_empty {
            true => self.close(local(name), each),
            false => Ok(()),
        }
    }

    fn add(&mut self, text: &str) -> Result<(), Failure> {
        match self.open.last_mut() {
            Some(element) if element.text.len() + text.len() <= MAX_BYTES => {
                element.text.push_str(text);
                Ok(())
            }
            Some(_) => Err(too_long()),
            None if text.trim_start_matches('\u{feff}').trim().is_empty() => Ok(()),
            None => Err(invalid()),
        }
    }

    fn close(
        &mut self,
        name: &str,
        each: &mut impl FnMut(&str, &Element) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let element = self.open.pop().filter(|element| element.name == name);
        let element = element.ok_or_else(invalid)?;
        let parent = match self.open.last_mut() {
            Some(parent) => {
                parent.text.clear();
                parent.name.as_str()
            }
            None => {
                self.is_complete = true;
                ""
            }
        };
        each(parent, &element)
    }
}

/// The length of the first tag or text, if all of it is there.
fn token(bytes: &[u8]) -> Option<usize> {
    if *bytes.first()? != b'<' {
        return bytes.iter().position(|&byte| byte == b'<');
    }
    let end: &[u8] = match bytes {
        _ if bytes.starts_with(b"<!--") => b"-->",
        _ if bytes.starts_with(b"<![CDATA[") => b"]]>",
        // It may become one of these.
        b"<!" | b"<!-" => return None,
        _ => b">",
    };
    let place = bytes.windows(end.len()).position(|part| part == end)?;
    Some(place + end.len())
}

/// A name without its prefix.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// A text with its references replaced.
fn decoded(text: &str) -> Result<String, Failure> {
    let mut parts = text.split('&');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';').ok_or_else(invalid)?;
        let letter = match (name, name.strip_prefix('#')) {
            ("lt", _) => Some('<'),
            ("gt", _) => Some('>'),
            ("amp", _) => Some('&'),
            ("quot", _) => Some('"'),
            ("apos", _) => Some('\''),
            (_, Some(number)) => {
                let number = match number.strip_prefix(['x', 'X']) {
                    Some(digits) => u32::from_str_radix(digits, 16),
                    None => number.parse(),
                };
                number.ok().and_then(char::from_u32)
            }
            _ => None,
        };
        decoded.push(letter.ok_or_else(invalid)?);
        decoded.push_str(rest);
    }
    Ok(decoded)
}

fn invalid() -> Failure {
    Failure::refused("an answer that is no valid listing")
}

fn too_long() -> Failure {
    let detail = format!("a listing with a name or another part of more than {MAX_BYTES} bytes");
    Failure::refused(detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(text: &str, piece: usize) -> Result<Vec<String>, Failure> {
        let mut xml = Xml::default();
        let mut found = Vec::new();
        for piece in text.as_bytes().chunks(piece) {
            xml.read(piece, &mut |parent, element| {
                let Element {
                    name,
                    attributes,
                    text,
                } = element;
                found.push(format!("{parent}/{name}{attributes}={text}"));
                Ok(())
            })?;
        }
        xml.end().map(|()| found)
    }

    #[test]
    fn elements_are_read_however_they_arrive() {
        let text = "\u{feff}<?xml version=\"1.0\"?>\n<!-- <a> --><n:a x='1'>\n  <b> 1 &lt;&amp;&#10;&#xfc; </b>\n  <c e=\"f\"/><d><![CDATA[<x>&amp;]]></d> </n:a>\n";
        let expected = [
            "a/b= 1 <&\nü ",
            "a/c e=\"f\"=",
            "a/d=<x>&amp;",
            "/a x='1'= ",
        ];
        for piece in 1..text.len() + 1 {
            assert_eq!(elements(text, piece).unwrap(), expected, "{piece}");
        }
        for end in 0..text.trim_end().len() {
            let Some(part) = text.get(..end) else {
                continue;
            };
            assert!(elements(part, 7).is_err(), "{end}");
        }
    }

    /// Promise (Inputs on servers): Listings are in memory bounded by …
    #[test]
    fn invalid_and_endless_answers_are_errors() {
        let long = "x".repeat(MAX_BYTES + 1);
        let deep = "<a>".repeat(MAX_DEPTH + 1);
        for text in [
            "<a></b>",
            "</a>",
            "<a/><a/>",
            "text",
            "<a>&bomb;</a>",
            "<a>&#x110000;</a>",
            &deep,
            &format!("<a>{long}</a>"),
            &format!("<{long}"),
            &format!("<!--{long}"),
            &format!(
                "<a>{}</a>",
                "<![CDATA[12345678]]>".repeat(MAX_BYTES / 8 + 1)
            ),
        ] {
            for piece in [1000, 1 << 20] {
                let failure = elements(text, piece).unwrap_err();
                assert!(matches!(failure, Failure::Final { .. }), "{failure:?}");
            }
        }
    }
}
