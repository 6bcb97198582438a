"""Plain text of manual pages (roff), HTML and pod, as far as an experiment needs it."""

import re
from html.parser import HTMLParser

# Macros whose arguments are text of the paragraph (man and mdoc).
INLINE = set("B I BR RB BI IB IR RI SM SB Nm Fl Ar Xr Em Sy Li Pa Cm Va Ev Dq Ql Nd Op".split())
# Macros that begin a new paragraph.
BREAKS = set("PP P LP TP IP HP sp br Pp It Bl El Bd Ed RS RE fi nf TS TE in".split())
HEADINGS = set("SH SS Sh Ss".split())
ESCAPES = [
    (re.compile(r'\\".*'), ""),
    (re.compile(r"\\f(\[[^\]]*\]|\(..|.)"), ""),
    (re.compile(r"\\s[-+]?\d+"), ""),
    (re.compile(r"\\\(a?[oa]q|\\\(dq"), "'"),
    (re.compile(r"\\\((em|en)|\\-"), "-"),
    (re.compile(r"\\\*(\[[^\]]*\]|\(..|.)|\\\[[^\]]*\]|\\\(.."), ""),
    (re.compile(r"\\[&|^c%/,:)]"), ""),
    (re.compile(r"\\[ ~0]"), " "),
    (re.compile(r"\\e"), "\\\\"),
]
WIDE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"


def roff(source):
    """Paragraphs a line; a page that only names another (.so) is empty."""
    paragraphs, words, definition, table = [], [], False, False
    for line in [*source.split("\n"), ".PP"]:
        if definition:
            definition = not line.startswith("..")
            continue
        if not line.startswith((".", "'")):
            if table:
                table = not line.rstrip().endswith(".")
            elif line.strip():
                words.append(line.strip())
            else:
                flush(paragraphs, words)
            continue
        macro, _, rest = line[1:].strip().partition(" ")
        if macro in INLINE:
            words.append(rest.replace('"', ""))
        elif macro in HEADINGS or macro in BREAKS:
            flush(paragraphs, words)
            if macro in HEADINGS or macro == "IP":
                words.append(rest.replace('"', ""))
                flush(paragraphs, words)
            table = macro == "TS"
        definition = macro in ("de", "ig")
    return "\n".join(paragraphs)


def flush(paragraphs, words):
    """Ends a paragraph. Lines of Chinese are joined without a space."""
    text = " ".join(words)
    words.clear()
    for pattern, instead in ESCAPES:
        text = pattern.sub(instead, text)
    text = re.sub(f"(?<=[{WIDE}]) (?=[{WIDE}])", "", text.replace("\t", " "))
    if text := " ".join(text.split()):
        paragraphs.append(text)


class Visible(HTMLParser):
    """What a browser shows, menus and footers too; a block a line."""

    HIDDEN = {"script", "style", "head"}
    BLOCKS = set("p div li ul ol dl dt dd h1 h2 h3 h4 h5 h6 tr table pre br section hr".split())

    def __init__(self):
        super().__init__()
        self.pieces, self.hidden = [], 0

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in self.HIDDEN
        if tag in self.BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag):
        self.hidden -= tag in self.HIDDEN and self.hidden > 0
        if tag in self.BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data):
        if not self.hidden:
            self.pieces.append(data)


def html(source):
    parser = Visible()
    parser.feed(source)
    return tidy("".join(parser.pieces))


def pod(source):
    """Without commands (=head1 and the like) and the codes of fonts and links."""
    lines = [line for line in source.split("\n") if not line.startswith("=")]
    return tidy(re.sub(r"[A-Z]<+\s?|\s?>+", "", "\n".join(lines)))


def tidy(text):
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
