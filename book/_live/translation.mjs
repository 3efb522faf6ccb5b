// A whole sentence, translated by one model or by two side by side, and where they looked.

import { Card } from "./card.mjs";
import { Chooser } from "./chooser.mjs";
import { largest, make, percent } from "./elements.mjs";
import { Growth } from "./growth.mjs";
import { Matrix } from "./matrix.mjs";
import { languagesOf } from "./names.mjs";
import { columns, isWord, readSentence } from "./sentence.mjs";
import { WordRow, asRead, quoted, shown, strongest } from "./word_row.mjs";

const MOST_RANDOM = 16; // words of a random sentence

export class Translation {
  constructor({ models, sentences, first, mode, say }) {
    Object.assign(this, { sentences, mode, say, turn: 0 });
    this.cards = models.map((model) => {
      const card = new Card({ model, say, withVector: mode === "pair", highlight: (at) => this.highlightTarget(card, at) });
      return card;
    });
    if (new Set(models.map(({ config }) => Boolean(config.feeding))).size === 2) this.cards.forEach((card) => card.nameByFeeding());
    this.lookers = this.cards.filter((card) => card.model.attends);
    [this.looker] = this.lookers;
    this.languages = languagesOf(models[0], say);
    const { source, target, from } = this.languages;
    this.chooser = new Chooser({
      model: models[0], sentences, first, say, most: MOST_RANDOM, longer: true,
      changed: (entry) => this.translate(entry),
    });
    this.source = new WordRow({ label: say("by_word", { language: source }), lang: from, highlight: (at) => this.highlightSource(at), say });
    this.summary = make("p", { class: "live-say" });
    this.spoken = make("p", { class: "live-hidden", "aria-live": "polite" });
    this.reference = make("p", { class: "live-reference" });
    this.growth = new Growth({ cards: this.cards, language: source, say });
    const matrices = this.lookers.map((card) => {
      const highlight = (row, column) => (row >= 0 ? this.highlightTarget(card, row) : this.highlightSource(column));
      card.matrix = new Matrix({ label: say("table_of", { name: card.about.name }), highlight });
      const key = mode === "pair" ? "looked_pair" : "looked";
      const title = this.lookers.length > 1 ? say("looked_each", { name: card.about.name }) : say(key);
      const rows = make("small", {}, say("rows", { language: target }));
      return make("div", { class: "live-alignment" }, make("p", { class: "live-title" }, title, " ", rows), card.matrix.element);
    });
    this.element = make(
      "div",
      { class: `live-view ${mode}` },
      this.chooser.element,
      make("div", { class: "live-watch" }, this.source.element, this.summary),
      make("div", { class: "live-cards" }, this.cards.map((card) => card.element)),
      this.reference,
      mode === "pair" ? this.growth.element : null,
      matrices.length ? make("div", { class: "live-cards" }, matrices) : null,
      this.spoken,
    );
    this.element.addEventListener("pointerleave", () => this.settle());
  }

  // --- translating

  async translate(entry) {
    const turn = ++this.turn;
    const stale = () => turn !== this.turn;
    const read = readSentence(entry.de, this.cards[0].model, this.sentences);
    const good = this.chooser.tell(read);
    this.element.classList.toggle("live-empty", !good); // what was there keeps its room, unseen
    this.element.style.minHeight = good ? "" : `${this.height ?? 0}px`; // and so do the lines of the field
    if (!good) {
      this.spoken.textContent = "";
      return;
    }
    this.read = read;
    this.wordless = false;
    this.source.clear();
    this.reference.textContent = "";
    this.summary.textContent = this.say("writing");
    this.drawSource(read);
    const { source, target, from } = this.languages;
    for (const { matrix, about } of this.lookers)
      matrix.begin(read.words, { caption: this.say("caption", { name: about.name, source, target }), lang: from });
    performance.mark("live-asked");
    let first = true;
    const seen = (card, at) => {
      if (first) performance.mark("live-first-word");
      first = false;
      card.show(at);
      if (card.matrix) this.addRow(card.matrix, card.steps[at]);
      if (card === this.looker) this.source.bars(card.steps[at].align);
    };
    const results = await Promise.all(this.cards.map((card) => card.run(read.words, stale, seen)));
    if (results.includes(null) || stale()) return;
    performance.mark("live-done");
    this.finish(entry);
  }

  drawSource({ words, unknown, added }) {
    words.forEach((word, at) => {
      const gloss = isWord(word) ? (this.sentences.glosses?.[word] ?? "") : "";
      const last = added && at === words.length - 1;
      const note = unknown.has(at) ? this.say("not_known") : last ? this.say("added") : undefined;
      this.source.add(word, { gloss, note, kind: unknown.has(at) ? "unknown" : "" });
    });
  }

  addRow(matrix, { word, align, window }) {
    const row = matrix.add(shown(word), align, (s) => (window && (s < window.first || s > window.last) ? "outside" : ""));
    if (window) matrix.centre(row, window.p);
  }

