//! A whole page: head, policy, title, links to the sections, sections, notes.

use super::escape::escape;

/// A self-contained page. Parts that are not text are HTML.
pub(crate) struct HtmlPage<'a> {
    /// The title, as text.
    pub title: &'a str,
    /// The style, and perhaps a script.
    pub assets: Assets,
    /// The first paragraphs.
    pub lead: &'a str,
    /// Further facts by name, as text.
    pub facts: &'a [(String, String)],
    /// The sections; those without a body are left out.
    pub sections: &'a [Section],
    /// The last paragraphs.
    pub notes: &'a str,
}

/// The style and the script of a page, with their SHA-256 in Base64; the page allows no others.
#[derive(Clone, Copy)]
pub(crate) struct Assets {
    /// The style.
    pub style: &'static str,
    /// Its hash.
    pub style_hash: &'static str,
    /// The script and its hash.
    pub script: Option<(&'static str, &'static str)>,
}

/// A section of a page.
pub(crate) struct Section {
    /// Its id in the page.
    pub id: &'static str,
    /// Its heading, as HTML.
    pub name: &'static str,
    /// Its contents.
    pub body: String,
}

impl HtmlPage<'_> {
    /// The page in UTF-8. Deterministic.
    pub(crate) fn html(&self) -> Vec<u8> {
        let Assets {
            style,
            style_hash,
            script,
        } = self.assets;
        let title = escape(self.title);
        let sections = self.sections.iter();
        let sections: Vec<&Section> = sections
            .filter(|section| !section.body.is_empty())
            .collect();
        let first = sections.first().map_or("", |section| section.id);
        let links: String = (sections.iter())
            .map(|Section { id, name, .. }| format!("<li><a href=\"#{id}\">{name}</a></li>"))
            .collect();
        let bodies: String = (sections.iter())
            .map(|Section { id, name, body }| {
                format!(
                    "<section id=\"{id}\" aria-labelledby=\"{id}-h\">\n\
                     <h2 id=\"{id}-h\">{name}</h2>\n{body}</section>\n"
                )
            })
            .collect();
        let (allowed, script) = match script {
            Some((script, hash)) => (
                format!(" script-src 'sha256-{hash}';"),
                format!("<script>{script}</script>\n"),
            ),
            None => (String::new(), String::new()),
        };
        let page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'sha256-{style_hash}';{allowed} base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#{first}\">Skip to the results</a>\n\
             <header>\n<h1>{title}</h1>\n{lead}{facts}</header>\n\
             <nav aria-label=\"Sections\"><ul>{links}</ul></nav>\n<main>\n{bodies}</main>\n\
             <footer>{notes}</footer>\n{script}</body>\n</html>\n",
            lead = self.lead,
            facts = self.facts(),
            notes = self.notes,
        );
        page.into_bytes()
    }

    fn facts(&self) -> String {
        if self.facts.is_empty() {
            return String::new();
        }
        let facts = self.facts.iter().map(|(name, value)| {
            format!(
                "<div><dt>{}</dt><dd>{}</dd></div>\n",
                escape(name),
                escape(value)
            )
        });
        format!("<dl class=\"facts\">\n{}</dl>\n", facts.collect::<String>())
    }
}
