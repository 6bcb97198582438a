//! Charts of bars on an axis, upwards and perhaps downwards.

use super::escape::escape;

const WIDTH: f64 = 340.0;
const LEFT: f64 = 6.0;
const RIGHT: f64 = 334.0;
/// The space above the longest bar.
const TOP: f64 = 14.0;
/// The space of the numbers and of the name below the bars.
const BELOW: f64 = 30.0;
/// The length of the longest bar, if there are bars on one side and on both.
const LONGEST: [f64; 2] = [104.0, 66.0];
/// The least length of a bar, so that even a count of 1 is visible.
const SHORTEST: f64 = 1.5;

/// Counts in bins. Each side has a scale of its own.
pub(crate) struct BarChart<'a> {
    /// The prefix of the chart's ids in the page.
    pub id: &'a str,
    /// Its name, as text.
    pub name: &'a str,
    /// What it shows, in words, as text.
    pub description: &'a str,
    /// The lengths of the bars upwards and downwards.
    pub bins: &'a [[u64; 2]],
    /// Whether there are bars downwards.
    pub has_two_sides: bool,
    /// Numbers on the axis.
    pub ticks: &'a [Tick],
    /// The name of the axis, as text.
    pub axis: &'a str,
    /// The place of a dashed line, as a share of the width.
    pub threshold: Option<f64>,
}

/// A number on an axis.
pub(crate) struct Tick {
    /// Its place, as a share of the width.
    pub at: f64,
    /// The number, as text.
    pub label: String,
    /// `first` or `last` if it is at an end of the axis.
    pub class: &'static str,
}

impl Tick {
    /// The quarters from 0 to 1.
    pub(crate) fn quarters() -> Vec<Tick> {
        let ticks = [0.0, 0.25, 0.5, 0.75, 1.0].map(|at: f64| Tick {
            at,
            label: at.to_string(),
            class: match at {
                0.0 => "first",
                1.0 => "last",
                _ => "",
            },
        });
        ticks.into()
    }
}

impl BarChart<'_> {
    /// The drawing, with its name and description for screen readers.
    pub(crate) fn svg(&self) -> String {
        let (id, height) = (self.id, self.bottom() + BELOW);
        format!(
            "<svg role=\"img\" aria-labelledby=\"{id}-t {id}-d\" viewBox=\"0 0 {WIDTH} {height}\">\
             <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>\n{}{}{}</svg>\n",
            escape(self.name),
            escape(self.description),
            self.bars(),
            self.axis(),
            self.line(),
        )
    }

    fn longest(&self) -> f64 {
        LONGEST[usize::from(self.has_two_sides)]
    }

    /// The vertical position of the axis, from which bars extend.
    fn middle(&self) -> f64 {
        TOP + self.longest()
    }

    /// The end of the longest bar downwards.
    fn bottom(&self) -> f64 {
        match self.has_two_sides {
            true => self.middle() + self.longest(),
            false => self.middle(),
        }
    }

    fn edge(&self, bin: usize) -> f64 {
        LEFT + (RIGHT - LEFT) * bin as f64 / self.bins.len() as f64
    }

    fn bars(&self) -> String {
        let sides = ["near", "far"].into_iter().enumerate();
        let sides = sides.take(1 + usize::from(self.has_two_sides));
        let bars = sides.map(|(side, class)| {
            format!("<path class=\"{class}\" d=\"{}\"/>", self.outlines(side))
        });
        bars.collect()
    }

    fn outlines(&self, side: usize) -> String {
        let most = self.bins.iter().map(|bin| bin[side]).max().unwrap_or(0);
        let mut path = String::new();
        for (bin, counts) in self.bins.iter().enumerate() {
            if counts[side] == 0 {
                continue;
            }
            let (from, to) = (self.edge(bin), self.edge(bin + 1));
            let gap = if to - from > 4.0 { 0.75 } else { 0.0 };
            let length = (self.longest() * counts[side] as f64 / most as f64).max(SHORTEST);
            let (start, end) = match side {
                0 => (self.middle() - 0.5, -length),
                _ => (self.middle() + 0.5, length),
            };
            path += &format!(
                "M{:.1} {start}v{end:.1}h{:.1}v{:.1}z",
                from + gap,
                to - from - 2.0 * gap,
                -end
            );
        }
        path
    }

    fn axis(&self) -> String {
        let below = self.bottom() + 14.0;
        let mut html = format!(
            "<path class=\"axis\" d=\"M{LEFT} {}H{RIGHT}\"/><g class=\"ticks\">",
            self.middle()
        );
        for Tick { at, label, class } in self.ticks {
            let x = LEFT + (RIGHT - LEFT) * at;
            let class = match *class {
                "" => String::new(),
                class => format!(" class=\"{class}\""),
            };
            let label = escape(label);
            html += &format!("<text x=\"{x:.1}\" y=\"{below}\"{class}>{label}</text>");
        }
        html + &format!(
            "<text x=\"{}\" y=\"{}\" class=\"name\">{}</text></g>",
            (LEFT + RIGHT) / 2.0,
            below + 14.0,
            escape(self.axis),
        )
    }

    fn line(&self) -> String {
        self.threshold.map_or(String::new(), |share| {
            let x = LEFT + (RIGHT - LEFT) * share.clamp(0.0, 1.0);
            let end = self.bottom();
            format!("<path class=\"threshold\" d=\"M{x:.1} 4V{end}\"/>")
        })
    }
}
