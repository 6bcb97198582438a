//! Sortable tables.

use super::escape::escape;

/// A cell: its HTML and its sort key.
pub(crate) struct Cell {
    pub(crate) html: String,
    pub(crate) sort: Option<f64>,
    /// The CSS class.
    pub(crate) class: String,
}

impl Cell {
    pub(crate) fn new(html: String, sort: Option<f64>) -> Cell {
        Cell {
            html,
            sort,
            class: String::new(),
        }
    }

    /// Sets the CSS class.
    pub(crate) fn with_class(self, class: String) -> Cell {
        Cell { class, ..self }
    }

    /// A number with a note in small print.
    pub(crate) fn number(number: String, small: &str, sort: Option<f64>) -> Cell {
        let html = match small {
            "" => number,
            _ => format!("{number}<small>{small}</small>"),
        };
        Cell::new(html, sort)
    }
}

/// A table in a frame that scrolls horizontally; the first cell of a row is its header.
///
/// `label` and `header` are text, escaped here. Sorted by the page's script if `sortable`.
pub(crate) fn table(label: &str, header: &[String], rows: &[Vec<Cell>], sortable: bool) -> String {
    let label = escape(label);
    let sortable = if sortable { " class=\"sortable\"" } else { "" };
    let mut html = format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{label}\" tabindex=\"0\">\n\
         <table{sortable}>\n<caption>{label}</caption>\n<thead><tr>"
    );
    for name in header {
        html += &format!("<th scope=\"col\">{}</th>", escape(name));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in rows {
        html += "<tr>";
        for (column, cell) in row.iter().enumerate() {
            let sort = cell
                .sort
                .map_or(String::new(), |sort| format!(" data-sort=\"{sort}\""));
            let class = match &cell.class[..] {
                "" => String::new(),
                class => format!(" class=\"{class}\""),
            };
            html += &match column {
                0 => format!("<th scope=\"row\"{class}{sort}>{}</th>", cell.html),
                _ => format!("<td{class}{sort}>{}</td>", cell.html),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n</div>\n"
}
