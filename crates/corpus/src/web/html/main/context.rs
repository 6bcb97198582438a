//! What the elements around a text say about it: their names, roles and classes.

use crate::web::html::markup::Attributes;

/// A set of the bits below: of an element, or of all elements around a text.
pub(super) type Context = u16;

pub(super) const HEADING: Context = 1;
pub(super) const LIST: Context = 1 << 1;
pub(super) const QUOTE: Context = 1 << 2;
pub(super) const NAVIGATION: Context = 1 << 3;
pub(super) const FOOTER: Context = 1 << 4;
pub(super) const HEADER: Context = 1 << 5;
/// Text beside the main text.
pub(super) const ASIDE: Context = 1 << 6;
/// Comments of readers.
pub(super) const COMMENT: Context = 1 << 7;
/// Dialogs, notices about cookies and the like.
pub(super) const NOTICE: Context = 1 << 8;
/// Forms, their elements, and invitations to register.
pub(super) const CONTROL: Context = 1 << 9;
/// Lists of other pages, advertisements, links to share the page.
pub(super) const RELATED: Context = 1 << 10;
pub(super) const MAIN: Context = 1 << 11;
pub(super) const ARTICLE: Context = 1 << 12;
/// The content or body of something.
pub(super) const BODY: Context = 1 << 13;
/// Dates, names of authors and the like.
pub(super) const DETAIL: Context = 1 << 14;
pub(super) const FIGURE: Context = 1 << 15;

/// The bits of elements around text that is seldom main text, and sometimes around a whole page.
/// Notices are not: a notice may be most of a page.
pub(super) const SECONDARY: Context =
    NAVIGATION | FOOTER | HEADER | ASIDE | COMMENT | CONTROL | RELATED | DETAIL;

/// The longest class word below.
const LONGEST_WORD: usize = 15;

/// The bits of an element with this name, in lower case, and these attributes; `class` is called
/// with the values of its classes.
pub(super) fn of_element(name: &[u8], attributes: &[u8], mut class: impl FnMut(&[u8])) -> Context {
    let mut context = of_name(name);
    for (attribute, value) in Attributes::new(attributes) {
        let is = |expected: &[u8]| attribute.eq_ignore_ascii_case(expected);
        // Classes of a whole page, such as `with-sidebar`, say nothing about a part of it.
        if is(b"class") && !matches!(name, b"body" | b"html") {
            class(value);
            context |= of_words(value);
        } else if is(b"id") && !matches!(name, b"body" | b"html") {
            context |= of_words(value);
        } else if is(b"role") {
            context |= of_role(value.trim_ascii());
        } else if is(b"itemprop") {
            context |= of_property(value.trim_ascii());
        }
    }
    context
}

fn of_name(name: &[u8]) -> Context {
    match name {
        b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => HEADING,
        b"li" => LIST,
        b"blockquote" => QUOTE,
        b"nav" | b"menu" => NAVIGATION,
        b"footer" => FOOTER,
        b"header" => HEADER,
        b"aside" => ASIDE,
        b"dialog" => NOTICE,
        b"form" | b"fieldset" | b"search" | b"button" | b"option" | b"select" | b"textarea"
        | b"legend" => CONTROL,
        b"main" => MAIN,
        b"article" => ARTICLE,
        b"figure" | b"figcaption" => FIGURE,
        _ => 0,
    }
}

fn of_role(role: &[u8]) -> Context {
    let is = |names: &[&str]| {
        let mut names = names.iter();
        names.any(|name| role.eq_ignore_ascii_case(name.as_bytes()))
    };
    if is(&["navigation", "menu", "menubar", "tablist"]) {
        NAVIGATION
    } else if is(&["main"]) {
        MAIN
    } else if is(&["contentinfo"]) {
        FOOTER
    } else if is(&["banner"]) {
        HEADER
    } else if is(&["complementary"]) {
        ASIDE
    } else if is(&["article"]) {
        ARTICLE
    } else if is(&["dialog", "alertdialog", "alert"]) {
        NOTICE
    } else if is(&["search", "form"]) {
        CONTROL
    } else {
        0
    }
}

fn of_property(property: &[u8]) -> Context {
    match property {
        b"articleBody" | b"text" | b"reviewBody" | b"description" => BODY,
        _ => 0,
    }
}

