//! Two texts side by side.

/// A text and its name, as HTML.
pub(crate) struct Side {
    /// The name.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Two texts side by side, below a paragraph `what` about both, which is HTML.
pub(crate) fn pair(what: &str, sides: &[Side; 2]) -> String {
    let mut html = format!("<article class=\"pair\"><p class=\"what\">{what}</p>\n");
    for Side { name, text } in sides {
        html += &format!(
            "<section class=\"side\"><h4>{name}</h4><div class=\"text\" dir=\"auto\">{text}</div></section>\n"
        );
    }
    html + "</article>\n"
}
