// "Watch it learn": the reader's side of learn.mjs.
//
//   render(box, options)   fills a box; options: any of learn.mjs's spec, and `share: false`
//
// On a page of the book, every box `.learn` comes to life when it is scrolled into sight. What was
// chosen in the page's first box stands in its address, after #learn.

import { DEFAULTS, LOCKED, MOST_UPDATES, SCORES, readPairs, SIZES } from "./learn.mjs";
import { plan } from "./score.mjs";

const MOST_LOOKS = 400; // then every other is forgotten
const MOST_SHARED = 4000; // characters of pairs that an address may hold
const WAIT = 400; // milliseconds after the last letter
const SAID = 3000; // milliseconds between two summaries for a screen reader, while it trains

const TASKS = { german: "German, verb last", copy: "Copy letters", reverse: "Reverse letters", own: "Your own pairs" };
const WINDOWS = { global: "the whole sentence", "local-m": "local-m: round the same place", "local-p": "local-p: round a place it predicts" };
const ASKS = { after: "the new state (Luong)", before: "the old state (Bahdanau)" };
const NAMES = { additive: "additive (Bahdanau)", dot: "dot (Luong)", scaled: "scaled dot", general: "general (Luong)", location: "location (Luong)" };

// [name of the switch, its value when broken, label, what to look for, where it makes sense]
const BREAKS = [
  ["mask", false, "Show it the end of the sentence", "The mark </s> comes just after the verb. Does the English verb look at the German verb, or at the mark? Try some seeds.", () => true],
  ["directions", 1, "Read from left to right only", "The vector of a word now holds only what comes before it. Is the weight still on the right word, or on a later one that has read it as well?", () => true],
  ["sharp", false, "Leave the score as it is, not times 4", "The words come out right. How dark do the squares become, above all with the scaled dot?", () => true],
  ["zero", true, "Start v at zero", "Every word begins with exactly the same weight. Does it find its way out?", (spec) => spec.attention && /\bv\b/.test(spec.score)],
  ["same", true, "Always the same article", "Every article is now das, and can be guessed. Where does the network look to write the? Try some seeds.", (spec) => spec.task === "german"],
];

const EXAMPLE = ["the = la", "a = une", "my = ma"]
  .flatMap((article) => ["car = voiture", "house = maison", "flower = fleur", "door = porte", "table = table"]
    .flatMap((noun) => ["red = rouge", "green = verte", "blue = bleue", "black = noire", "white = blanche"]
      .map((colour) => {
        const [[a, A], [n, N], [c, C]] = [article, noun, colour].map((pair) => pair.split(" = "));
        return `${a} ${c} ${n} = ${A} ${N} ${C}`;
      })))
  .join("\n");

// ------------------------------------------------------------------------------ the address

const PLAIN = { yes: true, no: false };

// What differs from the defaults, as the end of an address.
export function toAddress(spec) {
  const told = new URLSearchParams();
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    if (spec[name] === usual || (name === "pairs" && (spec.task !== "own" || spec.pairs.length > MOST_SHARED))) continue;
    told.set(name, typeof usual === "boolean" ? (spec[name] ? "yes" : "no") : spec[name]);
  }
  return `#learn?${told}`;
}

// The other way round; what makes no sense is left as it was.
export function fromAddress(text, before = DEFAULTS) {
  if (!text.startsWith("#learn")) return { ...before };
  const told = new URLSearchParams(text.slice(text.indexOf("?") + 1 || text.length));
  const choices = { task: TASKS, window: WINDOWS, asks: ASKS };
  const spec = { ...DEFAULTS };
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    const value = told.get(name);
    if (value === null) continue;
    const whole = /^\d{1,9}$/.test(value) ? Number(value) : NaN;
    if (typeof usual === "boolean") spec[name] = PLAIN[value] ?? usual;
    else if (name === "length") spec[name] = whole >= 4 && whole <= 16 ? whole : usual;
    else if (name === "directions") spec[name] = whole === 1 ? 1 : 2;
    else if (name === "seed") spec[name] = whole >= 0 ? whole : usual;
    else if (!choices[name] || Object.hasOwn(choices[name], value)) spec[name] = value;
  }
  return spec;
}

