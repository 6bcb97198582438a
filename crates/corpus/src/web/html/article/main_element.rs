//! The part of a page that its author declares to be the main one.

use crate::web::elements::is_hidden;
use crate::web::markup::{Attributes, Token, Tokens};
use crate::web::visible_text::visible_text;

/// The visible text of the `<main>` elements and those with `role=main`, a line break between two;
/// empty if a page has none.
///
/// O(length) time and memory for any bytes: elements within such an element are not examined again.
pub(super) fn text(html: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut tokens = Tokens::new(html);
    while let Some(token) = tokens.next() {
        let Token::Open { name, attributes } = token else {
            continue;
        };
        if is_main(name, attributes) {
            let start = tokens.position();
            skip_element(&mut tokens, name);
            if !text.is_empty() && !text.ends_with(b"\n") {
                text.push(b'\n');
            }
            visible_text(&html[start..tokens.position()], &mut text);
        } else if is_hidden(name) && !attributes.ends_with(b"/") {
            tokens.skip_raw(name);
        }
    }
    text
}

fn is_main(name: &[u8], attributes: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"main")
        || Attributes::new(attributes).any(|(name, value)| {
            name.eq_ignore_ascii_case(b"role") && value.trim_ascii().eq_ignore_ascii_case(b"main")
        })
}

/// Skips the content of an element and its end tag, or all remaining bytes if it has none.
fn skip_element(tokens: &mut Tokens<'_>, element: &[u8]) {
    let mut depth = 1;
    while let Some(token) = tokens.next() {
        match token {
            Token::Open { name, .. } if name.eq_ignore_ascii_case(element) => depth += 1,
            Token::Open { name, attributes } if is_hidden(name) && !attributes.ends_with(b"/") => {
                tokens.skip_raw(name);
            }
            Token::Close(name) if name.eq_ignore_ascii_case(element) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn declared_elements_are_found() {
        let cases = [
            ("<p>a", ""),
            ("<p>a<main class=x><p>b</p>c</main>d", "b\nc"),
            (
                "<MAIN>a</MAIN>b<main>c</main><main> </main><main>d</main>",
                "a\nc\nd",
            ),
            ("<div role='main'><div>a</div>b</div>c", "a\nb"),
            ("<div data-role=main role=mainly>a</div>", ""),
            ("<main>a<main>b</main>c</main>d", "a\nb\nc"),
            ("a<main>not closed<p>b", "not closed\nb"),
            ("<script>'<main>'</script><style><main></style>a", ""),
            ("<main>a<script>'</main>'</script>b</main>c", "ab"),
            ("<!-- <main> -->a", ""),
        ];
        for (html, expected) in cases {
            assert_eq!(text(html.as_bytes()), expected.as_bytes(), "{html}");
        }
    }

    #[test]
    fn hostile_pages_take_linear_time() {
        for piece in [
            "<main>",
            "<main>a</main>",
            "<a role=main>",
            "<main><script>",
            "<p role=",
        ] {
            let html = piece.repeat(200_000);
            assert!(text(html.as_bytes()).len() <= html.len(), "{piece}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(html in "([<>/!a ='\"]|<main|</main>|role=main|<script>|</script>|汉){0,40}") {
            let text = text(html.as_bytes());
            prop_assert!(String::from_utf8(text).unwrap().len() <= html.len());
        }
    }
}
