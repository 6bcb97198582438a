//! The visible elements of an HTML page, and its visible texts.

use memchr::memmem;

use super::markup::{Attributes, Token, Tokens};

/// Receives the visible texts of a page and the tags between them, in their order.
pub(super) trait Visitor {
    /// A text, with unchanged entities.
    fn text(&mut self, text: &[u8]);

    /// A start or end tag outside of invisible elements.
    fn tag(&mut self, element: Element, tag: Token<'_>);
}

/// Passes the visible texts of `html` and the tags between them to `visitor`; returns the contents of
/// the scripts that are [templates](is_template).
///
/// O(length) time for any bytes.
pub(super) fn visit<'a>(html: &'a [u8], visitor: &mut impl Visitor) -> Vec<&'a [u8]> {
    let mut tokens = Tokens::new(html);
    let mut scripts = Vec::new();
    // `template` elements may be nested.
    let mut templates = 0usize;
    while let Some(token) = tokens.next() {
        let element = match token {
            Token::Text(text) => {
                if templates == 0 {
                    visitor.text(text);
                }
                continue;
            }
            Token::Open { name, .. } | Token::Close(name) => Element::named(name),
        };
        match (element, token) {
            // As in XHTML, `<script/>` is a whole element.
            (Element::Hidden, Token::Open { attributes, .. }) if attributes.ends_with(b"/") => {}
            (Element::Hidden, Token::Open { name, attributes }) => {
                let start = tokens.position();
                tokens.skip_raw(name);
                if name.eq_ignore_ascii_case(b"script") && is_template(attributes) {
                    scripts.push(&html[start..tokens.position()]);
                }
            }
            (Element::Template, Token::Open { .. }) => templates += 1,
            (Element::Template, _) => templates = templates.saturating_sub(1),
            _ if templates == 0 => visitor.tag(element, token),
            _ => {}
        }
    }
    scripts
}

/// Whether a script with these attributes is a template: markup or Markdown, not a program.
fn is_template(attributes: &[u8]) -> bool {
    const KINDS: [&[u8]; 6] = [
        b"template",
        b"tmpl",
        b"handlebars",
        b"mustache",
        b"text/html",
        b"markdown",
    ];
    let is_type = |(name, value): &(&[u8], &[u8])| {
        let value = value.to_ascii_lowercase();
        name.eq_ignore_ascii_case(b"type")
            && KINDS
                .iter()
                .any(|kind| memmem::find(&value, kind).is_some())
    };
    Attributes::new(attributes).any(|attribute| is_type(&attribute))
}

/// The effect of an element on the text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    /// None.
    Inline,
    /// Separates words, like a table cell.
    Cell,
    /// Begins and ends a line.
    Block,
    /// Its content is neither visible nor markup.
    Hidden,
    /// Its content is markup, but not visible.
    Template,
}

impl Element {
    pub(super) fn named(name: &[u8]) -> Element {
        /// The longest name below.
        const LONGEST: usize = 10;
        let mut lower = [0; LONGEST];
        let Some(lower) = lower.get_mut(..name.len()) else {
            return Element::Inline;
        };
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        match &*lower {
            b"script" | b"style" | b"noscript" | b"title" | b"iframe" | b"noembed"
            | b"noframes" => Element::Hidden,
            b"template" => Element::Template,
            b"td" | b"th" | b"option" | b"button" | b"input" | b"select" | b"img" => Element::Cell,
            b"address" | b"article" | b"aside" | b"blockquote" | b"body" | b"br" | b"caption"
            | b"center" | b"dd" | b"details" | b"dialog" | b"dir" | b"div" | b"dl" | b"dt"
            | b"fieldset" | b"figcaption" | b"figure" | b"footer" | b"form" | b"frameset"
            | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"head" | b"header" | b"hgroup"
            | b"hr" | b"html" | b"legend" | b"li" | b"listing" | b"main" | b"menu" | b"nav"
            | b"ol" | b"optgroup" | b"p" | b"plaintext" | b"pre" | b"search" | b"section"
            | b"summary" | b"table" | b"tbody" | b"textarea" | b"tfoot" | b"thead" | b"tr"
            | b"ul" | b"xmp" => Element::Block,
            _ => Element::Inline,
        }
    }
}
