// One word, frame by frame: scores, weights, their blend, the next word.

import { write } from "./card.mjs";
import { Chooser } from "./chooser.mjs";
import { button, html, largest, make, meter, number, percent, strip, sum } from "./elements.mjs";
import { framesOf, mark, sub, symbolsOf } from "./equations.mjs";
import { describe, languagesOf } from "./names.mjs";
import { Player } from "./player.mjs";
import { isWord, readSentence } from "./sentence.mjs";
import { farthest } from "./translation.mjs";
import { WordRow, asRead, quoted, shown, strongest } from "./word_row.mjs";

const PACE = 1400;
const MOST_RANDOM = 9; // words of a random sentence
const whole = (share) => (Math.abs(share - 1) < 1e-4 ? 1 : share); // a sum of 32-bit numbers

export class Stepper extends Player {
  constructor({ library, models, names, sentences, first, say }) {
    super(say, PACE);
    Object.assign(this, { library, names, sentences, turn: 0, at: 0, loaded: new Map() });
    models.forEach((model, number) => this.loaded.set(names[number], model));
    this.name = names[0];
    this.languages = languagesOf(models[0], say);
    this.unit = say(models[0].source.subwords ? "unit_piece" : "unit_word");
    this.chooser = new Chooser({ model: models[0], sentences, first, say, most: MOST_RANDOM, longer: false, changed: (entry) => this.translate(entry) });
    this.target = new WordRow({ label: say("choose"), lang: this.languages.to, highlight: () => {}, say });
    this.target.element.addEventListener("click", (event) => this.choose(event));
    this.equations = make("ol", { class: "live-frames" });
    this.table = make("div", { class: "live-scroll" });
    this.summary = make("p", { class: "live-say", "aria-live": "polite" });
    this.best = make("div", { class: "live-best" });
    this.which = make("div", { class: "live-which", role: "group", "aria-label": say("which") });
    this.element = make(
      "div",
      { class: "live-view step" },
      names.length > 1 ? this.which : null,
      this.chooser.element,
      this.target.element,
      this.controls,
      models[0].source.subwords ? make("p", { class: "live-hint" }, say("pieces")) : null,
      this.equations,
      this.summary,
      make("div", { class: "live-bench" }, this.table, this.best),
    );
    this.listen(this.element);
  }

  get model() {
    return this.loaded.get(this.name);
  }

  // --- choosing

  async pick(name) {
    this.stop();
    this.picked = name;
    if (!this.loaded.has(name)) {
      this.summary.textContent = this.say("fetching_other");
      try {
        this.loaded.set(name, await this.library.model(name));
      } catch {
        if (this.picked === name) this.summary.textContent = this.say("failed_other");
        return;
      }
    }
    if (this.picked !== name) return; // another one since
    this.name = name;
    await this.translate(this.chooser.entry);
  }

  drawWhich() {
    const one = (name) => {
      const model = this.loaded.get(name);
      const title = model ? describe(model, this.say).name : name.replace(/^luong-/, "Luong: ");
      const when = make("small", {}, ` ${this.say(name === "rnnsearch" ? "asks_before" : "asks_after")}`);
      return button([title, when], () => this.pick(name), { "aria-pressed": String(name === this.name) });
    };
    this.which.replaceChildren(...this.names.map(one));
  }

  async translate(entry) {
    this.stop();
    const turn = ++this.turn;
    const { model } = this;
    const read = readSentence(entry.de, model, this.sentences);
    const good = this.chooser.tell(read);
    this.element.classList.toggle("live-empty", !good); // what was there keeps its room, unseen
    this.drawWhich();
    if (!good) return;
    read.words = model.units(read.words); // a step is one piece, where the model has pieces
    this.target.clear();
    const steps = await write(model.begin(read.words), (step) => this.target.add(step.word, { note: "" }), () => turn !== this.turn);
    if (!steps) return;
    Object.assign(this, { read, steps, at: farthest(steps), frame: 0, frames: framesOf(model), symbols: symbolsOf(model) });
    if (steps.length) this.draw();
    else this.summary.textContent = this.say("wordless");
    this.element.dataset.done = String(turn);
  }

