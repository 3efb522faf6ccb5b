// A row of words with bars over them, and how words are written in a sentence about them.

import { make, percent } from "./elements.mjs";

export const shown = (word) => (word === "<unk>" ? "?" : word);
export const quoted = (word) => make("q", {}, shown(word));
export const asRead = (word, lang) => make("q", { lang }, word); // a word that the model reads

// "Lehrer 93%, alte 4%"
export function strongest(weights, words) {
  return Array.from(weights, (weight, at) => [weight, words[at]])
    .sort((a, b) => b[0] - a[0])
    .slice(0, 2)
    .filter(([weight], at) => !at || weight >= 0.05)
    .map(([weight, word]) => `${shown(word)} ${percent(weight)}`)
    .join(", ");
}

// Each word is a button: pointed at, touched or focused, it calls `highlight(index)`. Tab reaches the row, the
// arrows move in it.
export class WordRow {
  constructor({ label, lang, highlight, say }) {
    Object.assign(this, { highlight, say });
    this.buttons = [];
    this.element = make("div", { class: "live-words", role: "group", "aria-label": label, lang });
    this.element.addEventListener("keydown", (event) => this.move(event));
    for (const kind of ["pointerover", "focusin", "click"]) this.element.addEventListener(kind, (event) => this.point(event));
  }

  point(event) {
    const at = this.buttons.indexOf(event.target.closest(".live-word"));
    if (at < 0) return;
    this.stop(at);
    this.highlight(at);
  }

  // The word that Tab comes to.
  stop(at) {
    this.buttons.forEach((button, number) => (button.tabIndex = number === at ? 0 : -1));
  }

  move(event) {
    const last = this.buttons.length - 1;
    const at = this.buttons.indexOf(event.target.closest(".live-word"));
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.buttons[Math.min(Math.max(to, 0), last)].focus();
  }

  clear() {
    this.buttons = [];
    this.element.replaceChildren();
  }

  // `gloss` is English, `note` in the page's language: what stands under the word.
  add(word, { gloss, note, kind = "" } = {}) {
    const under = note ?? gloss;
    const button = make(
      "button",
      { type: "button", class: `live-word ${kind}`, tabindex: this.buttons.length ? -1 : 0 },
      make("span", { class: "live-bar", "aria-hidden": "true" }, make("i")),
      make("span", { class: "live-text" }, shown(word)),
      " ",
      under === undefined ? null : make("span", { class: "live-gloss", lang: note === undefined ? "en" : this.say.code }, under || "\u00a0"),
      make("span", { class: "live-hidden live-more", lang: this.say.code }),
    );
    if (word === "<unk>") button.title = this.say("unknown_word");
    this.buttons.push(button);
    this.element.append(button);
  }

  // What a screen reader says after the word.
  tell(at, text) {
    this.buttons[at].querySelector(".live-more").textContent = `, ${text}`;
  }

  // Bars of these weights; none at all without them.
  bars(weights, lit = -1) {
    this.buttons.forEach((button, at) => {
      const weight = weights?.[at] ?? 0;
      button.style.setProperty("--w", weight.toFixed(4));
      button.classList.toggle("strong", weight >= 0.1);
      button.classList.toggle("lit", at === lit);
      button.querySelector("i").dataset.share = weight >= 0.1 ? percent(weight) : "";
    });
  }
}
