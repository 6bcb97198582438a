//! Names of documents.

use crate::dedup::ShownDocument;
use crate::html::{escape, escape_bytes};

/// The longest name that is shown whole, in bytes.
const LONGEST_NAME: usize = 200;
/// The longest URL that becomes a link, in bytes.
const LONGEST_LINK: usize = 2000;

/// A name, as HTML; of a long one, the first and last bytes.
pub fn shortened(name: &[u8]) -> String {
    if name.len() <= LONGEST_NAME {
        return escape_bytes(name);
    }
    let text = String::from_utf8_lossy(name);
    let half = LONGEST_NAME / 2;
    let is_boundary = |place: &usize| text.is_char_boundary(*place);
    let start = (0..=half).rev().find(is_boundary).unwrap_or(0);
    let end = (text.len() - half..)
        .find(is_boundary)
        .unwrap_or(text.len());
    format!("{} … {}", escape(&text[..start]), escape(&text[end..]))
}

/// The URL of a document, or its id, as HTML.
pub(super) fn title(document: &ShownDocument) -> String {
    let ShownDocument { id, url, .. } = document;
    format!(
        "<bdi>{}</bdi>",
        shortened(if url.is_empty() { id } else { url })
    )
}

/// The id of a document, its URL and its place, as HTML.
pub(super) fn name(document: &ShownDocument) -> String {
    let ShownDocument { id, url, place, .. } = document;
    let mut html = match url == id {
        true => String::new(),
        false => format!("<bdi>{}</bdi>", shortened(id)),
    };
    if !url.is_empty() {
        html += &format!("<small>{}</small>", link(url));
    }
    match place {
        // A document without an id is called by its place.
        Some(place) if place != id => {
            html += &format!("<small><bdi>{}</bdi></small>", shortened(place));
        }
        Some(_) => {}
        None => html += "<small>in the index</small>",
    }
    html
}

/// A URL, as HTML. It is a link if its scheme is `http` or `https` and if it is shown unchanged.
fn link(url: &[u8]) -> String {
    let shown = shortened(url);
    let is_plain = |url: &&str| {
        let scheme = url.split_once("://").map(|(scheme, _)| scheme);
        let is_web = scheme.is_some_and(|scheme| {
            ["http", "https"]
                .iter()
                .any(|name| scheme.eq_ignore_ascii_case(name))
        });
        is_web && url.len() <= LONGEST_LINK && url.chars().all(|c| c.is_ascii_graphic())
    };
    let text = std::str::from_utf8(url).ok().filter(is_plain);
    match text {
        Some(url) => format!(
            "<a href=\"{}\" rel=\"noopener noreferrer nofollow\"><bdi>{shown}</bdi></a>",
            escape(url)
        ),
        None => format!("<bdi>{shown}</bdi>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (Methods and their evaluation): The HTML page of a deduplication runs …
    #[test]
    fn only_web_addresses_become_links() {
        let shown = link(b"HTTPS://a.example/?q=\"'<b>&x");
        assert!(
            shown.starts_with("<a href=\"HTTPS://a.example/?q=&quot;&#39;&lt;b&gt;&amp;x\" rel=")
        );
        for url in [
            &b"javascript:alert(1)//http://a.example"[..],
            b"javascript://a.example/%0aalert(1)",
            b"data:text/html,<script>",
            b" http://a.example/",
            b"http:a.example",
            b"http://a.example/\xff",
            b"http://a.example/\0",
            "http://a.example/\u{202e}".as_bytes(),
            b"//a.example",
            b"",
        ] {
            let shown = link(url);
            assert!(
                !shown.contains("<a") && shown.starts_with("<bdi>"),
                "{shown}"
            );
        }
        let long = [&b"http://a.example/"[..], &[b'x'; 2000]].concat();
        assert!(!link(&long).contains("href"));
    }

    #[test]
    fn long_names_are_shortened_between_characters() {
        for filler in ["x", "é", "漢", "🐈", "<"] {
            let name = format!("begin{}end", filler.repeat(100_000));
            let shown = shortened(name.as_bytes());
            assert!(shown.starts_with("begin") && shown.ends_with("end"));
            assert!(shown.len() < 1000 && !shown.contains('\u{fffd}'), "{shown}");
        }
        assert_eq!(shortened(b"<id>"), "&lt;id&gt;");
    }
}
