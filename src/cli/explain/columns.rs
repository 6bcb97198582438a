//! Two columns of text, in which shared text is in the same row.

use unicode_width::UnicodeWidthStr;

use super::marks::{Marks, TokenStyle};

/// The separator of the columns.
const BORDER: &str = " │ ";
const BORDER_COLUMNS: usize = 3;

/// The current line, and finished lines that are not written yet.
#[derive(Default)]
struct Column {
    full: Vec<StyledLine>,
    line: StyledLine,
}

/// Runs of text, each with its style.
#[derive(Default)]
struct StyledLine {
    runs: Vec<(TokenStyle, String)>,
    columns: usize,
}

/// Text to write, preceded by a space unless it begins a line.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'t> {
    /// The text, without characters that control a terminal.
    pub text: &'t str,
    /// Whether a space precedes it.
    pub space: bool,
    /// The style.
    pub style: TokenStyle,
}

/// Two columns side by side.
pub struct Columns {
    sides: [Column; 2],
    width: usize,
    marks: Marks,
    out: String,
}

impl Columns {
    /// Columns with `width` terminal columns in all, at least 20.
    pub fn new(width: usize, marks: Marks) -> Columns {
        Columns {
            sides: Default::default(),
            width: (width - BORDER_COLUMNS) / 2,
            marks,
            out: String::new(),
        }
    }

    /// Adds text to both sides, in the same row.
    pub fn both(&mut self, pieces: [Piece<'_>; 2]) {
        self.level();
        let parts = pieces.map(|piece| self.cut(piece));
        let both = parts[0].len().min(parts[1].len());
        for (a, b) in parts[0].iter().zip(&parts[1]) {
            let fits = self.fits(0, *a) && self.fits(1, *b);
            if !fits {
                self.end_row();
            }
            self.put(0, *a);
            self.put(1, *b);
        }
        // Lower case may be wider than upper case.
        for (side, parts) in parts.iter().enumerate() {
            for part in &parts[both..] {
                self.one(side, *part);
            }
        }
    }

    /// Adds text to one side.
    pub fn one(&mut self, side: usize, piece: Piece<'_>) {
        for part in self.cut(piece) {
            if !self.fits(side, part) {
                self.wrap(side);
            }
            self.put(side, part);
        }
    }

    /// Ends the line of one side, unless it is empty.
    pub fn wrap(&mut self, side: usize) {
        let column = &mut self.sides[side];
        if !column.line.runs.is_empty() {
            column.full.push(std::mem::take(&mut column.line));
        }
    }

    /// Ends the row of both sides, and writes all finished lines.
    pub fn end_row(&mut self) {
        (0..2).for_each(|side| self.wrap(side));
        let [a, b] = &mut self.sides;
        let (a, b) = (std::mem::take(&mut a.full), std::mem::take(&mut b.full));
        let mut sides = (a.into_iter(), b.into_iter());
        loop {
            let row = (sides.0.next(), sides.1.next());
            if let (None, None) = row {
                return;
            }
            self.write(&row.0.unwrap_or_default(), &row.1.unwrap_or_default());
        }
    }

    /// Writes a line across both columns, centred.
    pub fn across(&mut self, text: &str) {
        self.end_row();
        let all = 2 * self.width + BORDER_COLUMNS;
        let indent = all.saturating_sub(text.width()) / 2;
        self.out.push_str(&" ".repeat(indent));
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// The written text.
    pub fn finish(mut self) -> String {
        self.end_row();
        self.out
    }

    /// Makes the next text begin in the same row on both sides.
    fn level(&mut self) {
        let lines = [0, 1].map(|side| self.sides[side].full.len());
        let most = lines[0].max(lines[1]);
        for side in &mut self.sides {
            if side.full.len() < most {
                side.full.push(std::mem::take(&mut side.line));
                side.full.resize_with(most, StyledLine::default);
            }
        }
    }

    /// Splits a text into pieces that are not wider than a line.
    fn cut<'t>(&self, piece: Piece<'t>) -> Vec<Piece<'t>> {
        let most = self.width - self.marks.columns(piece.style);
        if piece.text.width() <= most {
            return vec![piece];
        }
        let (mut parts, mut begin, mut columns) = (Vec::new(), 0, 0);
        for (place, character) in piece.text.char_indices() {
            let more = character.encode_utf8(&mut [0; 4]).width();
            if columns + more > most {
                parts.push(begin..place);
                (begin, columns) = (place, 0);
            }
            columns += more;
        }
        parts.push(begin..piece.text.len());
        let part = |(number, range)| Piece {
            text: &piece.text[range],
            space: piece.space && number == 0,
            ..piece
        };
        parts.into_iter().enumerate().map(part).collect()
    }

