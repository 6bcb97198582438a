//! Properties of the extractors.

use super::*;
use proptest::prelude::*;

fn text_of(html: &str, which: HtmlText) -> String {
    let mut out = Vec::new();
    text(html, which, &mut out);
    String::from_utf8(out).unwrap()
}

fn page() -> String {
    let paragraph = "<p>The cat sat on the mat, and the dog, who had seen it all before, \
        slept on; nobody, as far as anyone could tell, minded much.</p>";
    format!(
        "<html><head><title>Cats</title></head><body><nav><ul><li><a href=/>Home</a></ul></nav>\
         <div class=article>{}</div><div class=footer>Imprint</div></body></html>",
        paragraph.repeat(8)
    )
}

#[test]
fn the_main_text_excludes_navigation_and_footer() {
    let main = text_of(&page(), HtmlText::Main);
    assert!(main.starts_with("The cat sat"), "{main}");
    assert!(
        !main.contains("Home") && !main.contains("Imprint"),
        "{main}"
    );
    assert_eq!(main.lines().count(), 8);
}

#[test]
fn pages_are_recognised_by_their_first_bytes() {
    for page in [
        "<!DOCTYPE html>",
        "\u{feff}\n <!doctype HTML PUBLIC \"x\">",
        "<html>",
        "<HTML lang=en>",
        "<?xml version=\"1.0\"?>\n<!-- saved from x --><!-- > --> <html\n>",
    ] {
        assert!(is_page(page.as_bytes()), "{page}");
    }
    let late = format!("<!--{}--><html>", " ".repeat(PROLOGUE_BYTES));
    for text in [
        "",
        "<",
        "text <html>",
        "<htmlx>",
        "<p>",
        "<!doctype htmlx>",
        "<!-- <html>",
        "<?php <html>",
        "<svg>",
        &late,
    ] {
        assert!(!is_page(text.as_bytes()), "{text}");
    }
}

#[test]
fn visible_text_is_complete() {
    let visible = text_of(&page(), HtmlText::Visible);
    assert!(visible.starts_with("Home\nThe cat sat") && visible.ends_with("Imprint"));
}

#[test]
fn pages_without_main_text_fall_back() {
    for html in [
        "",
        "<p>short",
        "<ul><li><a href=/>one</a><li><a href=/>two</a></ul>",
    ] {
        assert_eq!(
            text_of(html, HtmlText::Main),
            text_of(html, HtmlText::Visible)
        );
    }
}

/// Pages for which the time of tree builders and extractors usually grows with the square of the length.
fn expensive_pages() -> Vec<String> {
    let text = |start: &str, unit: &str| format!("{start}{}", unit.repeat(300_000 / unit.len()));
    let numbered = |unit: &dyn Fn(usize) -> String| (0..50_000).map(unit).collect::<String>();
    let nested = |depth: usize, open: &str, close: &str| {
        let page = open.repeat(depth) + "text, text" + &close.repeat(depth);
        page.repeat(600_000 / page.len())
    };
    let title = format!("<title>{}</title>", "abc de ".repeat(20_000));
    vec![
        text("<p>", "&"),
        text("<p>", "&a"),
        text("<p>", "& "),
        text("<p>", "£"),
        text("<p>", "&amp;"),
        text("<p>", "x&nbsp;"),
        text("<p>", "&</x>"),
        text("<title>", "&"),
        text("<textarea>", "&"),
        text("<template>", "&"),
        text("<table><tr>", "<td title='&&&&&&&&&&&&&&&&&&&&&&&&'>&</x>"),
        format!("<p title='{}'>text", "&".repeat(300_000)),
        format!("<p {}>text", numbered(&|number| format!("a{number} "))),
        numbered(&|number| format!("<body a{number}>")),
        numbered(&|number| format!("<html a{number}>")),
        title.clone() + &"<h2>a heading of this page</h2>".repeat(1000),
        format!("<meta content='{title}'>") + &"<h2>a heading</h2>".repeat(1000),
        format!("<h1>{title}</h1>") + &"<h2>a heading</h2>".repeat(1000),
        nested(200, "<div>", "</div>"),
        nested(200, "<span>", "</span>"),
        nested(50, "<table><tr><td>", "</table>"),
        nested(100, "<ul><li>", "</ul>"),
        "<object>".repeat(400) + &"word, ".repeat(100_000),
        "<div>".repeat(400) + &"word, ".repeat(100_000),
    ]
}

/// Promise (Deduplication): Extracting the text of an HTML page takes time in proportion to its
/// length, for any content
#[test]
fn expensive_pages_have_a_main_text() {
    for html in expensive_pages() {
        let main = text_of(&html, HtmlText::Main);
        assert!(main.len() <= text_of(&html, HtmlText::Visible).len());
    }
}

/// Promise (Deduplication): Extracting the text of an HTML page takes time in proportion to its
/// length, for any content …
#[test]
fn large_ordinary_pages_have_main_text() {
    let paragraph = "<p>« Jean & Marie&nbsp;: £ 5 », a-t-il dit, puis il est parti, sans un \
        mot de plus, vers la gare.</p>";
    let article = format!("<h2>Un titre</h2>{}", paragraph.repeat(20)).repeat(50);
    let page = format!(
        "<html><head><title>Un titre</title></head><body><nav><a href=/>Home</a></nav>\
         <div class=article>{article}</div></body></html>"
    );
    let main = text_of(&page, HtmlText::Main);
    assert!(
        main.len() > 50_000 && !main.contains("Home"),
        "{}",
        main.len()
    );
}

