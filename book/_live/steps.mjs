// A figure of several frames, step by step; each step is tied to a term of one equation. Without this, and on
// paper, all frames stand one below the other. `press/extensions/live.py` writes what is here.

import { make } from "./elements.mjs";
import { Player } from "./player.mjs";
import { SEE } from "./see_words.mjs";
import { speakerFor } from "./speaker.mjs";

const PACE = 5000;

class Steps extends Player {
  constructor(box, say) {
    super(say, PACE);
    this.frames = [...box.querySelectorAll(":scope > .frame")];
    this.terms = [...box.querySelectorAll("math [class^=step-]")];
    // Frames that are drawn in a figure elsewhere: each matrix of it is a group.
    this.drawn = [...(document.getElementById(box.dataset.figure)?.querySelectorAll("svg .frame") ?? [])];
    this.which = make("span", { class: "live-count", "aria-hidden": "true" });
    this.spoken = make("p", { class: "live-hidden", "aria-live": "polite" });
    this.controls.append(this.which, this.spoken);
    box.querySelector(":scope > .live-controls").replaceWith(this.controls);
    this.listen(box);
    this.move(0);
  }

  get count() {
    return this.frames.length;
  }

  move(to) {
    const first = this.position === undefined;
    this.position = to;
    this.frames.forEach((frame, at) => frame.classList.toggle("lit", at === to));
    this.terms.forEach((term) => term.classList.toggle("lit", term.classList.contains(`step-${to + 1}`)));
    this.drawn.forEach((group, at) => group.classList.toggle("later", at > to));
    this.which.textContent = `${to + 1} / ${this.count}`;
    if (!first) this.spoken.textContent = `${this.which.textContent}. ${this.frames[to].querySelector("p").textContent}`;
    this.refresh();
  }
}

export const render = async (box) => new Steps(box, await speakerFor(box, SEE));