    /// The width of a piece at the end of the line.
    fn columns(&self, side: usize, piece: Piece<'_>) -> usize {
        let line = &self.sides[side].line;
        let last = line.runs.last();
        let marks = match last.is_some_and(|(style, _)| *style == piece.style) {
            true => 0,
            false => self.marks.columns(piece.style),
        };
        let space = usize::from(piece.space && last.is_some());
        space + marks + piece.text.width()
    }

    fn fits(&self, side: usize, piece: Piece<'_>) -> bool {
        let line = &self.sides[side].line;
        line.runs.is_empty() || line.columns + self.columns(side, piece) <= self.width
    }

    fn put(&mut self, side: usize, piece: Piece<'_>) {
        let columns = self.columns(side, piece);
        let line = &mut self.sides[side].line;
        line.columns += columns;
        let space = if piece.space && !line.runs.is_empty() {
            " "
        } else {
            ""
        };
        match line.runs.last_mut() {
            Some((style, text)) if *style == piece.style => {
                text.push_str(space);
                text.push_str(piece.text);
            }
            // Marks enclose words; the space before them is outside.
            last => {
                if let Some((_, text)) = last {
                    text.push_str(space);
                }
                line.runs.push((piece.style, piece.text.to_owned()));
            }
        }
    }

    fn write(&mut self, a: &StyledLine, b: &StyledLine) {
        self.write_line(a);
        self.out
            .push_str(&" ".repeat(self.width.saturating_sub(a.columns)));
        self.out.push_str(BORDER);
        self.write_line(b);
        let end = self.out.trim_end_matches(' ').len();
        self.out.truncate(end);
        self.out.push('\n');
    }

    fn write_line(&mut self, line: &StyledLine) {
        for (style, text) in &line.runs {
            let [before, behind] = self.marks.around(*style);
            let words = text.trim_end_matches(' ');
            self.out.push_str(before);
            self.out.push_str(words);
            self.out.push_str(behind);
            self.out.push_str(&text[words.len()..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::marks::Side;
    use super::*;

    fn piece(text: &str, style: TokenStyle) -> Piece<'_> {
        Piece {
            text,
            space: true,
            style,
        }
    }

    fn both(columns: &mut Columns, text: &str) {
        for word in text.split(' ') {
            columns.both([piece(word, TokenStyle::Shared); 2]);
        }
    }

    #[test]
    fn shared_text_is_side_by_side() {
        let mut columns = Columns::new(31, Marks::Brackets);
        both(&mut columns, "one two three");
        for word in ["left", "only"] {
            columns.one(0, piece(word, TokenStyle::Only(Side::A)));
        }
        both(&mut columns, "four 中文 five");
        columns.across("… 9 words …");
        columns.one(1, piece("more", TokenStyle::Only(Side::B)));
        let expected = "\
one two three  │ one two three
[-left only-]  │ four 中文 five
four 中文 five │
";
        let found = columns.finish();
        assert!(
            found.ends_with("          … 9 words …\n               │ {+more+}\n"),
            "{found}"
        );
        let aligned: Vec<&str> = found.lines().take(3).collect();
        assert_eq!(aligned[0], expected.lines().next().unwrap());
        for line in found.lines().filter(|line| line.contains('│')) {
            assert_eq!(line.split('│').next().unwrap().width(), 15, "{found}");
        }
    }

    #[test]
    fn no_line_is_wider_than_requested() {
        for width in [20, 21, 40] {
            for style in [
                TokenStyle::Shared,
                TokenStyle::Only(Side::A),
                TokenStyle::Elsewhere,
            ] {
                let mut columns = Columns::new(width, Marks::Brackets);
                for text in ["x", &"y".repeat(99), &"字".repeat(50), "z", ""] {
                    columns.one(0, piece(text, style));
                    columns.one(1, piece(text, style));
                }
                both(&mut columns, &"long".repeat(20));
                let found = columns.finish();
                assert!(found.lines().all(|line| line.width() <= width), "{found}");
            }
        }
    }
}
