// A matrix of weights as a table: a row for each word written, a column for each word read. The same frame,
// angle and colours as `attnmt.book.figures.plots.alignment`.

import { make, percent } from "./elements.mjs";

export class Matrix {
  // `highlight(row, column)` hears of the cell that is pointed at; -1 is a word at the edge.
  constructor({ label, highlight }) {
    this.body = make("tbody");
    this.head = make("tr");
    this.caption = make("caption", { class: "live-hidden" });
    const table = make("table", { class: "live-grid" }, this.caption, make("thead", {}, this.head), this.body);
    this.element = make("div", { class: "live-scroll", tabindex: 0, role: "region", "aria-label": label }, table);
    this.element.addEventListener("scroll", () => this.fade());
    new ResizeObserver(() => this.fade()).observe(this.element);
    if (!highlight) return;
    const point = (event) => {
      const cell = event.target.closest("td, th[scope]");
      if (!cell) return;
      const { parentElement: line } = cell;
      highlight(line.parentElement === this.body ? line.rowIndex - 1 : -1, cell.cellIndex - 1);
    };
    table.addEventListener("pointerover", point);
    table.addEventListener("click", point);
  }

  // Whether there is more at the right: then its edge is faint.
  fade() {
    const { scrollLeft, clientWidth, scrollWidth } = this.element;
    this.element.classList.toggle("more", scrollLeft + clientWidth < scrollWidth - 2);
  }

  // The columns; rows go. `kinds`: a class for each column.
  begin(words, { caption, lang, kinds = [] }) {
    this.caption.textContent = caption;
    const head = (word, s) => make("th", { scope: "col", lang, class: kinds[s] }, make("span", {}, word));
    this.head.replaceChildren(make("td"), ...words.map(head));
    this.body.replaceChildren();
    this.element.style.setProperty("--columns", words.length);
  }

  // One more row; `kind(s)` is the class of a cell.
  add(word, weights, kind = () => "") {
    const cell = (_, s) => make("td", { class: kind(s) }, make("span", { class: "live-hidden" }));
    const row = make("tr", {}, make("th", { scope: "row" }, make("span", {}, word)), Array.from(weights, cell));
    this.body.append(row);
    this.fill(row, weights);
    if (this.body.rows.length === 1) this.fade();
    return row;
  }

  fill(row, weights) {
    weights.forEach((weight, s) => {
      const cell = row.cells[s + 1];
      cell.style.setProperty("--w", weight.toFixed(4));
      cell.firstChild.textContent = percent(weight);
    });
  }

  // The centre p of a window over a row.
  centre(row, p) {
    const at = Math.min(Math.max(Math.floor(p + 0.5), 0), row.cells.length - 2);
    const dot = make("b", { class: "live-centre", title: `p = ${p.toFixed(1)}` });
    dot.style.setProperty("--at", Math.min(Math.max(p - at + 0.5, 0), 1).toFixed(2));
    row.cells[at + 1].append(dot);
  }

  mark(row, column) {
    [...this.body.rows].forEach((line, at) => line.classList.toggle("lit", at === row));
    [...this.head.cells].forEach((cell, at) => cell.classList.toggle("lit", at - 1 === column));
  }
}
