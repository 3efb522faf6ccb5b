// How many of the reference's words each model found, as a sentence grows.

import { make, percent } from "./elements.mjs";
import { countWords } from "./sentence.mjs";

// As `attnmt.book.figures.colours` has them.
const SYSTEMS = { rnnencdec: "#d08300", rnnsearch: "#0173b2", dot: "#029e73", "dot + feed": "#d55e00" };
const colourOf = ({ model, score, feeding }) => SYSTEMS[model] ?? SYSTEMS[score + (feeding ? " + feed" : "")];

export class Growth {
  constructor({ cards, language, say }) {
    Object.assign(this, { cards, language, say, visited: new Map() });
    this.element = make("div", { class: "live-growth" });
  }

  forget() {
    this.visited.clear();
    this.element.replaceChildren();
  }

  // One more sentence with the shares that were found; one of another chain begins anew. `grown`: it
  // is the reader's own, and part of it was there before.
  add(entry, words, shares, grown) {
    const { say } = this;
    if (!grown && (!entry.chain || entry.chain !== this.chain)) this.visited.clear();
    this.chain = entry.chain;
    this.visited.set(entry.de, { entry, shares, length: countWords(words) });
    const rows = [...this.visited.values()].sort((a, b) => a.length - b.length);
    const bar = (share, at) => {
      const cell = make("td", {}, make("span", { class: "live-share" }, make("i")), ` ${percent(share)}`);
      cell.style.setProperty("--w", share.toFixed(3));
      cell.style.setProperty("--system", colourOf(this.cards[at].model.config) ?? "var(--accent)");
      return cell;
    };
    const line = (row) => make("tr", {}, make("th", { scope: "row" }, String(row.length)), row.shares.map(bar));
    const titles = this.cards.map((card) => card.title.textContent);
    const names = new Set(titles).size === titles.length ? titles : this.cards.map((card) => card.about.name);
    const heads = [say("growth_words", { language: this.language }), ...names];
    this.element.replaceChildren(
      make("p", { class: "live-title" }, say("growth"), make("small", {}, " ", say("growth_share"))),
      make("table", {}, make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, rows.map(line))),
      rows.length === 1 ? make("p", { class: "live-hint" }, say("press_longer")) : "",
    );
  }
}