  finish(entry) {
    const { say, cards } = this;
    if (entry.en) this.reference.append(make("b", {}, say("reference")), make("span", { lang: this.languages.to }, entry.en));
    if (cards.some((card) => card.steps.some((step) => step.word === "<unk>")))
      this.reference.append(make("span", { class: "live-unk" }, say("unknown_mark")));
    const shares = cards.map((card) => card.judge(entry.reference));
    this.wordless = cards.every((card) => !card.steps.length);
    this.rest = this.looker ? farthest(this.looker.steps) : 0;
    if (cards.length > 1) this.lineUp();
    this.settle();
    this.label();
    if (entry.reference) this.growth.add(entry, this.read.words, shares, this.chooser.trail.length > 0);
    else this.growth.forget();
    this.spoken.textContent = cards.map((card) => `${card.about.name}: ${card.steps.map((step) => shown(step.word)).join(" ")}`).join(". ");
    this.height = this.element.offsetHeight;
    this.element.dataset.done = String(this.turn);
  }

  // A word that both translations have stands in the same column of both cards: words of a column are as wide
  // as the wider one, and where a translation has none there is a gap.
  lineUp() {
    const rows = this.cards.map((card) => card.words);
    const [one, other] = this.cards.map((card) => card.steps.map((step) => step.word));
    const found = columns(one, other).map((places) => places.map((at, row) => rows[row].buttons[at] ?? make("span", { class: "live-gap" })));
    const widths = found.map((pair) => Math.max(...pair.map((word) => word.getBoundingClientRect().width)));
    found.forEach((pair, at) => pair.forEach((word) => (word.style.width = `${widths[at]}px`)));
    rows.forEach((row, at) => row.element.replaceChildren(...found.map((pair) => pair[at])));
  }

  // What a screen reader says of each word.
  label() {
    const { words } = this.read;
    for (const card of this.lookers)
      card.steps.forEach((step, at) => card.words.tell(at, this.say("looks_at", { words: strongest(step.align, words) })));
    if (!this.looker?.steps.length) return;
    const written = this.looker.steps.map((step) => step.word);
    words.forEach((_, s) => {
      const column = this.looker.steps.map((step) => step.align[s]);
      this.source.tell(s, this.say("looked_at_by", { words: strongest(column, written) }));
    });
  }

  // --- lighting

  // With nobody pointing: the word that reached farthest.
  settle() {
    if (this.wordless) this.summary.textContent = this.say("wordless");
    else if (this.looker?.steps?.length) this.highlightTarget(this.looker, this.rest ?? 0);
    else this.highlightTarget(this.cards[0], 0);
  }

  highlightTarget(card, at) {
    const step = card.steps?.[at];
    if (!step) return;
    this.cards.forEach((other) => {
      other.words.bars(null, other === card ? at : -1);
      other.show(Math.min(at, other.steps.length - 1));
    });
    this.source.bars(step.align);
    this.lookers.forEach((other) => other.matrix.mark(other === card ? at : -1, -1));
    const word = quoted(step.word);
    if (!step.align) {
      const key = step.context ? "wrote_blind" : "wrote_state";
      this.summary.replaceChildren(...this.say.parts(key, { name: card.about.name, word }));
      return;
    }
    const best = largest(step.align);
    this.reveal(best);
    const source = this.read.words[best];
    const gloss = this.sentences.glosses?.[source];
    const where = [asRead(source, this.languages.from), gloss ? ` (${gloss})` : ""];
    this.summary.replaceChildren(...this.say.parts("attended", { word, share: make("b", {}, percent(step.align[best])), where }).flat());
  }

  // On a phone the German row has its own scroll bar: the word that was looked at comes in sight.
  reveal(s) {
    const row = this.source.element;
    const word = this.source.buttons[s].getBoundingClientRect();
    const { top, bottom } = row.getBoundingClientRect();
    if (row.scrollHeight > row.clientHeight && (word.top < top || word.bottom > bottom)) row.scrollTop += word.bottom - bottom;
  }

  highlightSource(s) {
    if (!this.looker?.steps?.length || s < 0) return;
    const column = this.looker.steps.map((step) => step.align[s]);
    this.cards.forEach((card) => card.words.bars(card === this.looker ? column : null));
    this.source.bars(null, s);
    this.lookers.forEach((card) => card.matrix.mark(-1, s));
    const best = largest(column);
    const word = asRead(this.read.words[s], this.languages.from);
    const share = make("b", {}, percent(column[best]));
    this.summary.replaceChildren(...this.say.parts("attended_most", { word, share, written: quoted(this.looker.steps[best].word) }));
  }
}

// The written word that surely looked at one word, and far from its own place.
export function farthest(steps) {
  const total = steps[0]?.align?.length ?? 1;
  const jump = steps.map((step, at) => {
    if (!step.align) return 0;
    const best = largest(step.align);
    const far = Math.abs(best / total - at / steps.length);
    return isWord(step.word) ? step.align[best] * (0.1 + far) : 0;
  });
  return largest(jump);
}