/// A text that extractors prefer to lists: it has paragraphs.
const NOTICE: &str = "<div id=notice><p>This site uses cookies, as most do, for its statistics.\
    <p>If you read on, you agree to them; the settings are in your browser.</div>";

fn links(topic: &str, count: usize) -> String {
    let link = |number| format!("<li><a href=x>Number {number} of {topic} from the list</a>");
    (0..count).map(link).collect()
}

fn page_of(body: &str) -> String {
    format!("<!doctype html><html><title>a page</title><body>{NOTICE}{body}</body></html>")
}

fn article_of(length: usize) -> String {
    let paragraph = "<p>The ferry left at nine, as it did every day, and no passenger waved.";
    format!("<div>{}</div>", paragraph.repeat(length / 60))
}

/// Promise (Deduplication): Different pages of a site are not equal because they share a cookie
/// notice, a login form or a menu: with `--html main` and `article`, a short main text is never the
/// whole text of a longer page
#[test]
fn a_declared_element_is_preferred_to_a_notice() {
    for tag in ["main", "div role=main"] {
        let html = page_of(&format!("<{tag}>{}</{tag}>", links("apples", 5)));
        let found = text_of(&html, HtmlText::Main);
        assert!(found.starts_with("Number 0 of apples"), "{found}");
        assert!(!found.contains("cookies"), "{found}");
    }
    // A declared element without text, as in pages that a script fills.
    let html = page_of(&format!("<main>Loading</main>{}", article_of(2000)));
    assert!(text_of(&html, HtmlText::Main).starts_with("The ferry"));
}

#[test]
fn a_long_article_is_used() {
    let menu = links("the menu", 20);
    let article = article_of(2000);
    let inside = page_of(&format!("<main><ul>{menu}</ul>{article}</main>"));
    let outside = page_of(&format!("<main>{}</main>{article}", links("x", 5)));
    for html in [inside, outside, page_of(&article)] {
        let found = text_of(&html, HtmlText::Main);
        assert!(found.starts_with("The ferry"), "{found}");
        assert!(!found.contains("Number"), "{found}");
    }
}

/// Promise (Deduplication): Different pages of a site are …
#[test]
fn pages_with_the_same_notice_differ() {
    for count in [5, 40, 400] {
        let [pears, plums] =
            ["pears", "plums"].map(|topic| text_of(&page_of(&links(topic, count)), HtmlText::Main));
        let lines = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
        let (pears, plums) = (lines(&pears), lines(&plums));
        let shared = pears.iter().filter(|line| plums.contains(line));
        let bytes = |line: &String| line.len();
        let shared: usize = shared.map(bytes).sum();
        let all: usize = pears.iter().map(bytes).sum();
        assert!(2 * shared < all, "{count}: {shared} of {all}");
    }
}

/// Promise (Deduplication): The main text of a page …
#[test]
fn captures_of_an_article_have_the_same_main_text() {
    // The same article with another menu, other headlines beside it and another notice.
    let capture = |topic: &str, count| {
        let related = links(&format!("the headlines about {topic}"), count);
        let menu = links(topic, 10);
        page_of(&format!(
            "<nav><ul>{menu}</ul></nav><div class=content>{}</div><aside><ul>{related}</ul></aside>\
             <footer>{topic} {count}</footer>",
            article_of(3000)
        ))
    };
    let [first, second] =
        [("pears", 3), ("plums", 12)].map(|(t, n)| text_of(&capture(t, n), HtmlText::Main));
    assert_eq!(first, second);
    assert!(first.starts_with("The ferry"), "{first}");
}

/// Whether the words of `part` occur in `whole` in this order.
fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut rest = whole.split_whitespace();
    part.split_whitespace()
        .all(|word| rest.by_ref().any(|other| other == word))
}

proptest! {
    #[test]
    fn nothing_panics(html in "([<>/!&;#x='\" a-]|<p>|<script|</script>|<!--|-->|<table>|<td>|<b>|</b>|<svg>|<title>|汉|\n){0,60}") {
        let main = text_of(&html, HtmlText::Main);
        prop_assert!(main.len() <= html.len());
    }

    /// Promise (Deduplication): The main text of a page is lines of its visible text, unchanged;
    /// another menu, other headlines and another notice around an article do not change it
    #[test]
    fn the_main_text_is_a_part_of_the_visible_text(
        html in "(<p>|</p>|<main>|</main>|<nav>|</nav>|<div class=(content|footer|menu)>|</div>|<li>|<a href=x>|</a>|<h1>|<br>|<script type=text/html>|</script>|The cat, which sat on the mat in the house, saw that it was late. |a menu |&amp;|汉字。){0,80}",
    ) {
        let visible = text_of(&html, HtmlText::Visible);
        let main = text_of(&html, HtmlText::Main);
        prop_assert!(main.len() <= visible.len());
        prop_assert_eq!(main.is_empty(), visible.is_empty());
        // A short main text precedes a sample of other lines.
        let is_short = main.len() < 6 * 500;
        prop_assert!(is_short || is_subsequence(&main, &visible), "{}", main);
        for line in main.lines() {
            prop_assert!(visible.contains(line));
        }
        prop_assert_eq!(main, text_of(&html, HtmlText::Main));
    }
}