/// The bits of the words of classes and identifiers: `site-footer`, `postContent`.
fn of_words(value: &[u8]) -> Context {
    let mut context = 0;
    let mut word = [0; LONGEST_WORD];
    let mut length = 0;
    let mut previous = b' ';
    for &byte in value.iter().chain(b" ") {
        let begins_word = byte.is_ascii_uppercase() && previous.is_ascii_lowercase();
        previous = byte;
        if begins_word || !byte.is_ascii_alphabetic() {
            context |= word.get(..length).map_or(0, of_word);
            length = 0;
        }
        if byte.is_ascii_alphabetic() {
            if let Some(place) = word.get_mut(length) {
                *place = byte.to_ascii_lowercase();
            }
            length += 1;
        }
    }
    context
}

fn of_word(word: &[u8]) -> Context {
    match word {
        b"nav" | b"navbar" | b"navigation" | b"menu" | b"menus" | b"submenu" | b"breadcrumb"
        | b"breadcrumbs" | b"crumbs" | b"pagination" | b"pager" | b"topbar" | b"sitemap"
        | b"toc" | b"megamenu" | b"skip" | b"dropdown" | b"tabs" | b"offcanvas" | b"drawer" => {
            NAVIGATION
        }
        b"footer" | b"copyright" | b"legal" | b"colophon" | b"bottom" | b"foot" => FOOTER,
        b"sidebar" | b"side" | b"aside" | b"rail" | b"secondary" | b"complementary" => ASIDE,
        b"comment" | b"comments" | b"commentlist" | b"disqus" | b"respond" | b"reply"
        | b"replies" => COMMENT,
        b"cookie" | b"cookies" | b"consent" | b"gdpr" | b"ccpa" | b"onetrust" | b"privacy"
        | b"notice" | b"disclaimer" => NOTICE,
        b"newsletter" | b"subscribe" | b"subscription" | b"signup" | b"login" | b"signin"
        | b"register" | b"optin" | b"paywall" | b"popup" | b"modal" | b"overlay" | b"dialog"
        | b"form" | b"search" | b"cta" | b"cart" => CONTROL,
        b"share" | b"sharing" | b"social" | b"facebook" | b"twitter" | b"addtoany"
        | b"sharedaddy" | b"follow" | b"ad" | b"ads" | b"adsense" | b"advert"
        | b"advertisement" | b"advertising" | b"affiliate" | b"banner" | b"outbrain" | b"promo"
        | b"promotion" | b"sponsor" | b"sponsored" | b"taboola" | b"also" | b"latest" | b"more"
        | b"next" | b"popular" | b"prev" | b"previous" | b"readmore" | b"recent" | b"recommend"
        | b"recommended" | b"recommendations" | b"related" | b"similar" | b"suggested"
        | b"suggestions" | b"teaser" | b"teasers" | b"trending" | b"upsell" => RELATED,
        b"byline" | b"caption" | b"credit" | b"date" | b"info" | b"meta" | b"metadata"
        | b"time" | b"timestamp" => DETAIL,
        b"article" | b"blog" | b"entry" | b"hentry" | b"news" | b"post" | b"story" => ARTICLE,
        b"articlebody" | b"body" | b"content" | b"contents" | b"copy" | b"description"
        | b"markdown" | b"paragraph" | b"prose" | b"richtext" | b"rte" | b"text" | b"wysiwyg" => {
            BODY
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_roles_and_classes_are_found() {
        let cases: [(&str, &str, Context); 9] = [
            ("p", "", 0),
            ("footer", " id=x", FOOTER),
            ("div", " class='site-footer no2'", FOOTER),
            ("div", " CLASS=\"postContent\"", ARTICLE | BODY),
            ("div", " id=Cookie_Notice role=dialog", NOTICE),
            ("div", " class='navigational headernav'", 0),
            ("body", " class='with-sidebar' id=menu", 0),
            (
                "section",
                " role=' Main ' itemprop=articleBody",
                MAIN | BODY,
            ),
            ("li", " data-class=menu", LIST),
        ];
        for (name, attributes, expected) in cases {
            let found = of_element(name.as_bytes(), attributes.as_bytes(), |_| ());
            assert_eq!(found, expected, "{name}{attributes}");
        }
    }
}
