// "Watch it learn": the reader's side of learn.mjs.
//
//   render(box, { spec, share })   fills a box; `spec`: any of DEFAULTS' names; with `share`, what the
//                                  reader chooses stands in the page's address, after #learn
//
// Its words are those of the language that the page says the box is in.

import { button, largest, make, noMotion, percent } from "./elements.mjs";
import {
  ASKS, BREAKS, BROKEN_UPDATES, DEFAULTS, LOCKED, MOST_UPDATES, SCORES, TASKS, WINDOWS, brokenBy, fromAddress, toAddress,
} from "./learn_choices.mjs";
import { LEARN } from "./learn_words.mjs";
import { Matrix } from "./matrix.mjs";
import { speakerFor } from "./speaker.mjs";

const MOST_LOOKS = 400; // then every other is forgotten
const BEYOND = 60; // updates that follow when it has locked on; then it waits for the reader
const WAIT = 400; // milliseconds after the last letter
const SPOKEN = 3000; // milliseconds between two summaries for a screen reader, while it trains

const EXAMPLE = ["the = la", "a = une", "my = ma"]
  .flatMap((article) => ["car = voiture", "house = maison", "flower = fleur", "door = porte", "table = table"]
    .flatMap((noun) => ["red = rouge", "green = verte", "blue = bleue", "black = noire", "white = blanche"]
      .map((colour) => {
        const [[a, A], [n, N], [c, C]] = [article, noun, colour].map((pair) => pair.split(" = "));
        return `${a} ${c} ${n} = ${A} ${N} ${C}`;
      })))
  .join("\n");

let boxes = 0;

// ------------------------------------------------------------------------------ curves

const SVG = "http://www.w3.org/2000/svg";

// One value over the updates: its name, its number now, a line, and the numbers of its axes. The axis of
// updates is as long as the first of EXTENTS that holds them, so that it seldom moves.
const EXTENTS = [50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, Infinity];

