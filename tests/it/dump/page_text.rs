//! The tables of `page.html`, read by a simple parser.

use std::fs;
use std::path::Path;

/// A page, with methods for its parts.
pub struct PageText(pub String);

impl PageText {
    pub fn read(out: &Path) -> PageText {
        PageText(fs::read_to_string(out.join("page.html")).unwrap())
    }

    /// The rows of the table with this caption; of each cell, the texts between tags.
    pub fn table(&self, caption: &str) -> Vec<Vec<Vec<String>>> {
        let begin = format!("<caption>{caption}</caption>");
        let Some((_, table)) = self.0.split_once(&begin) else {
            return Vec::new();
        };
        let (table, _) = table.split_once("</table>").unwrap();
        let (_, body) = table.split_once("<tbody>").unwrap();
        let rows = body.split("<tr>").skip(1);
        rows.map(|row| {
            let cells = row.replace("<td", "<th");
            let cells = cells.split("<th").skip(1);
            // The rest of the first tag is cut off.
            cells
                .map(|cell| texts(cell.split_once('>').unwrap().1))
                .collect()
        })
        .collect()
    }

    /// The number that begins a cell of the table: (first text of the row, numbers).
    pub fn counts(&self, caption: &str) -> Vec<(String, Vec<u64>)> {
        let rows = self.table(caption).into_iter();
        rows.map(|row| {
            let numbers = row[1..].iter().map(|cell| number(&cell[0]));
            (row[0][0].clone(), numbers.collect())
        })
        .collect()
    }

    /// The part of the page from the section `id` to the next one.
    pub fn section(&self, id: &str) -> &str {
        let begin = format!("<section id=\"{id}\"");
        let Some((_, section)) = self.0.split_once(&begin) else {
            return "";
        };
        let end = section.find("<section id=").unwrap_or(section.len());
        &section[..end]
    }
}

/// The texts between tags, without references.
pub fn texts(html: &str) -> Vec<String> {
    let pieces = html
        .split('<')
        .map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    pieces
        .map(|text| {
            [
                ("&lt;", "<"),
                ("&gt;", ">"),
                ("&quot;", "\""),
                ("&#39;", "'"),
                ("&amp;", "&"),
            ]
            .iter()
            .fold(text.to_owned(), |text, (reference, sign)| {
                text.replace(reference, sign)
            })
        })
        .filter(|text| !text.trim().is_empty())
        .collect()
}

/// A number with spaces between thousands; of a missing or other number, the maximum.
pub fn number(text: &str) -> u64 {
    let digits: String = text.chars().filter(|c| *c != '\u{202f}').collect();
    digits.parse().unwrap_or(u64::MAX)
}