  // --- moving

  choose(event) {
    const at = this.target.buttons.indexOf(event.target.closest(".live-word"));
    if (at < 0 || !this.steps?.[at]) return;
    this.stop();
    this.at = at;
    this.draw();
  }

  get position() {
    return this.at * this.frames?.length + this.frame;
  }

  get count() {
    return this.steps?.length * this.frames?.length;
  }

  move(to) {
    this.at = Math.floor(to / this.frames.length);
    this.frame = to % this.frames.length;
    this.draw();
  }

  // --- drawing

  draw() {
    const { key } = this.frames[this.frame];
    const step = this.steps[this.at];
    this.element.dataset.frame = key;
    this.target.bars(null, this.at);
    this.target.stop(this.at);
    const open = key !== "word";
    this.target.buttons.forEach((button, at) => {
      button.classList.toggle("later", at > this.at || (at === this.at && open));
      button.querySelector(".live-gloss").textContent = at === this.at && open ? this.say("not_yet") : "\u00a0";
    });
    this.refresh();
    this.drawEquations();
    this.drawTable(step);
    this.drawBest(step);
    this.summary.replaceChildren(...this.sentenceOn(step, key));
  }

  drawEquations() {
    const { state, first } = this.symbols;
    const moved = html("li", { class: "live-state" }, `<b>${this.say("new_state")}</b> <span class="live-equation">${sub(state)}</span>`);
    const frames = this.frames.map((frame, number) => {
      const lit = number === this.frame;
      const press = () => ((this.frame = number), this.stop(), this.draw());
      const parts = [make("b", {}, make("span", {}, `${number + 1} `), this.say(frame.name)), html("span", { class: "live-equation" }, mark(frame.equation))];
      const one = make("button", { type: "button", class: "live-frame", "aria-current": lit ? "step" : null, onclick: press }, parts);
      return make("li", { class: lit ? "lit" : "" }, one);
    });
    const focused = [...this.equations.querySelectorAll("button")].indexOf(document.activeElement);
    const equation = html("li", { class: "live-now lit live-equation", "aria-hidden": "true" }, mark(this.frames[this.frame].equation));
    this.equations.replaceChildren(...(first ? [moved, ...frames] : [...frames, moved]), equation);
    frames[focused]?.firstChild.focus(); // it was drawn anew
  }

  // Whether a frame is this one, or was before it.
  past(key) {
    return this.frames.findIndex((frame) => frame.key === key) <= this.frame;
  }

  drawTable(step) {
    const { say, symbols } = this;
    const { words } = this.read;
    const column = (key, name) => html("th", { scope: "col", class: this.frames[this.frame].key === key ? "lit" : "" }, `${name} <mark>${sub(symbols[key])}</mark>`);
    const edge = (key, name) => html("th", { scope: "row" }, `<mark>${sub(symbols[key])}</mark> <small>${say(name)}</small>`);
    const vector = (values, label, strength) => make("td", { class: "live-strips" }, values ? strip(values, { label, strength }) : "");
    const size = String(step.query.length);
    const query = make("tr", { class: "live-query" }, edge("query", "asks"), vector(step.query, say("query_strip", { size })), make("td"), make("td"));
    const blended = this.past("blend") && step.context;
    const all = this.past("softmax") ? meter(percent(whole(sum(step.align))), 0) : "";
    const total = make("tr", { class: `live-total ${blended ? "" : "later"}` }, edge("blend", "blend"),
      vector(blended, say("context_strip", { size: String(step.context.length) })), make("td"), make("td", { class: "live-number" }, all));
    const heads = [make("td"), html("th", { scope: "col" }, `${say(symbols.vector)} ${sub(symbols.annotation)}`), column("score", ""), column("softmax", say("weight"))];
    this.table.replaceChildren(
      make("table", { class: "live-step" },
        make("caption", { class: "live-hidden" }, say("step_caption", { language: this.languages.source, unit: this.unit, word: step.word })),
        make("thead", {}, query, make("tr", {}, heads)),
        make("tbody", {}, words.map((word, s) => this.rowOf(step, word, s, vector)), total)),
    );
  }