class Curve {
  constructor(pick, { say, write = percent, most = 1 }) {
    Object.assign(this, { pick, say, write, most, title: make("span"), number: make("b") });
    this.svg = document.createElementNS(SVG, "svg");
    for (const [name, value] of Object.entries({ viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true" })) this.svg.setAttribute(name, value);
    this.svg.innerHTML = '<path class="axis" d="M0 39.5H100V36M50 39.5V36M0 39.5V36"/><path class="all"/><path class="now"/>';
    this.highest = make("span");
    const scale = make("div", { class: "learn-scale", "aria-hidden": "true" }, this.highest, make("span", {}, write(0)));
    this.ticks = ["0", "", ""].map((text) => make("span", {}, text));
    const axis = make("div", { class: "learn-axis", "aria-hidden": "true" }, this.ticks);
    this.element = make("div", { class: "learn-curve" }, make("p", {}, this.title, " ", this.number), scale, this.svg, axis);
  }

  draw(looks, at) {
    const value = this.pick(looks[at]);
    this.element.hidden = value === null;
    if (value === null) return;
    this.number.textContent = this.write(value);
    const last = EXTENTS.find((extent) => extent >= looks.at(-1).updates);
    this.ticks[1].textContent = last / 2;
    this.ticks[2].textContent = this.say("updates", { updates: last });
    const most = typeof this.most === "function" ? this.most(looks) : this.most;
    this.highest.textContent = this.write(most);
    const x = (look) => ((100 * look.updates) / last).toFixed(2);
    const y = (look) => (39 - 37 * Math.min(1, this.pick(look) / most)).toFixed(2);
    const [, all, now] = this.svg.children;
    all.setAttribute("d", looks.map((look, n) => `${n ? "L" : "M"}${x(look)} ${y(look)}`).join(""));
    now.setAttribute("d", `M${x(looks[at])} 0V40`);
  }
}

// ------------------------------------------------------------------------------ the component

class View {
  constructor(box, options, say) {
    this.box = box;
    this.say = (key, given) => say(key, { ...this.unit, ...given });
    this.name = `learn-${++boxes}`;
    this.share = options.share;
    this.spec = fromAddress(this.share ? location.hash : "", { ...DEFAULTS, ...options.spec });
    this.looks = [];
    this.at = -1; // which one is drawn; -1: the newest
    this.training = false;
    this.spokenAt = 0;
    this.build();
    this.fill();
    this.worker = new Worker(new URL("learn_worker.mjs", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = () => this.complain(say("old_browser"));
    this.begin();
    if (this.share)
      addEventListener("hashchange", () => {
        if (!location.hash.startsWith("#learn") || location.hash === toAddress(this.spec)) return;
        this.spec = fromAddress(location.hash, this.spec);
        this.fill();
        this.begin();
      });
  }

  // --- what stands where

  build() {
    const { say } = this;
    const select = (name, choices, chosen = (value) => this.change({ [name]: value })) => {
      const field = make("select", { id: `${this.name}-${name}`, onchange: () => chosen(field.value) }, choices.map((value) => make("option", { value }, say(`${name}_${value}`))));
      this[name] = field;
      return make("p", { class: "learn-field" }, make("label", { for: field.id }, say(name)), field);
    };
    const toggle = (name, label, chosen) => {
      const field = make("input", { type: "checkbox", id: `${this.name}-${name}`, onchange: () => chosen(field.checked) });
      this[name] = field;
      return make("p", { class: "learn-check" }, field, make("label", { for: field.id }, label));
    };
    const plain = (name) => toggle(name, say(name), (checked) => this.change({ [name]: checked }));
    const id = (what) => `${this.name}-${what}`;

    this.pairs = make("textarea", { id: id("pairs"), rows: 6, spellcheck: "false", oninput: () => this.later({ pairs: this.pairs.value }) });
    this.own = make("div", { class: "learn-own", hidden: true }, make("label", { for: this.pairs.id }, say("own")), this.pairs);
    this.length = make("input", { type: "range", min: 4, max: 16, id: id("length"), oninput: () => this.later({ length: Number(this.length.value) }) });
    this.lengthText = make("output", { for: this.length.id });
    this.lengthField = make("p", { class: "learn-field" }, make("label", { for: this.length.id }, say("length"), this.lengthText), this.length);
    this.line = make("input", { type: "text", id: id("line"), class: "learn-line", spellcheck: "false", autocomplete: "off", autocapitalize: "off", maxlength: 120, "aria-describedby": id("wrong"), oninput: () => this.later({ score: this.line.value }) });
    this.wrong = make("p", { class: "learn-wrong", id: id("wrong"), role: "alert" });
    this.scoreField = make("p", { class: "learn-field learn-score" }, make("label", { for: this.line.id }, say("line")), this.line);

    this.play = button(say("train"), () => this.press(), { kind: "learn-train" });
    this.stepper = button(say("step"), () => this.ask({ step: true }));
    this.again = button(say("again"), () => this.change({ seed: this.spec.seed + 1 }));
    this.counted = make("span", { class: "live-count" });

    const presets = select("score", [...Object.keys(SCORES), "edited"], (name) => {
      if (name in SCORES) this.change({ score: SCORES[name], asks: name === "additive" ? "before" : "after" });
    });
    const more = make(
      "details",
      { class: "learn-more" },
      make("summary", {}, say("more")),
      make("div", { class: "learn-choices" }, select("asks", ASKS), select("window", WINDOWS), plain("attention"), plain("feeding")),
    );
    const breaks = Object.keys(BREAKS).map((name) => toggle(name, say(`break_${name}`), (checked) => this.breakIt(checked && name)));
    this.breaks = make("details", { class: "learn-more" }, make("summary", {}, say("break")), make("div", { class: "learn-choices" }, breaks));

    this.matrix = new Matrix({ label: say("table") });
    this.legend = make("p", { class: "learn-legend" });
    const bits = (value) => value.toFixed(2);
    const scales = {
      loss: { write: bits, most: (looks) => Math.max(...looks.map((look) => look.loss), 1) },
      entropy: { write: bits, most: () => Math.log2(this.about.source.length) },
    };
    const curve = (name) => [name, new Curve((look) => look[name], { say, ...scales[name] })];
    this.curves = new Map(["loss", "right", "mass", "top", "entropy"].map(curve));
    this.back = make("input", { type: "range", min: 0, value: 0, id: id("back"), oninput: () => this.go(Number(this.back.value)) });
    this.backText = make("output", { for: this.back.id });
    const back = make("p", { class: "learn-field" }, make("label", { for: this.back.id }, say("back"), this.backText), this.back);
    this.summary = make("p", { class: "live-say", "aria-live": "off" });
    this.spoken = make("p", { class: "live-hidden", "aria-live": "polite" });
    this.buttons = make("div", { class: "live-buttons" }, this.play, this.stepper, this.again, this.counted);
    this.question = make("p");
    this.guesses = make("div", { class: "live-which" });
    this.found = make("p", { class: "learn-found", role: "status" });
    this.guess = make("div", { class: "learn-guess", role: "group", "aria-label": say("break"), hidden: true }, this.question, this.guesses, this.found);
    this.parts = [
      make("div", { class: "learn-choices" }, select("task", TASKS), this.lengthField, presets),
      this.own,
      this.scoreField,
      this.wrong,
      this.breaks,
      this.buttons,
      this.guess,
      make("div", { class: "learn-bench" }, make("div", { class: "learn-picture" }, this.matrix.element, back, this.legend), make("div", { class: "learn-curves" }, [...this.curves.values()].map((one) => one.element))),
      this.summary,
      this.spoken,
      more,
    ];
    this.box.classList.add("learn-on");
  }

  // All at once, when there is something to show: nothing below moves twice.
  mount() {
    if (!this.play.isConnected) this.box.replaceChildren(...this.parts);
  }

  // The fields say what the spec says.
  fill() {
    const { spec } = this;
    const kind = ["copy", "reverse"].includes(spec.task) ? "letter" : "word";
    const units = this.say(`${kind}s`);
    this.unit = { unit: this.say(kind), units, Units: units[0].toUpperCase() + units.slice(1) };
    if (spec.task === "own" && !spec.pairs) spec.pairs = EXAMPLE;
    for (const name of ["task", "asks", "window"]) this[name].value = spec[name];
    for (const name of ["attention", "feeding"]) this[name].checked = spec[name];
    for (const [name, broken] of Object.entries(BREAKS)) this[name].checked = spec[name] === broken[name];
    if (brokenBy(spec) !== this.broken) this.askForGuess(brokenBy(spec));
    this.score.value = Object.keys(SCORES).find((name) => SCORES[name] === spec.score) ?? "edited";
    for (const field of [this.asks, this.window, this.score, this.line]) field.disabled = !spec.attention;
    if (this.line !== document.activeElement) this.line.value = spec.score;
    if (this.pairs !== document.activeElement) this.pairs.value = spec.pairs;
    this.own.hidden = spec.task !== "own";
    this.lengthField.hidden = spec.task === "own";
    this.length.value = spec.length;
    this.lengthText.textContent = this.say("length_units", { length: spec.length });
  }

  // A question on what was broken, and its answers; what happened has its room, and is not yet seen.
  askForGuess(name) {
    Object.assign(this, { broken: name, guessed: false });
    this.guess.hidden = !name;
    if (!name) return;
    const [question, ...answers] = this.say(`guess_${name}`).split(" | ");
    this.question.textContent = question;
    const guess = (answer) => () => {
      this.guessed = answer;
      [...this.guesses.children].forEach((one) => one.setAttribute("aria-pressed", String(one.textContent === answer)));
      if (!this.training && !this.isTold()) this.press();
      this.tellFound();
    };
    this.guesses.replaceChildren(...answers.map((answer) => button(answer, guess(answer), { "aria-pressed": "false" })));
    this.tellFound();
  }

  isTold() {
    return this.guessed && this.looks.at(-1)?.updates >= BROKEN_UPDATES;
  }

  // What happened, when the reader has guessed and the network is trained.
  tellFound() {
    if (!this.broken) return;
    const told = this.isTold();
    this.found.classList.toggle("later", !told);
    const parts = [["guessed", { guess: this.guessed || "" }], ["found_out", { look: this.say(`look_${this.broken}`) }]];
    this.found.textContent = parts.map(([key, given]) => this.say(key, given)).join(" ");
  }

  // --- what the reader does

  change(news) {
    clearTimeout(this.timer);
    Object.assign(this.spec, news);
    this.fill();
    if (this.share) history.replaceState(history.state, "", toAddress(this.spec));
    this.begin(this.training);
  }

  // One decision is undone, or what stood here before stands here again.
  breakIt(name) {
    const { pairs, ...usual } = DEFAULTS; // the reader's pairs stay
    if (name) this.whole ??= { ...this.spec };
    this.wait(false); // the guess comes first
    this.change(name ? { ...usual, ...BREAKS[name] } : (this.whole ?? usual));
    if (!name) this.whole = null;
    this.reveal();
  }

  // Buttons and picture come into sight, where one of them is not.
  reveal() {
    const below = this.matrix.element.getBoundingClientRect().bottom > innerHeight;
    if (below || this.buttons.getBoundingClientRect().top < 0)
      this.buttons.scrollIntoView({ block: "start", behavior: noMotion() ? "auto" : "smooth" });
  }

  later(news) {
    clearTimeout(this.timer);
    if (news.length) this.lengthText.textContent = this.say("length_units", { length: news.length });
    this.timer = setTimeout(() => this.change(news), WAIT);
  }

  begin(go = false) {
    this.wait(false);
    this.looks = [];
    this.at = -1;
    this.locked = 0;
    this.refused = false;
    this.worker.postMessage({ start: this.spec });
    this.tellFound();
    if (go) this.press();
  }

  ask(what) {
    if (this.refused) return;
    if (what.train) this.wait(true);
    this.wanted = !what.train; // by the reader, should it stop now
    this.at = -1;
    this.worker.postMessage(what);
  }

  press() {
    const left = BROKEN_UPDATES - (this.looks.at(-1)?.updates ?? 0);
    this.ask(this.training ? { pause: true } : { train: this.broken && left > 0 ? left : MOST_UPDATES });
  }

  wait(training) {
    this.training = training;
    this.play.textContent = this.say(training ? "pause" : "train");
    this.box.dataset.training = training;
  }

  // --- what the worker says

  hear({ ready, look, paused, trouble, refused }) {
    if (refused) return this.refuse(refused);
    if (ready) this.lay(ready);
    if (trouble) {
      this.wait(false);
      this.complain(this.say(trouble.key, trouble.given));
    }
    if (look) {
      if (look.updates && !this.looks.length) return; // of a training before this one
      this.looks.push(look);
      if (look.mass > LOCKED && !this.locked) {
        this.locked = look.updates;
        if (!this.broken) this.worker.postMessage({ until: look.updates + BEYOND });
      }
      if (this.looks.length > MOST_LOOKS && this.at < 0) this.looks = this.looks.filter((_, n) => n % 2 === 0 || n > MOST_LOOKS - 20);
      if (ready) this.draw();
      this.due ??= (noMotion() ? setTimeout : requestAnimationFrame)(() => this.draw(), 250);
    }
    if (paused !== undefined) {
      this.wait(false);
      this.tellFound();
      this.tell(true);
      this.box.dataset.paused = paused;
    }
  }

  refuse({ key, given, at }) {
    this.refused = true;
    const caret = at === undefined ? "" : make("code", { style: `--at: ${at}` }, "^"); // below the line's sign
    this.wrong.replaceChildren(caret, this.say(key, given));
    this.wait(false);
    this.mount();
    this.box.dataset.refused = "true";
  }

  complain(message) {
    delete this.box.dataset.refused;
    this.wrong.replaceChildren(message);
    if (message) this.mount();
  }

  // --- the picture

  lay(about) {
    this.about = about;
    this.refused = false;
    this.complain("");
    this.looks = [];
    const { source, glosses, hidden } = about;
    const kinds = source.map((_, s) => (hidden && s === source.length - 1 ? "learn-masked" : ""));
    const lang = { german: "de", korean: "ko" }[this.spec.task];
    const foreign = lang === "ko" && this.box.closest("[lang]")?.lang !== "ko"; // then each word has its English
    const words = source.map((word, s) => (foreign && glosses[s] ? [word, " ", make("small", { lang: "en" }, glosses[s].split(" ").at(-1))] : word));
    this.matrix.begin(words, { caption: this.say("caption"), kinds, lang });
    this.legend.textContent = this.spec.attention
      ? ["legend", ...(about.links ? ["legend_frames"] : []), ...(hidden ? ["legend_masked"] : [])].map((key) => this.say(key)).join(" ")
      : this.say("legend_without");
    this.curves.forEach((curve, name) => (curve.title.textContent = this.say(name)));
    this.counted.textContent = "";
    delete this.box.dataset.paused;
  }

  addLine({ word }, weights, link) {
    const line = this.matrix.add(word, weights, (s) => (s === link ? "gold" : ""));
    line.cells[0].append(make("small"));
    return line;
  }

  go(at) {
    this.at = at >= this.looks.length - 1 ? -1 : at;
    this.draw();
    this.tell(true);
  }

  draw() {
    this.due = null;
    const { looks } = this;
    if (!looks.length) return;
    const at = this.at < 0 ? looks.length - 1 : this.at;
    const look = looks[at];
    const { rows, updates } = look;
    rows.forEach((row, i) => {
      const weights = row.weights ?? this.about.source.map(() => 0);
      const line = this.matrix.body.rows[i] ?? this.addLine(row, weights, this.about.links?.[i]);
      const wrong = row.guess !== row.word;
      line.cells[0].classList.toggle("learn-missed", wrong);
      line.cells[0].lastChild.textContent = wrong ? ` ${this.say("wrote", { word: row.guess })}` : "";
      this.matrix.fill(line, weights);
    });
    this.curves.forEach((curve) => curve.draw(looks, at));
    this.tellFound();
    this.back.max = looks.length - 1;
    this.back.value = at;
    this.backText.textContent = this.say("update", { updates });
    this.back.setAttribute("aria-valuetext", this.backText.textContent);
    this.counted.textContent = this.say("updates", { updates: looks.at(-1).updates });
    this.mount();
    Object.assign(this.box.dataset, { updates: looks.at(-1).updates, shown: updates, mass: look.mass ?? "" });
    this.tell();
  }

  // In words, what the picture shows; for a screen reader now and then.
  tell(now = false) {
    const { looks, about, say } = this;
    if (!looks.length) return;
    const look = looks[this.at < 0 ? looks.length - 1 : this.at];
    const parts = [look.updates ? say("summary_right", { updates: look.updates, right: percent(look.right) }) : say("summary_start")];
    if (look.entropy !== null) {
      const rows = look.rows.slice(0, -1);
      const at = rows.map((row) => largest(row.weights));
      if (about.links) {
        const astray = rows.findIndex((_, i) => about.links[i] !== null && at[i] !== about.links[i]);
        parts.push(say("summary_mass", { mass: percent(look.mass) }));
        parts.push(astray < 0 ? say("summary_all") : say("summary_astray", { word: rows[astray].word, at: about.source[at[astray]], of: about.source[about.links[astray]] }));
      } else parts.push(say("summary_own", { looks: rows.map((row, i) => say("summary_look", { word: row.word, at: about.source[at[i]] })).join(", ") }));
      if (this.locked && look.updates >= this.locked) parts.push(say("summary_locked", { updates: this.locked }));
    }
    if (!look.updates) parts.push(say("summary_press"));
    else if (!this.training && !this.wanted) {
      if (look.mass !== null && !this.locked && !this.broken) parts.push(say("summary_never"));
      parts.push(say(this.locked && !this.broken ? "summary_stopped" : "summary_waits"));
    }
    this.summary.textContent = parts.join(" ");
    if (!now && performance.now() - this.spokenAt < SPOKEN) return;
    this.spokenAt = performance.now();
    this.spoken.textContent = [this.summary, ...(this.isTold() ? [this.found] : [])].map((one) => one.textContent).join(" ");
  }
}

export const render = async (box, { spec = {}, share = false } = {}) =>
  new View(box, { spec, share }, await speakerFor(box, LEARN));
