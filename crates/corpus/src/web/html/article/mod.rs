//! The article of a page, found in its tree by dom_smoothie, a port of Mozilla's Readability.

mod article_text;
mod main_element;
mod readability;
mod work;

pub(super) use article_text::article_text;
