// A model's card: what it wrote, what it read meanwhile, and what became of the reference.

import { make, nextFrame, noMotion, strip } from "./elements.mjs";
import { describe } from "./names.mjs";
import { isWord, shared } from "./sentence.mjs";
import { WordRow, quoted } from "./word_row.mjs";

const END = "</s>";
const SLICE = 6; // milliseconds of work between two pictures
const LONG_SLICE = 40; // of a long sentence, or where nothing should move
const LONG = 20; // words

// Writes a translation step by step of a run, and yields to the screen between steps. `seen(step)`
// draws each. Answers the steps, or nothing if `stale()` says that nobody waits for them any more.
export async function write(run, seen, stale) {
  const slice = noMotion() || run.words.length > LONG ? LONG_SLICE : SLICE;
  const steps = [];
  steps.annotations = run.memory.annotations;
  while (!run.done) {
    const begun = performance.now();
    do {
      const step = run.step();
      if (step.word === END) break;
      steps.push(step);
      seen(step, steps.length - 1);
    } while (!run.done && performance.now() - begun < slice);
    if (!run.done) await nextFrame();
    if (stale()) return null;
  }
  return steps;
}

export class Card {
  constructor({ model, highlight, withVector, say }) {
    Object.assign(this, { model, say });
    this.about = describe(model, say);
    this.words = new WordRow({ label: say("translation_by", this.about), lang: model.target.language, highlight, say });
    this.verdict = make("p", { class: "live-verdict" });
    this.vector = make("div", { class: "live-vector" });
    const { title, name, paper } = this.about;
    this.title = make("span", {}, title);
    this.element = make(
      "div",
      { class: `live-card ${model.attends ? "attends" : "fixed"}`, role: "group", "aria-label": `${title}: ${name}` },
      make("p", { class: "live-title" }, this.title, " ", make("small", {}, `${name}, ${paper}`)),
      this.words.element,
      this.verdict,
      withVector ? this.vector : null,
    );
  }

  // Beside a model of the same kind, by what sets it apart.
  nameByFeeding() {
    this.title.textContent = this.say(this.model.config.feeding ? "with_feeding" : "without_feeding");
  }

  // Translate, drawing word by word; the steps, or nothing if they are stale.
  async run(words, stale, seen) {
    this.steps = [];
    this.words.clear();
    this.verdict.textContent = "";
    const draw = (step, at) => {
      this.steps.push(step);
      this.words.add(step.word);
      seen(this, at);
    };
    return write(this.model.beginWords(words), draw, stale);
  }

  // Mark what the reference does not have, and count what it has: the share of it.
  judge(reference) {
    if (!reference) return null;
    const written = this.steps.map((step) => step.word);
    const flags = shared(written, reference);
    flags.forEach((right, at) => this.words.buttons[at].classList.toggle("wrong", !right && isWord(written[at])));
    const right = written.filter((word, at) => flags[at] && isWord(word)).length;
    const all = reference.filter(isWord).length;
    const extra = written.filter(isWord).length - right;
    const found = make("b", {}, this.say("found_count", { right, all }));
    const key = ["found", "found_extra_one"][extra] ?? "found_extra";
    this.verdict.replaceChildren(...this.say.parts(key, { found, count: extra }));
    this.verdict.classList.toggle("whole", right === all && !extra);
    return right / all;
  }

  // The vector that the decoder reads while it writes this word.
  show(at) {
    const step = this.steps[at];
    if (!step?.context) return;
    const size = String(step.context.length);
    const what = this.model.attends
      ? this.say.parts("read_for", { word: quoted(step.word), size })
      : this.say("available", { size });
    this.vector.replaceChildren(strip(step.context, { label: this.say("context", { size }) }), make("p", {}, what));
  }
}
