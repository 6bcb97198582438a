//! Visible text is normalised and not longer than the page; extraction of the main text never fails.
//!
//! Promise (Deduplication): Every parser accepts any bytes; memory …
#![no_main]

use libfuzzer_sys::fuzz_target;
use simtool::corpus::HtmlText;
use simtool::corpus::web::html;
use simtool::corpus::web::visible_text::visible_text;

// The first byte is the number of repetitions of the page, for nesting and for length.
fuzz_target!(|input: (u8, &[u8])| {
    let page = input.1.repeat(1 + usize::from(input.0 % 64));
    let mut out = b"before \n".to_vec();
    visible_text(&page, &mut out);
    let text = out
        .strip_prefix(b"before \n")
        .expect("what was there stays");
    assert!(text.len() <= page.len(), "{} of {}", text.len(), page.len());
    assert_tidy(text);

    let Ok(page) = str::from_utf8(&page) else {
        return;
    };
    let text_of = |which| {
        let mut out = Vec::new();
        html::text(page, which, &mut out);
        String::from_utf8(out).expect("UTF-8 stays UTF-8")
    };
    assert_eq!(text_of(HtmlText::Visible).as_bytes(), text);
    let main = text_of(HtmlText::Main);
    assert!(main.len() <= text.len(), "{} of {}", main.len(), text.len());
    assert_tidy(main.as_bytes());
    assert_eq!(main, text_of(HtmlText::Main));
});

/// Lines are separated by one LF, words by one space, with none at the ends.
fn assert_tidy(text: &[u8]) {
    let is_space = |byte: u8| byte.is_ascii_whitespace();
    assert!(!text.first().is_some_and(|&byte| is_space(byte)));
    assert!(!text.last().is_some_and(|&byte| is_space(byte)));
    assert!(
        !text
            .windows(2)
            .any(|pair| pair.iter().all(|&byte| is_space(byte)))
    );
    assert!(
        text.iter()
            .all(|&byte| !is_space(byte) || b" \n".contains(&byte))
    );
}
