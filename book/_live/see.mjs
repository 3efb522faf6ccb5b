// What the reader touches: a recurrent translator that runs in the page.
//
//   render(box, options)   fills a box; all options but `mode` may be left out:
//
//   mode         "pair" (two models side by side), "single" (one), "step" (one word, frame by frame).
//                Where all models attend, the reader of the first two chooses between the whole
//                sentence and step by step.
//   models       names of weights: "rnnsearch" is fetched from rnnsearch.safetensors.gz beside this
//   weights      instead of fetching: { name: text in base64 }
//   sentence     to begin with, and `english`, its translation
//   sentences    instead of fetching sentences.json: its content, or {} where there is nothing to offer
//   prefixes     abbreviations of the source language that keep their full stop
//
// Nothing is asked of any other server. Numbers on the screen are the model's own.

import { button, make } from "./elements.mjs";
import { Library } from "./library.mjs";
import { SEE } from "./see_words.mjs";
import { speakerFor } from "./speaker.mjs";
import { Stepper } from "./stepper.mjs";
import { Translation } from "./translation.mjs";

// A whole sentence or one word step by step: the reader chooses, and the sentence stays.
class Both {
  constructor(given) {
    const { say } = given;
    this.views = [new Translation(given), new Stepper(given)];
    this.buttons = ["whole", "steps"].map((key, at) => button(say(key), () => this.show(at)));
    this.place = make("div");
    this.element = make("div", {}, make("div", { class: "live-which live-views", role: "group", "aria-label": say("views") }, this.buttons), this.place);
    this.open(0);
  }

  get chooser() {
    return this.view.chooser;
  }

  open(at) {
    this.view = this.views[at];
    this.place.replaceChildren(this.view.element);
    this.buttons.forEach((one, number) => one.setAttribute("aria-pressed", String(number === at)));
  }

  show(at) {
    if (this.views[at] === this.view) return;
    const { entry } = this.chooser;
    this.view.stop?.();
    this.open(at);
    this.chooser.set(entry);
  }

  translate(entry) {
    return this.view.translate(entry);
  }
}

function viewOf({ mode, models }) {
  if (mode === "step") return Stepper;
  return models.every((model) => model.attends) ? Both : Translation;
}

// The view, once all is there. Until then what stands in the box stays, with a word on the progress.
export async function render(box, options) {
  const say = await speakerFor(box, SEE);
  const { mode, sentence, english } = options;
  const names = options.models ?? Object.keys(options.weights);
  const library = new Library(options);
  const status = make("p", { class: "live-status", role: "status" }, say("fetching"));
  box.querySelector(":scope > .live-status")?.remove();
  box.append(status);
  let bytes = 0;
  const progress = (more) => {
    bytes += more;
    status.textContent = say("fetching_bytes", { size: (bytes / 1e6).toFixed(1) });
  };
  let view;
  try {
    const wanted = mode === "step" ? names.slice(0, 1) : names;
    const [sentences, ...models] = await Promise.all([library.sentences(), ...wanted.map((name) => library.model(name, progress))]);
    performance.mark("live-loaded");
    const first = sentence ? { de: sentence, en: english } : (sentences.chains[0]?.[0] ?? { de: "" });
    const given = { mode, say, library, models, names, sentences, first };
    view = new (viewOf(given))(given);
  } catch (error) {
    console.warn(error);
    status.replaceChildren(options.weights ? error.message : say("failed"), " ", button(say("try_again"), () => render(box, options)));
    return;
  }
  const byKeyboard = box.querySelector(":focus-visible");
  box.replaceChildren(view.element);
  if (byKeyboard) view.chooser.field.focus({ preventScroll: true }); // its button is gone
  box.classList.add("live-on");
  await view.translate(view.chooser.entry);
}
