// Goes through frames one by one: by buttons, by the arrow keys, or by itself. `position`, `count` and
// `move(to)` are those of a class that extends it.

import { allow, button, make } from "./elements.mjs";

export class Player {
  // `pace`: milliseconds a frame, played by itself.
  constructor(say, pace) {
    Object.assign(this, { say, pace });
    this.back = button(say("back"), () => this.go(-1), { "aria-label": say("back_title") });
    this.play = button(say("play"), () => this.toggle());
    this.on = button(say("forward"), () => this.go(1), { "aria-label": say("forward_title") });
    this.controls = make("div", { class: "live-controls" }, this.back, this.play, this.on);
  }

  // Arrow keys anywhere in an element, but in its fields and rows of words.
  listen(element) {
    element.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by || event.target.closest(".live-words, textarea")) return;
      event.preventDefault();
      event.stopPropagation();
      this.go(by);
    });
  }

  go(by) {
    const to = this.position + by;
    if (!(to >= 0 && to < this.count)) return this.stop();
    this.move(to);
  }

  // Which buttons lead further.
  refresh() {
    allow(this.back, this.position > 0);
    allow(this.on, this.position < this.count - 1);
  }

  toggle() {
    if (this.timer) return this.stop();
    this.play.textContent = this.say("pause");
    this.timer = setInterval(() => this.go(1), this.pace);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = this.say("play");
  }
}
