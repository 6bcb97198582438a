"use strict";
// Puts a button into each head of a sortable table; without this script the table is as it was.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      // Methods begin in their order, numbers with the largest.
      const first = column === 0 ? "ascending" : "descending";
      const second = column === 0 ? "descending" : "ascending";
      const now = before === first ? second : first;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", now);
      const value = (row) => {
        const text = row.cells[column].dataset.sort;
        return text === undefined ? NaN : Number(text);
      };
      const sign = now === "ascending" ? 1 : -1;
      const rows = Array.from(body.rows);
      rows.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        // What has no number stays at the end.
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
        return sign * (x - y);
      });
      body.append(...rows);
    });
  });
}