// ------------------------------------------------------------------------------ small tools

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null));
  return element;
}

const percent = (share) => (share > 0 && share < 0.005 ? "<1%" : share < 1 && share >= 0.995 ? ">99%" : `${Math.round(100 * share)}%`);
const top = (weights) => weights.indexOf(Math.max(...weights));
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
let boxes = 0;

// ------------------------------------------------------------------------------ curves

const SVG = "http://www.w3.org/2000/svg";

// One value over the updates: its name, its number now, and a line up to now.
class Curve {
  constructor(title, pick, { write = percent, most = 1, second } = {}) {
    Object.assign(this, { pick, write, most, second });
    this.number = make("b");
    this.svg = document.createElementNS(SVG, "svg");
    for (const [name, value] of Object.entries({ viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true" })) this.svg.setAttribute(name, value);
    this.svg.innerHTML = '<path class="axis" d="M0 39.5H100"/><path class="other"/><path class="all"/><path class="now"/>';
    this.element = make("div", { class: "learn-curve" }, make("p", {}, make("span", {}, title), " ", this.number), this.svg);
  }

  draw(looks, at) {
    const value = this.pick(looks[at]);
    this.element.hidden = value === null;
    if (value === null) return;
    this.number.textContent = this.write(value);
    const last = Math.max(1, looks.at(-1).updates);
    const most = typeof this.most === "function" ? this.most(looks) : this.most;
    const x = (look) => ((100 * look.updates) / last).toFixed(2);
    const path = (pick) => looks.map((look, n) => `${n ? "L" : "M"}${x(look)} ${(39 - 37 * Math.min(1, pick(look) / most)).toFixed(2)}`).join("");
    const [, other, all, now] = this.svg.children;
    all.setAttribute("d", path(this.pick));
    other.setAttribute("d", this.second ? path(this.second) : "");
    now.setAttribute("d", `M${x(looks[at])} 0V40`);
  }
}

// ------------------------------------------------------------------------------ the component

class View {
  constructor(box, options) {
    this.box = box;
    this.name = `learn-${++boxes}`;
    this.share = options.share;
    this.spec = fromAddress(this.share ? location.hash : "", { ...DEFAULTS, ...options.spec });
    this.looks = [];
    this.at = -1; // which one is drawn; -1: the newest
    this.training = false;
    this.said = 0;
    this.build();
    this.fill();
    this.worker = new Worker(new URL("learn_worker.mjs", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = () => this.complain("This browser cannot run the training. A newer one can.");
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
    const select = (name, label, choices, chosen = (value) => this.change({ [name]: value })) => {
      const field = make("select", { id: `${this.name}-${name}`, onchange: () => chosen(field.value) }, Object.entries(choices).map(([value, text]) => make("option", { value }, text)));
      this[name] = field;
      return make("p", { class: "learn-field" }, make("label", { for: field.id }, label), field);
    };
    const toggle = (name, label, on = true, off = false) => {
      const field = make("input", { type: "checkbox", id: `${this.name}-${name}`, onchange: () => this.change({ [name]: field.checked ? on : off }) });
      this[name] = field;
      return make("p", { class: "learn-check" }, field, make("label", { for: field.id }, label));
    };
    const button = (text, action, kind = "") => make("button", { type: "button", class: `live-button ${kind}`, onclick: action }, text);
    const id = (what) => `${this.name}-${what}`;

    this.pairs = make("textarea", { id: id("pairs"), rows: 6, spellcheck: "false", oninput: () => this.later({ pairs: this.pairs.value }) });
    this.own = make("div", { class: "learn-own", hidden: true }, make("label", { for: this.pairs.id }, "Your pairs, one a line: source = target (8 to 400 lines, up to 20 words a side)"), this.pairs);
    this.length = make("input", { type: "range", min: 4, max: 16, id: id("length"), oninput: () => this.later({ length: Number(this.length.value) }) });
    this.lengthText = make("output", { for: this.length.id });
    this.lengthField = make("p", { class: "learn-field" }, make("label", { for: this.length.id }, "Longest sentence: ", this.lengthText), this.length);
    this.line = make("input", { type: "text", id: id("score"), class: "learn-line", spellcheck: "false", autocomplete: "off", autocapitalize: "off", maxlength: 120, "aria-describedby": id("wrong"), oninput: () => this.later({ score: this.line.value }) });
    this.wrong = make("p", { class: "learn-wrong", id: id("wrong"), role: "alert" });
    this.scoreField = make("p", { class: "learn-field learn-score" }, make("label", { for: this.line.id }, "Score of query q and word k: edit this line"), this.line);

    this.play = button("Train", () => this.press(), "learn-train");
    this.stepper = button("Step", () => this.ask({ step: true }));
    this.again = button("Again with another seed", () => this.change({ seed: this.spec.seed + 1 }));
    this.counted = make("span", { class: "live-count" });

    const presets = select("preset", "Score", { ...NAMES, edited: "your own line" }, (name) => {
      if (name in SCORES) this.change({ score: SCORES[name], asks: name === "additive" ? "before" : "after" });
    });
    const more = make(
      "details",
      { class: "learn-more" },
      make("summary", {}, "More choices"),
      make("div", { class: "learn-choices" }, select("asks", "The query is", ASKS), select("window", "It may look at", WINDOWS), toggle("attention", "Attention"), toggle("feeding", "Input feeding")),
    );
    this.breaks = make(
      "details",
      { class: "learn-more" },
      make("summary", {}, "Break it"),
      BREAKS.map(([name, broken, label, look]) => make("div", { class: "learn-break" }, toggle(name, label, broken, DEFAULTS[name]), make("p", { class: "learn-look" }, look))),
    );

    this.head = make("tr");
    this.body = make("tbody");
    this.caption = make("caption", { class: "live-hidden" });
    this.table = make("table", { class: "live-grid" }, this.caption, make("thead", {}, this.head), this.body);
    this.scroll = make("div", { class: "live-scroll", tabindex: 0, role: "region", "aria-label": "Weights of one held-out sentence, as a table" }, this.table);
    this.legend = make("p", { class: "learn-legend" });
    this.curves = [
      new Curve("Loss", (look) => look.loss, { write: (value) => value.toFixed(2), most: (looks) => Math.max(...looks.map((look) => look.loss), 1) }),
      new Curve("Words right", (look) => look.right),
      new Curve("Weight on the right word", (look) => look.mass),
      new Curve("Most weight on the right word", (look) => look.top),
      new Curve("Entropy of the weights, bits", (look) => look.entropy, { write: (value) => value.toFixed(2), most: () => Math.log2(this.about.source.length) }),
    ];
    this.back = make("input", { type: "range", min: 0, value: 0, id: id("back"), oninput: () => this.go(Number(this.back.value)) });
    this.backText = make("output", { for: this.back.id });
    this.say = make("p", { class: "live-say", "aria-live": "off" });
    this.heard = make("p", { class: "live-hidden", "aria-live": "polite" });
    this.box.replaceChildren(
      make("div", { class: "learn-choices" }, select("task", "Task", TASKS), this.lengthField, presets),
      this.own,
      this.scoreField,
      this.wrong,
      make("div", { class: "live-buttons" }, this.play, this.stepper, this.again, this.counted),
      make("div", { class: "learn-bench" }, make("div", { class: "learn-picture" }, this.scroll, this.legend), make("div", { class: "learn-curves" }, this.curves.map((one) => one.element))),
      make("p", { class: "learn-field learn-back" }, make("label", { for: this.back.id }, "Go back through the training: ", this.backText), this.back),
      this.say,
      this.heard,
      more,
      this.breaks,
    );
    this.box.classList.add("learn-on");
  }

  // The fields say what the spec says.
  fill() {
    const { spec } = this;
    if (spec.task === "own" && !spec.pairs) spec.pairs = EXAMPLE;
    for (const name of ["task", "asks", "window"]) this[name].value = spec[name];
    for (const name of ["attention", "feeding"]) this[name].checked = spec[name];
    for (const [name, broken, , , fits] of BREAKS) {
      this[name].checked = spec[name] === broken;
      this[name].disabled = !fits(spec);
    }
    this.preset.value = Object.keys(SCORES).find((name) => SCORES[name] === spec.score) ?? "edited";
    for (const field of [this.asks, this.window, this.preset, this.line]) field.disabled = !spec.attention;
    if (this.line !== document.activeElement) this.line.value = spec.score;
    if (this.pairs !== document.activeElement) this.pairs.value = spec.pairs;
    this.own.hidden = spec.task !== "own";
    this.lengthField.hidden = spec.task === "own";
    this.length.value = spec.length;
    this.lengthText.textContent = `${spec.length} words`;
  }

  // --- what the reader does

  change(news) {
    clearTimeout(this.timer);
    Object.assign(this.spec, news);
    this.fill();
    if (this.share) history.replaceState(history.state, "", toAddress(this.spec));
    this.begin(this.training);
  }

  later(news) {
    clearTimeout(this.timer);
    if (news.length) this.lengthText.textContent = `${news.length} words`;
    this.timer = setTimeout(() => this.change(news), WAIT);
  }

  begin(go = false) {
    this.wait(false);
    this.complain("");
    try {
      if (this.spec.attention) plan(this.spec.score, { n: SIZES.n, d: SIZES.n });
      if (this.spec.task === "own") readPairs(this.spec.pairs);
    } catch (error) {
      return this.refuse(error.message, error.at);
    }
    this.looks = [];
    this.at = -1;
    this.refused = false;
    this.worker.postMessage({ start: this.spec });
    if (go) this.ask({ train: true });
  }

  ask(what) {
    if (this.refused) return;
    if (what.train) this.wait(true);
    this.at = -1;
    this.worker.postMessage(what);
  }

  press() {
    this.ask(this.training ? { pause: true } : { train: true });
  }

  wait(training) {
    this.training = training;
    this.play.textContent = training ? "Pause" : "Train";
    this.box.dataset.training = training;
  }

  // --- what the worker says

  hear({ ready, look, paused, trouble, refused, at }) {
    if (refused) return this.refuse(refused, at);
    if (ready) this.lay(ready);
    if (trouble) {
      this.wait(false);
      this.complain(trouble);
    }
    if (look) {
      if (look.updates && !this.looks.length) return; // of a training before this one
      this.looks.push(look);
      if (this.looks.length > MOST_LOOKS && this.at < 0) this.looks = this.looks.filter((_, n) => n % 2 === 0 || n > MOST_LOOKS - 20);
      this.due ??= (still() ? setTimeout : requestAnimationFrame)(() => this.draw(), 250);
    }
    if (paused !== undefined) {
      this.wait(false);
      this.tell(true);
      this.box.dataset.paused = paused;
    }
  }

  refuse(message, at) {
    this.refused = true;
    const caret = at === undefined ? [] : [make("code", {}, `${this.spec.score}\n${" ".repeat(at)}^`), make("br")];
    this.wrong.replaceChildren(...caret, message);
    this.worker.postMessage({ pause: true });
    this.box.dataset.refused = "true";
  }

  complain(message) {
    delete this.box.dataset.refused;
    this.wrong.replaceChildren(message);
  }

  // --- the picture

  lay(about) {
    this.about = about;
    this.looks = [];
    const { source, hidden } = about;
    this.caption.textContent = "A row for each word to write, a column for each word read; numbers are weights.";
    this.head.replaceChildren(make("td"), ...source.map((word, s) => make("th", { scope: "col", class: hidden && s === source.length - 1 ? "learn-masked" : "" }, make("span", {}, word))));
    this.scroll.style.setProperty("--columns", source.length);
    this.body.replaceChildren();
    this.legend.textContent = this.spec.attention
      ? `The deeper the blue, the larger the weight.${about.links ? " A frame marks the word that belongs in this row." : ""}${hidden ? " The end mark </s> is masked." : ""}`
      : "Without attention there are no weights: one vector for the whole sentence.";
    this.counted.textContent = "";
    delete this.box.dataset.paused;
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
      const line = this.body.rows[i] ?? this.body.insertRow();
      if (!line.cells.length)
        line.append(
          make("th", { scope: "row" }, make("span", {}, row.word), make("small")),
          ...this.about.source.map((_, s) => make("td", { class: this.about.links?.[i] === s ? "gold" : "" }, make("span", { class: "live-hidden" }))),
        );
      const wrong = row.guess !== row.word;
      line.cells[0].classList.toggle("learn-missed", wrong);
      line.cells[0].lastChild.textContent = wrong ? ` not ${row.guess}` : "";
      if (row.weights)
        row.weights.forEach((weight, s) => {
          const cell = line.cells[s + 1];
          cell.style.setProperty("--w", weight.toFixed(3));
          cell.firstChild.textContent = percent(weight);
        });
    });
    this.curves.forEach((curve) => curve.draw(looks, at));
    this.back.max = looks.length - 1;
    this.back.value = at;
    this.back.setAttribute("aria-valuetext", `update ${updates}`);
    this.backText.textContent = `update ${updates}`;
    this.counted.textContent = `${looks.at(-1).updates} updates`;
    Object.assign(this.box.dataset, { updates: looks.at(-1).updates, shown: updates, mass: look.mass ?? "" });
    this.tell();
  }

  // In words, what the picture shows; for a screen reader now and then.
  tell(now = false) {
    const { looks, about } = this;
    if (!looks.length) return;
    const look = looks[this.at < 0 ? looks.length - 1 : this.at];
    const parts = [look.updates ? `After ${look.updates} updates, ${percent(look.right)} of the held-out words are right.` : "Nothing is learned yet."];
    if (look.entropy !== null) {
      const rows = look.rows.slice(0, -1);
      const at = rows.map((row) => top(row.weights));
      if (about.links) {
        const astray = rows.findIndex((_, i) => at[i] !== about.links[i]);
        parts.push(`${percent(look.mass)} of the weight is on the right word.`);
        parts.push(astray < 0 ? "In this sentence, every word looks at its own." : `In this sentence, ${rows[astray].word} looks most at ${about.source[at[astray]]}, and belongs to ${about.source[about.links[astray]]}.`);
      } else parts.push(`In this sentence, ${rows.map((row, i) => `${row.word} looks most at ${about.source[at[i]]}`).join(", ")}.`);
      const locked = looks.find((one) => one.mass > LOCKED);
      if (locked && look.updates >= locked.updates) parts.push(`It locked on at update ${locked.updates}.`);
    }
    if (!look.updates) parts.push("Press Train.");
    else if (look.updates && look.updates % MOST_UPDATES === 0 && !this.training) parts.push("It waits here: press Train to go on.");
    this.say.textContent = parts.join(" ");
    if (!now && performance.now() - this.said < SAID) return;
    this.said = performance.now();
    this.heard.textContent = this.say.textContent;
  }
}

export const render = (box, options = {}) => new View(box, options);

if (typeof document !== "undefined")
  [...document.querySelectorAll(".learn:not(.learn-on)")].forEach((box, n) => {
    const told = JSON.parse(box.querySelector(".learn-options")?.textContent ?? "{}");
    const share = n === 0;
    const start = () => render(box, { spec: told, share });
    if (share && location.hash.startsWith("#learn")) {
      start();
      box.scrollIntoView();
      return;
    }
    const watch = new IntersectionObserver((seen) => {
      if (!seen.some((one) => one.isIntersecting)) return;
      watch.disconnect();
      start();
    });
    watch.observe(box);
  });