  // A source word: its vector, its score, its weight.
  rowOf(step, word, s, vector) {
    const finite = step.scores.filter(Number.isFinite).map(Math.abs);
    const most = finite.reduce((a, b) => Math.max(a, b), 1e-6);
    const score = step.scores[s];
    const outside = step.window && (s < step.window.first || s > step.window.last);
    const scored = Number.isFinite(score) ? meter(number(score), Math.abs(score / most), score < 0) : meter(this.say("none"), 0);
    const weight = this.past("softmax") ? meter(percent(step.align[s]), step.align[s]) : "";
    const gloss = isWord(word) && this.sentences.glosses?.[word];
    return make("tr", { class: outside ? "outside" : "" },
      make("th", { scope: "row" }, make("span", { lang: this.languages.from }, word), gloss ? make("small", {}, ` ${gloss}`) : null),
      vector(this.steps.annotations[s], this.say("vector_of", { word }), this.past("blend") ? step.align[s] : 1),
      make("td", { class: "live-number" }, scored), make("td", { class: "live-number weight" }, weight));
  }

  drawBest(step) {
    const open = this.frames[this.frame].key === "word";
    const line = ({ word, p }) => {
      const one = make("li", { class: word === step.word && open ? "lit" : "" }, make("span", {}, open ? shown(word) : "\u2007"), make("i"), make("b", {}, open ? percent(p) : ""));
      one.style.setProperty("--w", open ? p.toFixed(4) : 0);
      return one;
    };
    const symbol = `<mark>${sub(this.symbols.word)}</mark>`;
    const title = this.say("five_best", { all: this.model.targetWords.length, symbol });
    this.best.replaceChildren(html("p", { class: "live-hint" }, title), make("ol", {}, step.best.map(line)));
  }

  // What happens in this frame, in words.
  sentenceOn(step, key) {
    const { say, unit } = this;
    const { words } = this.read;
    const { source, target, from } = this.languages;
    const best = largest(step.align);
    if (key === "softmax") return this.sentenceOnSoftmax(step, best);
    if (key === "blend") return say.parts("blended", { language: source, unit, words: strongest(step.align, words) });
    if (key === "word") {
      const next = this.model.asks === "after" ? "next_after" : "next_before";
      return say.parts(next, { language: target, word: quoted(step.word), share: percent(step.best[0].p) });
    }
    const before = this.steps.slice(0, this.at).map((each) => each.word);
    const last = `${before.length > 3 ? "... " : ""}${before.slice(-3).join(" ")}`;
    const ask = before.length ? say.parts("comes_after", { words: quoted(last) }) : [say("comes_first")];
    const kind = this.model.config.score === "location" ? "location_score" : "compared_score";
    return say.parts(kind, { language: source, unit, ask, state: this.sentenceOnState(before), best: asRead(words[best], from), score: number(step.scores[best]) });
  }

  // The state that asks, after these words.
  sentenceOnState(before) {
    const state = html("span", {}, sub(this.symbols.query));
    if (this.model.asks !== "after") return this.say.parts("state", { state });
    if (!before.length) return this.say.parts("state_first", { state });
    return this.say.parts("state_read", { word: quoted(before.at(-1)), state });
  }

  sentenceOnSoftmax(step, best) {
    const { window } = step;
    const taking = step.scores.filter((score, s) => Number.isFinite(score) && (!window || (s >= window.first && s <= window.last)));
    const top = taking.reduce((a, b) => Math.max(a, b));
    const share = Math.exp(step.scores[best] - top) / sum(taking.map((score) => Math.exp(score - top)));
    const power = html("span", {}, `e<sup>${number(step.scores[best])}</sup>`);
    const word = asRead(this.read.words[best], this.languages.from);
    const parts = [...this.say.parts("softmax_share", { word, power, share: percent(share) }), " "];
    if (!window) return [...parts, this.say("softmax_all")];
    const among = { first: window.first + 1, last: window.last + 1, place: window.p.toFixed(1) };
    return [...parts, this.say(step.gain ? "softmax_gauss" : "softmax_window", among)];
  }
}
