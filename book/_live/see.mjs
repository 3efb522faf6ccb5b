// What the reader touches: a recurrent translator that runs in the page.
//
//   render({ model, el })   as anywidget calls it: `model.get(name)` gives the options, `el` is filled.
//
// Options, all but `mode` optional:
//   mode         "pair" (two models side by side), "single" (one), "step" (one word, frame by frame),
//                "both" (one, and the reader chooses between the whole sentence and step by step)
//   models       names of weights: "rnnsearch" is fetched from rnnsearch.safetensors.gz beside this
//   weights      instead of fetching: { name: ArrayBuffer, or text in base64 }
//   sentence     to begin with, and `english`, its translation
//   sentences    instead of fetching sentences.json: its content, or {} where there is nothing to offer
//   prefixes     abbreviations of the source language that keep their full stop
//   frame        of a step, to begin with: 0 to 3
//   code         { name: { frame: HTML } }, the package's source beside a step
//   translator   instead of importing translator.mjs: the module
//
// A page in Korean is given the words of words_ko.mjs, any other those of SEE, below.
//
// Nothing is asked of any other server. Numbers on the screen are the model's own.

const MOST_WORDS = 60; // of a sentence that is read; words are counted without marks everywhere
const MOST_UNITS = 200; // pieces of it, as translator.mjs has it
const LONGEST_SEEN = 40; // words and marks of a sentence in training
const KNOWN_ENOUGH = 0.5; // the share of words that must be known
const SUGGESTIONS = 6;
const FREQUENT = 12; // words that a view offers where it has no sentences
const SPECIAL_WORDS = 4; // <pad>, <unk>, <s>, </s>, the first of each vocabulary
const END = "</s>";
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const beside = (name) => new URL(name, new URL(".", import.meta.url));

// ------------------------------------------------------------------------------ its words

// In English; `words_ko.mjs` has the same keys in Korean. Names in braces are filled in.
export const SEE = {
  code: "en", // of this language
  article: "a {language}",
  article_vowel: "an {language}",
  unit_word: "word",
  unit_piece: "piece",

  // models
  with: "With attention",
  without: "Without attention",
  alone: "Attention alone",
  with_feeding: "With input feeding",
  without_feeding: "Without input feeding",
  small_transformer: "a small Transformer",
  half_fixed: "concat, half of it fixed",
  feeding: "input feeding",
  authors: "{authors} et al. {year}",
  after_authors: "after {authors} et al. {year}",

  // the sentence
  label: "{a_language} sentence",
  known: "Words that the model knows",
  random: "Random",
  random_title: "Another sentence",
  longer: "Longer",
  longer_title: "Add a part to the sentence",
  longest: "{most} words is the limit here",
  shorter: "Shorter",
  shorter_title: "Take the last part away",
  a_name: "a name",
  count_one: "1 word",
  count: "{count} words",
  thousand: "about a thousand",
  empty: "Type {a_language} sentence.",
  empty_random: "Type {a_language} sentence, or press Random.",
  script: "The model reads {language} only. It does not know this script: {words}.",
  knows: "The model knows only {many} {language} words, and not {words}.",
  knows_letters: "The model knows only the letters that it has learned, and not {words}.",
  press_random: "Press Random for a sentence it can read.",
  cut: "That is {all} words. Only the first {most} are translated.",
  long: "No sentence in training had more than {most} words and marks, and this one has {count}. Expect mistakes.",
  unknown_one: "The model does not know {words}; it sees a gap and guesses.",
  unknown: "Not known: {words}. The model sees a gap for each and guesses.",
  offers: "Words that it knows: {words}",
  add: "Add {word}",
  like: "Did you mean {words}?",
  use: "Use {word}",
  not_known: "not known",
  added: "added",

  // its translation
  wordless: "The model ended its translation before the first word.",
  writing: "Writing ...",
  unknown_word: "a word that the model does not know",
  by_word: "The {language} sentence, word by word",
  translation_by: "Translation by {name}",
  reference: "Reference translation: ",
  unknown_mark: "? = a word that the network does not know.",
  found: "{found} reference words found, in order",
  found_count: "{right} of the {all}",
  found_extra_one: "{found} reference words found, in order; 1 word too many or wrong",
  found_extra: "{found} reference words found, in order; {count} words too many or wrong",
  read_for: "Read for {word}: {size} numbers, blended anew",
  available: "Available at every step: the same {size} numbers",
  context: "The context: {size} numbers",
  looks_at: "looks at {words}",
  looked_at_by: "looked at by {words}",
  wrote_blind: "{name} wrote {word} from the same vector as every other word. It has nothing to look at.",
  wrote_state: "{name} wrote {word} from its own state, which began with the whole sentence. It has nothing to look at.",
  attended: "To write {word}, the model put {share} of its attention on {where}.",
  attended_most: "{word} got its biggest share, {share}, when the network wrote {written}.",

  // all weights
  table: "Alignment, as a table",
  table_of: "Alignment of {name}, as a table",
  caption: "Weights of {name}: a row for each {target} word, a column for each {source} word.",
  looked: "Where the network looked",
  looked_pair: "Where the network with attention looked",
  looked_each: "Where it looked, {title}",
  rows: "a row for each {language} word: the stronger the blue, the more weight",
  growth: "As the sentence grows",
  growth_share: "share of the reference's words that it found, in order",
  growth_words: "{language} words",
  press_longer: "Press Longer, and again.",

  // step by step
  whole: "Whole sentence",
  steps: "Step by step",
  views: "How to look at it",
  which: "Which model",
  asks_before: "Bahdanau: asks with the old state",
  asks_after: "Luong: asks with the new state",
  choose: "The translation: choose the word to look at",
  back: "← Back",
  back_title: "Back one frame",
  play: "Play",
  pause: "Pause",
  forward: "Forward →",
  forward_title: "Forward one frame",
  pieces: "This model reads and writes pieces of words, one a step. ▁ marks a piece that begins a word.",
  code_shown: "Show the code: the package’s own lines",
  not_yet: "not written yet",
  new_state: "New state",
  frame_score: "Score",
  frame_softmax: "Softmax",
  frame_blend: "Blend",
  frame_word: "Next word",
  annotation: "annotation",
  source_state: "source state",
  weight: "weight",
  blend: "blend",
  asks: "asks",
  none: "none",
  vector_of: "vector of {word}",
  context_strip: "the context, {size} numbers",
  query_strip: "the query, {size} numbers",
  step_caption: "One step: scores and weights of each {language} {unit}, while {word} is written",
  five_best: "Next word: five best of {all}, {symbol}",
  comes_first: "What comes first?",
  comes_after: "What comes after {words}?",
  state: "The state {state}",
  state_first: "Its new state {state}",
  state_read: "The decoder has already read {word}; its new state {state}",
  location_score: "{ask} {state} gives each place a score, whatever word is there. {best} scores {score}.",
  compared_score: "{ask} {state} is compared with every {language} {unit}. {best} scores {score}.",
  softmax_share: "Softmax turns the scores into shares: for {word}, {power} divided by the sum of all is {share}.",
  softmax_all: "Together they are 100%.",
  softmax_window: "Only words {first} to {last} take part.",
  softmax_gauss: "Only words {first} to {last} take part, and a Gaussian round p = {place} multiplies them.",
  blended: "Each {language} {unit}’s vector counts by its weight: mostly {words}. The sum is one vector, made for this {unit} alone.",
  next_before: "From the context, the old state and the last word, the model gives each {language} word a probability. It writes {word} ({share}).",
  next_after: "From the context and the new state, the model gives each {language} word a probability. It writes {word} ({share}).",
  note_softmax: "padding is masked; <code>weight</code> is for local attention only",
  note_score_before: "<code>query</code> is s_(i−1); <code>keys</code> are all U_(a) h_(j), computed once a sentence",
  note_blend_before: "<code>memory.annotations</code> are all h_(j); <code>weight</code> is for local attention only",
  note_word_before: "<code>features</code> are s_(i−1), the embedding of y_(i−1), and c_(i), side by side; the softmax of what is returned is p(y_(i))",
  note_score_after: "<code>query</code> is h_(t); <code>keys</code> are all h̄_(s)",
  note_blend_after: "<code>memory.annotations</code> are all h̄_(s); <code>weight</code> is for local attention only",
  note_word_after: "h̃_(t), then W_(s) h̃_(t), where the code calls W_(s) <code>W_out</code>; the softmax of that is p(y_(t))",

  // until it is there
  fetching: "Fetching the model ...",
  fetching_bytes: "Fetching the model: {size} MB",
  failed: "The model could not be fetched. Is there a connection?",
  try_again: "Try again",
  fetching_other: "Fetching the other model ...",
  failed_other: "The other model could not be fetched. Is there a connection? Press its button to try again.",
};

// A function that says a key's words in a table. `say.parts` gives them as a list, for `make`, where
// elements are filled in.
export function speaker(table) {
  const parts = (key, given = {}) =>
    table[key].split(/\{(\w+)\}/).flatMap((text, at) => (at % 2 ? given[text] : text));
  return Object.assign((key, given) => parts(key, given).join(""), { parts });
}

// The words of the page that a box stands on.
async function wordsOf(box) {
  const language = box.closest("[lang]")?.lang;
  return speaker(language === "ko" ? (await import(beside("words_ko.mjs"))).SEE : SEE);
}

// ------------------------------------------------------------------------------ small tools

// make("p", { class: "note" }, "text", node): an element.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null));
  return element;
}

// Never 0% or 100% of what is neither.
function percent(share) {
  if (share > 0 && share < 0.005) return "<1%";
  if (share < 1 && share >= 0.995) return ">99%";
  return `${Math.round(100 * share)}%`;
}

const number = (value) => value.toFixed(2).replace("-", "\u2212");
const sum = (values) => values.reduce((total, value) => total + value, 0);
const whole = (share) => (Math.abs(share - 1) < 1e-4 ? 1 : share); // a sum of 32-bit numbers
const largest = (values) => values.reduce((best, value, at) => (value > values[best] ? at : best), 0);
const isWord = (text) => /[\p{L}\p{N}]/u.test(text);
const shown = (word) => (word === "<unk>" ? "?" : word);
const quoted = (word) => make("q", {}, shown(word));
const asRead = (word, lang) => make("q", { lang }, word); // a word that the model reads

// A language's name: "German" of "de".
function languageName(code, say) {
  try {
    return new Intl.DisplayNames([say("code")], { type: "language" }).of(code);
  } catch {
    return code;
  }
}

// What a view says of a model's languages: their codes, `from` and `to`, and their names.
function languagesOf({ source, target }, say) {
  const [from, to] = [source.language, target.language];
  return { from, to, source: languageName(from, say), target: languageName(to, say) };
}

const withArticle = (language, say) => say(/^[AEIO]/.test(language) ? "article_vowel" : "article", { language });
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// The next picture on the screen; soon, too, where the page is hidden and none is drawn.
const nextFrame = () =>
  new Promise((resolve) => {
    const late = setTimeout(resolve, 60);
    requestAnimationFrame(() => {
      clearTimeout(late);
      resolve();
    });
  });

// Words that two sentences share, in order: the longest common subsequence, as flags on `ours`.
export function shared(ours, theirs) {
  const best = Array.from({ length: ours.length + 1 }, () => new Uint16Array(theirs.length + 1));
  for (let i = ours.length - 1; i >= 0; i--)
    for (let j = theirs.length - 1; j >= 0; j--)
      best[i][j] =
        ours[i] === theirs[j]
          ? best[i + 1][j + 1] + 1
          : Math.max(best[i + 1][j], best[i][j + 1]);
  const flags = ours.map(() => false);
  for (let i = 0, j = 0; i < ours.length && j < theirs.length; )
    if (ours[i] === theirs[j]) flags[(j++, i++)] = true;
    else if (best[i + 1][j] >= best[i][j + 1]) i++;
    else j++;
  return flags;
}

// How many letters apart two words are; `limit` or more is all the same.
export function distance(one, other, limit = 3) {
  if (Math.abs(one.length - other.length) >= limit) return limit;
  let row = Array.from({ length: other.length + 1 }, (_, j) => j);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++)
      next.push(
        Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] !== other[j - 1])),
      );
    row = next;
  }
  return Math.min(limit, row[other.length]);
}

// The known word that is most like an unknown one, or nothing.
export function nearest(word, known) {
  const lower = word.toLowerCase();
  const same = known.find((other) => other.toLowerCase() === lower);
  if (same) return same;
  const limit = lower.length < 5 ? 1 : lower.length < 8 ? 2 : 3; // more letters apart in a long word
  const found = known.map((other) => [distance(lower, other.toLowerCase(), limit), other]);
  const [apart, best] = found.reduce((a, b) => (b[0] < a[0] ? b : a), [limit, ""]);
  return apart < limit ? best : "";
}

// Let a button be pressed, or not: one that is not keeps the focus, and does nothing.
function allow(button, whether) {
  button.setAttribute("aria-disabled", String(!whether));
}

// ------------------------------------------------------------------------------ fetching

// Bytes as they are, or unpacked: some servers unpack such files on the way.
async function unpacked(bytes) {
  const [one, two] = new Uint8Array(bytes, 0, 2);
  if (one !== 0x1f || two !== 0x8b) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

// A file's bytes; `progress(bytes)` hears of each part that arrives.
async function fetchBytes(url, progress) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} ${url}`);
  const parts = [];
  const reader = response.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    progress(part.value.length);
  }
  return unpacked(await new Blob(parts).arrayBuffer());
}

async function fetchJson(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} ${url}`);
  return response.json();
}

const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;

// All that a view needs; what was fetched once is kept for the page.
class Library {
  static kept = new Map();

  constructor(options) {
    this.options = options;
  }

  once(key, fetchIt) {
    if (!Library.kept.has(key)) {
      const promise = fetchIt();
      Library.kept.set(key, promise);
      promise.catch(() => Library.kept.delete(key)); // a failure is tried again
    }
    return Library.kept.get(key);
  }

  translator() {
    return this.options.translator ?? this.once("translator", () => import(beside("translator.mjs")));
  }

  // Sentences as they are written, with their words: { de, en, reference }.
  async sentences() {
    const { written } = await this.translator();
    const raw = this.options.sentences ?? (await this.once("sentences", () => fetchJson(beside("sentences.json"))));
    const entry = ({ german, english }) => ({ de: written(german), en: written(english), reference: english });
    const { chains = [], random = [] } = raw;
    return { ...raw, chains: chains.map((chain) => chain.map(entry)), random: random.map(entry) };
  }

  async model(name, progress = () => {}) {
    const given = this.options.weights?.[name];
    const { load } = await this.translator();
    if (given) {
      const model = await load(typeof given === "string" ? fromBase64(given) : given);
      model.source.prefixes = new Set(this.options.prefixes);
      return model;
    }
    return this.once(name, async () => load(await fetchBytes(beside(`${name}.safetensors.gz`), progress)));
  }
}

// ------------------------------------------------------------------------------ translating

// Writes a translation step by step of a run, and yields to the screen between steps. `seen(step)`
// draws each. Answers the steps, or nothing if `stale()` says that nobody waits for them any more.
async function write(run, seen, stale = () => false) {
  const { words } = run;
  const steps = [];
  steps.annotations = run.memory.annotations;
  while (!run.done) {
    const begun = performance.now();
    do {
      const step = run.step();
      if (step.word === END) break;
      steps.push(step);
      seen(step, steps.length - 1);
    } while (!run.done && performance.now() - begun < (still() || words.length > 20 ? 40 : 6));
    if (!run.done) await nextFrame();
    if (stale()) return null;
  }
  return steps;
}

const MARK = /^[.?!]$/;
const countWords = (words) => words.filter(isWord).length;

// A word in capitals, as it is usually written.
function usual(word, model) {
  const known = (other) => model.unknown([other]).length === 0;
  if (word.length < 2 || word !== word.toUpperCase() || known(word)) return word;
  const lower = word.toLowerCase();
  return [lower, lower[0].toUpperCase() + lower.slice(1)].find(known) ?? word;
}

// What stands in the reader's sentence, in the words of the model: `words`; `all`, how many words
// without marks were written; whether some were `cut`, and a full stop `added`; the places of the
// `unknown` ones. Where the book's sentences are offered, all those of the training ended in a mark.
function readSentence(text, model, offered) {
  const all = model.tokenise(text.trim()).map((word) => usual(word, model));
  let last = 0;
  let units = 0;
  for (let seen = 0; last < all.length && (seen += isWord(all[last])) <= MOST_WORDS; last++) {
    units += model.units([all[last]]).length;
    if (units >= MOST_UNITS) break;
  }
  const words = all.slice(0, last);
  const added = Boolean(offered.chains.length) && words.some(isWord) && !MARK.test(words.at(-1));
  if (added) words.push(".");
  return { words, all: countWords(all), cut: last < all.length, added, unknown: new Set(model.unknown(words)) };
}

// ------------------------------------------------------------------------------ names

function describe(model, say) {
  const { config } = model;
  const by = (authors, year, key = "authors") => say(key, { authors, year });
  if (config.model === "attention_only")
    return { title: say("alone"), name: say("small_transformer"), paper: by("Vaswani", 2017, "after_authors") };
  if (config.model === "rnnencdec")
    return { title: say("without"), name: "RNNencdec", paper: by("Cho", 2014) };
  if (config.model === "rnnsearch")
    return { title: say("with"), name: "RNNsearch", paper: by("Bahdanau", 2015) };
  if (config.model === "sutskever")
    return { title: say("without"), name: "LSTM encoder-decoder", paper: by("Sutskever", 2014) };
  const parts = [config.score ?? say("half_fixed")];
  if (config.window && config.window !== "global") parts.push(config.window);
  if (config.feeding) parts.push(say("feeding"));
  return { title: say("with"), name: `Luong: ${parts.join(", ")}`, paper: by("Luong", 2015) };
}

// ------------------------------------------------------------------------------ words with bars

// A row of words. Each is a button: pointed at, touched or focused, it calls `light(index)`.
// Tab reaches the row, the arrows move in it.
class Words {
  constructor({ label, lang, light, say }) {
    Object.assign(this, { light, say });
    this.buttons = [];
    this.element = make("div", { class: "live-words", role: "group", "aria-label": label, lang });
    this.element.addEventListener("keydown", (event) => this.move(event));
    this.element.addEventListener("pointerover", (event) => this.point(event));
    this.element.addEventListener("focusin", (event) => this.point(event));
    this.element.addEventListener("click", (event) => this.point(event));
  }

  point(event) {
    const at = this.buttons.indexOf(event.target.closest(".live-word"));
    if (at < 0) return;
    this.stop(at);
    this.light(at);
  }

  stop(at) {
    this.buttons.forEach((button, number) => (button.tabIndex = number === at ? 0 : -1));
  }

  move(event) {
    const at = this.buttons.indexOf(event.target.closest(".live-word"));
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.buttons.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.buttons[Math.min(Math.max(to, 0), this.buttons.length - 1)]?.focus();
  }

  clear() {
    this.buttons = [];
    this.element.replaceChildren();
  }

  // `gloss` is English, `note` in the page's language: what stands under the word.
  add(word, { gloss, note, kind = "" } = {}) {
    const under = note ?? gloss;
    const own = this.say("code");
    const button = make(
      "button",
      { type: "button", class: `live-word ${kind}`, tabindex: this.buttons.length ? -1 : 0 },
      make("span", { class: "live-bar", "aria-hidden": "true" }, make("i")),
      make("span", { class: "live-text" }, shown(word)),
      " ",
      under === undefined ? null : make("span", { class: "live-gloss", lang: note === undefined ? "en" : own }, under || "\u00a0"),
      make("span", { class: "live-hidden live-more", lang: own }),
    );
    if (word === "<unk>") button.title = this.say("unknown_word");
    this.buttons.push(button);
    this.element.append(button);
    return button;
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

// ------------------------------------------------------------------------------ the alignment

// A real table of weights: a row for each word written, a column for each word read.
class Grid {
  constructor({ light, languages, say }) {
    Object.assign(this, { languages, say });
    this.body = make("tbody");
    this.head = make("tr");
    this.caption = make("caption", { class: "live-hidden" });
    const table = make("table", { class: "live-grid" }, this.caption, make("thead", {}, this.head), this.body);
    this.element = make("div", { class: "live-scroll", tabindex: 0, role: "region", "aria-label": say("table") }, table);
    const point = (event) => {
      const cell = event.target.closest("td, th[scope]");
      if (!cell) return;
      const row = cell.parentElement.parentElement === this.body ? cell.parentElement.rowIndex - 1 : -1;
      light(row, cell.cellIndex - 1);
    };
    table.addEventListener("pointerover", point);
    table.addEventListener("click", point);
    this.element.addEventListener("scroll", () => this.fade());
    new ResizeObserver(() => this.fade()).observe(this.element);
  }

  // Whether there is more at the right: then its edge is faint.
  fade() {
    const { scrollLeft, clientWidth, scrollWidth } = this.element;
    this.element.classList.toggle("more", scrollLeft + clientWidth < scrollWidth - 2);
  }

  clear(words, name) {
    const { source, target } = this.languages;
    this.element.setAttribute("aria-label", this.say("table_of", { name }));
    this.caption.textContent = this.say("caption", { name, source, target });
    this.head.replaceChildren(
      make("td"),
      ...words.map((word) => make("th", { scope: "col", lang: this.languages.from }, make("span", {}, word))),
    );
    this.body.replaceChildren();
    this.element.style.setProperty("--columns", words.length);
  }

  add(step) {
    const { window: local } = step;
    const inside = (s) => !local || (s >= local.first && s <= local.last);
    const cells = Array.from(step.align, (weight, s) => {
      const cell = make("td", { class: inside(s) ? "" : "outside" }, make("span", { class: "live-hidden" }, percent(weight)));
      cell.style.setProperty("--w", weight.toFixed(4));
      return cell;
    });
    if (local) {
      const at = Math.min(Math.max(Math.floor(local.p + 0.5), 0), cells.length - 1);
      const dot = make("b", { class: "live-centre", title: `p = ${local.p.toFixed(1)}` });
      dot.style.setProperty("--at", Math.min(Math.max(local.p - at + 0.5, 0), 1).toFixed(2));
      cells[at].append(dot);
    }
    this.body.append(make("tr", {}, make("th", { scope: "row" }, shown(step.word)), cells));
    if (this.body.rows.length === 1) this.fade();
  }

  mark(row, column) {
    [...this.body.rows].forEach((line, at) => line.classList.toggle("lit", at === row));
    [...this.head.cells].forEach((cell, at) => cell.classList.toggle("lit", at - 1 === column));
  }
}

// A vector as a strip, a stripe for each number: blue above zero, orange below.
function strip(values, { label, strength = 1 } = {}) {
  const canvas = make("canvas", { class: "live-strip", width: values.length, height: 1, role: "img", "aria-label": label });
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(values.length, 1);
  const most = Math.max(...Array.from(values, Math.abs), 1e-6);
  values.forEach((value, at) => {
    const colour = value > 0 ? [30, 120, 200] : [214, 110, 20];
    pixels.data.set([...colour, 255 * Math.abs(value / most) ** 0.8], 4 * at);
  });
  context.putImageData(pixels, 0, 0);
  canvas.style.opacity = Math.max(strength, 0.35); // still to be seen
  return canvas;
}

// ------------------------------------------------------------------------------ the sentence

// The field, its completion, its buttons and its notes. `changed(entry)` hears of each sentence:
// { de, en, reference }, the last two of sentences that are not the reader's own.
class Chooser {
  constructor({ model, sentences, first, most, longer, changed, say }) {
    Object.assign(this, { model, sentences, most, changed, say, trail: [], languages: languagesOf(model, say) });
    const listed = sentences.complete ?? (model.source.subwords ? [] : model.sourceWords); // a piece is no word
    const unknown = new Set(model.unknown(listed));
    this.words = listed.filter((_, at) => !unknown.has(at));
    this.names = new Set(sentences.names ? sentences.complete.slice(-sentences.names) : []);
    this.id = `live-${Math.random().toString(36).slice(2, 8)}`;
    this.field = make("textarea", {
      rows: 2, class: "live-field", id: this.id, lang: this.languages.from, spellcheck: "false",
      autocomplete: "off", autocapitalize: "off", "aria-haspopup": "listbox",
      "aria-autocomplete": "list", "aria-controls": `${this.id}-list`, enterkeyhint: "go",
      "aria-describedby": `${this.id}-notes`,
    });
    this.field.value = first.de;
    this.list = make("ul", { class: "live-list", role: "listbox", id: `${this.id}-list`, hidden: true, "aria-label": say("known") });
    this.notes = make("div", { class: "live-notes", id: `${this.id}-notes`, role: "status" });
    this.count = make("span", { class: "live-count" });
    const button = (text, press, title) => make("button", { type: "button", class: "live-button", onclick: press, title }, text);
    this.shorterButton = button(say("shorter"), () => this.shorter(), say("shorter_title"));
    this.buttons = sentences.random.length ? [button(say("random"), () => this.random(), say("random_title"))] : [];
    this.longerButton = button(say("longer"), () => this.longer(), say("longer_title"));
    if (longer && sentences.chains.length) this.buttons.push(this.longerButton, this.shorterButton);
    this.element = make(
      "div",
      { class: "live-chooser" },
      make("label", { class: "live-label", for: this.id }, capital(say("label", { a_language: withArticle(this.languages.source, say) }))),
      make("div", { class: "live-combo" }, this.field, this.list),
      make("div", { class: "live-buttons" }, this.buttons, this.count),
      this.notes,
    );
    this.field.addEventListener("input", () => this.typed());
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("blur", () => this.close(true));
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the field keeps the focus
      const at = this.options().indexOf(event.target.closest("li"));
      if (at >= 0) this.accept(at);
    });
    this.entry = this.find(first.de) ?? { reference: first.en && model.target.tokenise(first.en), ...first };
    this.refresh();
  }

  // A sentence of the corpus with its translation and, of a chain, its place.
  find(de) {
    for (const chain of this.sentences.chains ?? []) {
      const at = chain.findIndex((entry) => entry.de === de);
      if (at >= 0) return { ...chain[at], chain, at };
    }
    return this.sentences.random?.find((entry) => entry.de === de);
  }

  set(entry) {
    this.entry = entry;
    this.field.value = entry.de;
    this.close();
    this.refresh();
    this.changed(entry);
  }

  refresh() {
    allow(this.shorterButton, this.entry.at > 0 || this.trail.length > 0);
    const more = this.next();
    allow(this.longerButton, more !== null);
    this.longerButton.title = more ? this.say("longer_title") : this.say("longest", { most: MOST_WORDS });
  }

  random() {
    this.trail = [];
    const fits = (entry) => entry.de !== this.entry.de && entry.de.split(" ").length <= this.most;
    const others = this.sentences.random.filter(fits);
    if (!others.length) return;
    this.set(others[Math.floor(Math.random() * others.length)]);
  }

  // The next sentence of its chain; any other sentence gets an "und" and a short sentence more.
  // Nothing where it would be too long to be read.
  next() {
    const { chain, at } = this.entry;
    if (chain && at + 1 < chain.length) return { ...chain[at + 1], chain, at: at + 1 };
    const short = this.sentences.chains.map((each) => each[0]);
    if (!short.length) return null;
    const more = short[(this.trail.length + this.field.value.length) % short.length];
    const grown = joined(this.entry, more, this.words);
    return countWords(this.model.tokenise(grown.de)) <= MOST_WORDS ? grown : null;
  }

  longer() {
    const more = this.next();
    if (!more) return;
    if (!more.chain) this.trail.push(this.entry);
    this.set(more);
  }

  shorter() {
    if (this.trail.length) this.set(this.trail.pop());
    else if (this.entry.at > 0) {
      const { chain, at } = this.entry;
      this.set({ ...chain[at - 1], chain, at: at - 1 });
    }
  }

  // --- completion

  options() {
    return [...this.list.children];
  }

  // The word that is being typed, before the cursor.
  prefix() {
    const before = this.field.value.slice(0, this.field.selectionStart ?? undefined);
    return before.match(/[\p{L}\p{M}'-]+$/u)?.[0] ?? "";
  }

  typed() {
    const prefix = this.prefix();
    const lower = prefix.toLowerCase();
    const fits = prefix
      ? this.words.filter((word) => word.toLowerCase().startsWith(lower) && word !== prefix)
      : [];
    const alike = (word) => (word[0] === prefix[0] ? 0 : 1);
    fits.sort((a, b) => alike(a) - alike(b)); // else the common ones first, names last
    this.active = -1;
    this.list.replaceChildren(
      ...fits.slice(0, SUGGESTIONS).map((word, at) =>
        make("li", { role: "option", id: `${this.id}-${at}`, "data-word": word }, make("span", { lang: this.languages.from }, word), make("small", {}, this.names.has(word) ? this.say("a_name") : (this.sentences.glosses?.[word] ?? ""))),
      ),
    );
    this.open(fits.length > 0);
    this.trail = [];
    this.entry = this.find(this.field.value.trim()) ?? { de: this.field.value };
    this.refresh();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.changed(this.entry), 200);
  }

  open(whether) {
    this.list.hidden = !whether;
    if (!whether) this.field.removeAttribute("aria-activedescendant");
  }

  close(finished = false) {
    const was = !this.list.hidden;
    this.open(false);
    if (was && finished) this.changed(this.entry);
  }

  key(event) {
    const options = this.options();
    event.stopPropagation(); // slides have keys of their own
    if (["ArrowDown", "ArrowUp"].includes(event.key) && !this.list.hidden) {
      event.preventDefault();
      const by = event.key === "ArrowDown" ? 1 : -1;
      this.active = (this.active + by + options.length + (this.active < 0 && by < 0)) % options.length;
      options.forEach((option, at) => option.setAttribute("aria-selected", String(at === this.active)));
      this.field.setAttribute("aria-activedescendant", options[this.active].id);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (!this.list.hidden && this.active >= 0) this.accept(this.active);
      else this.close(true);
    } else if (event.key === "Escape" && !this.list.hidden) {
      event.preventDefault();
      this.close();
    }
  }

  accept(at) {
    const word = this.options()[at].dataset.word;
    const cursor = this.field.selectionStart ?? this.field.value.length;
    const start = cursor - this.prefix().length;
    const rest = this.field.value.slice(cursor);
    const before = `${this.field.value.slice(0, start)}${word}${/^\s|^[.,]/.test(rest) ? "" : " "}`;
    this.field.value = before + rest;
    this.field.setSelectionRange(before.length, before.length);
    this.typed();
    this.close();
  }

  // --- what the reader should know of this sentence

  // Tell it, and answer whether there is something to translate.
  tell(read) {
    const { all } = read;
    this.count.textContent = !all ? "" : all === 1 ? this.say("count_one") : this.say("count", { count: all });
    const { refused, notes } = this.problems(read);
    this.notes.replaceChildren(...notes.map((note) => make("p", {}, note)));
    return !refused;
  }

  problems({ words, all, cut, unknown: places }) {
    const { say } = this;
    const { source: language, from } = this.languages;
    const random = this.sentences.random.length > 0;
    if (!words.some(isWord))
      return { refused: true, notes: [say(random ? "empty_random" : "empty", { a_language: withArticle(language, say) }), random ? [] : this.frequentWords()].filter((note) => note.length) };
    const unknown = [...places].map((at) => words[at]);
    const foreign = unknown.filter((word) => this.isForeign(word));
    if (foreign.length) {
      const typed = this.field.value.match(/[\p{L}\p{M}]+/gu).filter((word) => this.isForeign(word)); // not letter by letter
      return { refused: true, notes: [say.parts("script", { language, words: listed(typed) })] };
    }
    const typed = words.filter(isWord).at(-1);
    const half = !this.list.hidden && unknown.at(-1) === typed ? 1 : 0; // a word that is being typed
    const typing = unknown.slice(0, unknown.length - half);
    const count = countWords(words) - half;
    if (!count) return { refused: true, notes: [] };
    if (typing.length > (1 - KNOWN_ENOUGH) * count) {
      const told = { many: roughly(this.words.length, say), language, words: listed(typing, from) };
      const known = say.parts(this.words.length ? "knows" : "knows_letters", told);
      if (random) known.push(" ", say("press_random"));
      return { refused: true, notes: [known, this.likeWords(typing)].filter((note) => note.length) };
    }
    const found = [];
    if (cut) found.push(say("cut", { all, most: MOST_WORDS }));
    else if (this.sentences.chains.length && words.length > LONGEST_SEEN)
      found.push(say("long", { most: LONGEST_SEEN, count: words.length }));
    if (typing.length) found.push(this.unknownWords([...new Set(typing)]));
    return { refused: false, notes: found };
  }

  unknownWords(unknown) {
    const words = listed(unknown, this.languages.from);
    return [...this.say.parts(unknown.length === 1 ? "unknown_one" : "unknown", { words }), " ", ...this.likeWords(unknown)];
  }

  // Whether a word is in a script of which the model has no letter.
  isForeign(word) {
    this.letters ??= new Set(this.model.sourceWords.slice(SPECIAL_WORDS).join(""));
    const letters = [...word].filter((letter) => /\p{L}/u.test(letter));
    return letters.length > 0 && !letters.some((letter) => /\p{Script=Latin}/u.test(letter) || this.letters.has(letter));
  }

  // Where no sentence is offered: words to begin with, each a button.
  frequentWords() {
    const words = this.words.filter(isWord).slice(0, FREQUENT);
    if (!words.length) return [];
    const press = (word) => () => this.set({ de: `${this.field.value.trimEnd()} ${word}`.trim() });
    const buttons = words.flatMap((word) => [make("button", { type: "button", class: "live-small", "aria-label": this.say("add", { word }), onclick: press(word) }, asRead(word, this.languages.from)), " "]);
    return this.say.parts("offers", { words: buttons });
  }

  // "Did you mean ...?", for words that are nearly known.
  likeWords(unknown) {
    const like = [...new Set(unknown)].map((word) => [word, nearest(word, this.words)]).filter(([, near]) => near).slice(0, 3);
    if (!like.length) return [];
    const button = ([word, near]) => make("button", { type: "button", class: "live-small", "aria-label": this.say("use", { word: near }), onclick: () => this.replace(word, near) }, asRead(near, this.languages.from));
    return this.say.parts("like", { words: like.flatMap((pair, at) => [at ? " " : "", button(pair)]) });
  }

  replace(word, other) {
    this.trail = [];
    const text = this.field.value.replace(word, other);
    this.set(this.find(text) ?? { de: text });
    this.field.focus();
  }
}

// Words in italics, with commas between them; each once.
function listed(words, lang = null) {
  return [...new Set(words)].flatMap((word, at) => [at ? ", " : "", asRead(word, lang)]);
}

// How many, in words where it is near a thousand.
const roughly = (count, say) => (Math.abs(count - 1000) <= 50 ? say("thousand") : count.toLocaleString("en"));

// "A." and "B." as "A, und b."; with the translation if both are known.
export function joined(one, other, known) {
  const open = (text) => text.replace(/\s*[.!?]\s*$/, "");
  const lower = (text) => text[0].toLowerCase() + text.slice(1);
  const small = known.includes(lower(other.de.split(" ")[0]));
  const de = `${open(one.de)}, und ${small ? lower(other.de) : other.de}`;
  if (!one.reference || !other.reference) return { de };
  const reference = [...one.reference.slice(0, -1), ",", "and", ...other.reference];
  return { de, en: `${open(one.en)}, and ${other.reference[0]}${other.en.slice(other.reference[0].length)}`, reference };
}

// ------------------------------------------------------------------------------ one translation

// A model's card: what it wrote, what it read meanwhile, and what became of the reference.
class Card {
  constructor({ model, light, beside: other, say }) {
    Object.assign(this, { model, say });
    this.about = describe(model, say);
    this.title = this.about.title;
    this.words = new Words({ label: say("translation_by", this.about), lang: model.target.language, light, say });
    this.verdict = make("p", { class: "live-verdict" });
    this.vector = make("div", { class: "live-vector" });
    this.element = make(
      "div",
      { class: `live-card ${model.attends ? "attends" : "fixed"}`, role: "group", "aria-label": `${this.about.title}: ${this.about.name}` },
      make("p", { class: "live-title" }, this.about.title, " ", make("small", {}, `${this.about.name}, ${this.about.paper}`)),
      this.words.element,
      this.verdict,
      other ? this.vector : null,
    );
  }

  // Beside a model of the same kind, by what sets it apart.
  nameIt() {
    const { config } = this.model;
    this.title = this.say(config.feeding ? "with_feeding" : "without_feeding");
    this.element.querySelector(".live-title").firstChild.data = this.title;
  }

  clear() {
    this.steps = [];
    this.words.clear();
    this.vector.replaceChildren();
    this.verdict.textContent = "";
  }

  // Translate, drawing word by word.
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
    const written = this.steps.map((step) => step.word);
    if (!reference) {
      this.verdict.textContent = "";
      return null;
    }
    const flags = shared(written, reference);
    flags.forEach((right, at) => {
      this.words.buttons[at].classList.toggle("wrong", !right && isWord(written[at]));
    });
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
    const size = step.context.length;
    const what = this.model.attends
      ? this.say.parts("read_for", { word: quoted(step.word), size })
      : this.say("available", { size });
    const label = this.say("context", { size });
    this.vector.replaceChildren(strip(step.context, { label }), make("p", {}, what));
  }
}

// ------------------------------------------------------------------------------ pair and single

class Translation {
  constructor({ models, sentences, first, mode, say }) {
    Object.assign(this, { sentences, mode, say, turn: 0, visited: new Map() });
    this.cards = models.map((model) => {
      const card = new Card({ model, say, beside: mode === "pair", light: (at) => this.lightTarget(card, at) });
      return card;
    });
    if (new Set(this.cards.map((card) => card.about.title)).size < models.length)
      this.cards.forEach((card) => card.nameIt());
    this.looker = this.cards.find((card) => card.model.attends);
    this.languages = languagesOf(models[0], say);
    this.chooser = new Chooser({
      model: models[0], sentences, first, say, most: 16, longer: true,
      changed: (entry) => this.translate(entry),
    });
    this.source = new Words({ label: say("by_word", { language: this.languages.source }), lang: this.languages.from, light: (at) => this.lightSource(at), say });
    this.said = make("p", { class: "live-say" });
    this.spoken = make("p", { class: "live-hidden", "aria-live": "polite" });
    this.reference = make("p", { class: "live-reference" });
    this.lookers = this.cards.filter((card) => card.model.attends);
    for (const card of this.lookers)
      card.grid = new Grid({ languages: this.languages, say, light: (row, column) => (row >= 0 ? this.lightTarget(card, row) : this.lightSource(column)) });
    this.growth = make("div", { class: "live-growth" });
    const looked = (card) => (this.lookers.length > 1 ? say("looked_each", { title: card.title.toLowerCase() }) : say(mode === "pair" ? "looked_pair" : "looked"));
    const alignment = this.lookers.map((card) =>
      make(
        "div", { class: "live-alignment" },
        make("p", { class: "live-title" }, looked(card), " ", make("small", {}, say("rows", { language: this.languages.target }))),
        card.grid.element,
      ),
    );
    this.element = make(
      "div",
      { class: `live-view ${mode}` },
      this.chooser.element,
      make("div", { class: "live-watch" }, this.source.element, this.said),
      make("div", { class: "live-cards" }, this.cards.map((card) => card.element)),
      this.reference,
      mode === "pair" ? this.growth : null,
      alignment.length ? make("div", { class: "live-cards" }, alignment) : null,
      this.spoken,
    );
    this.element.addEventListener("pointerleave", () => this.settle());
  }

  // --- translating

  async translate(entry) {
    const turn = ++this.turn;
    const stale = () => turn !== this.turn;
    Object.assign(this, { entry, wordless: false });
    const read = readSentence(entry.de, this.cards[0].model, this.sentences);
    this.read = read;
    const good = this.chooser.tell(read);
    this.element.classList.toggle("live-empty", !good);
    this.source.clear();
    this.said.textContent = "";
    this.reference.textContent = "";
    this.lookers.forEach((card) => card.grid.clear(read.words, card.about.name));
    if (!good) {
      this.cards.forEach((card) => card.clear());
      this.growth.replaceChildren();
      this.visited.clear();
      this.spoken.textContent = "";
      return;
    }
    this.said.textContent = this.say("writing");
    read.words.forEach((word, at) => {
      const unknown = read.unknown.has(at);
      const added = read.added && at === read.words.length - 1;
      const gloss = isWord(word) ? (this.sentences.glosses?.[word] ?? "") : "";
      const note = unknown ? this.say("not_known") : added ? this.say("added") : undefined;
      this.source.add(word, { gloss, note, kind: unknown ? "unknown" : "" });
    });
    performance.mark("live-asked");
    let first = true;
    const seen = (card, at) => {
      if (first) performance.mark("live-first-word");
      first = false;
      card.show(at);
      card.grid?.add(card.steps[at]);
      if (card === this.looker) this.source.bars(card.steps[at].align);
    };
    const results = await Promise.all(this.cards.map((card) => card.run(read.words, stale, seen)));
    if (results.includes(null) || stale()) return;
    performance.mark("live-done");
    this.finish(entry);
  }

  finish(entry) {
    const reference = entry.reference ?? null;
    this.reference.replaceChildren(...(entry.en ? [make("b", {}, this.say("reference")), make("span", { lang: this.languages.to }, entry.en)] : []));
    if (this.cards.some((card) => card.steps.some((step) => step.word === "<unk>")))
      this.reference.append(make("span", { class: "live-unk" }, this.say("unknown_mark")));
    const shares = this.cards.map((card) => card.judge(reference));
    this.wordless = this.cards.every((card) => !card.steps.length);
    this.rest = this.looker ? farthest(this.looker.steps) : 0;
    this.settle();
    this.label();
    this.grow(entry, shares);
    this.spoken.textContent = this.cards
      .map((card) => `${card.about.name}: ${card.steps.map((step) => shown(step.word)).join(" ")}`)
      .join(". ");
    this.element.dataset.done = String(this.turn);
  }

  // What a screen reader says of each word.
  label() {
    const { words } = this.read;
    for (const card of this.cards.filter((each) => each.model.attends))
      card.steps.forEach((step, at) => card.words.tell(at, this.say("looks_at", { words: strongest(step.align, words) })));
    if (!this.looker?.steps.length) return;
    const written = this.looker.steps.map((step) => step.word);
    words.forEach((word, s) => {
      const column = this.looker.steps.map((step) => step.align[s]);
      this.source.tell(s, this.say("looked_at_by", { words: strongest(column, written) }));
    });
  }

  // --- lighting

  // With nobody pointing: the word that reached farthest.
  settle() {
    if (this.wordless) this.said.textContent = this.say("wordless");
    else if (this.looker?.steps?.length) this.lightTarget(this.looker, this.rest ?? 0);
    else this.lightTarget(this.cards[0], 0);
  }

  lightTarget(card, at) {
    const step = card.steps[at];
    if (!step) return;
    this.cards.forEach((other) => {
      other.words.bars(null, other === card ? at : -1);
      other.show(Math.min(at, other.steps.length - 1));
    });
    this.source.bars(step.align);
    if (step.align) this.reveal(largest(step.align));
    this.lookers.forEach((other) => other.grid.mark(other === card ? at : -1, -1));
    const { words } = this.read;
    if (!step.align) {
      const key = step.context ? "wrote_blind" : "wrote_state";
      this.said.replaceChildren(...this.say.parts(key, { name: card.about.name, word: quoted(step.word) }));
      return;
    }
    const best = largest(step.align);
    const where = [asRead(words[best], this.languages.from)];
    const gloss = this.sentences.glosses?.[words[best]];
    if (gloss) where.push(` (${gloss})`);
    this.said.replaceChildren(...this.say.parts("attended", { word: quoted(step.word), share: make("b", {}, percent(step.align[best])), where }));
  }

  // On a phone the German row has its own scroll bar: the word that was looked at comes in sight.
  reveal(s) {
    const row = this.source.element;
    const word = this.source.buttons[s].getBoundingClientRect();
    const { top, bottom } = row.getBoundingClientRect();
    if (row.scrollHeight > row.clientHeight && (word.top < top || word.bottom > bottom))
      row.scrollTop += word.bottom - bottom;
  }

  lightSource(s) {
    if (!this.looker || s < 0) return;
    const column = this.looker.steps.map((step) => step.align[s]);
    this.cards.forEach((card) => card.words.bars(card === this.looker ? column : null));
    this.source.bars(null, s);
    this.lookers.forEach((card) => card.grid.mark(-1, s));
    const best = largest(column);
    if (!column.length) return;
    const told = { word: asRead(this.read.words[s], this.languages.from), share: make("b", {}, percent(column[best])), written: quoted(this.looker.steps[best].word) };
    this.said.replaceChildren(...this.say.parts("attended_most", told));
  }

  // --- the sentence grows

  grow(entry, shares) {
    if (this.mode !== "pair" || shares.includes(null)) {
      this.growth.replaceChildren();
      return;
    }
    if (entry.chain !== this.chain || (!entry.chain && !this.chooser.trail.length)) {
      if (!this.chooser.trail.length) this.visited.clear();
      this.chain = entry.chain;
    }
    this.visited.set(entry.de, { entry, shares, length: this.read.words.filter(isWord).length });
    const rows = [...this.visited.values()].sort((a, b) => a.length - b.length);
    const bar = (share) => {
      const cell = make("td", {}, make("span", { class: "live-share" }, make("i")), ` ${percent(share)}`);
      cell.style.setProperty("--w", share.toFixed(3));
      return cell;
    };
    this.growth.replaceChildren(
      make("p", { class: "live-title" }, this.say("growth"), make("small", {}, " ", this.say("growth_share"))),
      make(
        "table", {},
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, this.say("growth_words", { language: this.languages.source })), this.cards.map((card) => make("th", { scope: "col" }, card.about.title)))),
        make("tbody", {}, rows.map((row) => make("tr", { class: row.entry.de === entry.de ? "lit" : "" }, make("th", { scope: "row" }, String(row.length)), row.shares.map(bar)))),
      ),
      rows.length === 1 ? make("p", { class: "live-hint" }, this.say("press_longer")) : "",
    );
  }
}

// The written word that surely looked at one word, and far from its own place.
function farthest(steps) {
  const total = steps[0]?.align?.length ?? 1;
  const jump = steps.map((step, at) => {
    const best = largest(step.align);
    const far = Math.abs(best / total - at / steps.length);
    return isWord(step.word) ? step.align[best] * (0.1 + far) : 0;
  });
  return largest(jump);
}

// "Lehrer 93%, alte 4%"
function strongest(weights, words) {
  return Array.from(weights, (weight, at) => [weight, words[at]])
    .sort((a, b) => b[0] - a[0])
    .slice(0, 2)
    .filter(([weight], at) => !at || weight >= 0.05)
    .map(([weight, word]) => `${shown(word)} ${percent(weight)}`)
    .join(", ");
}

// ------------------------------------------------------------------------------ one step

// Symbols and equations of a model's step, frame by frame. {braces} mark what lights.
const sub = (text) => text.replace(/_\(([^)]*)\)/g, "<sub>$1</sub>").replace(/\^T/g, "<sup>\u22a4</sup>");
const mark = (text) => sub(text).replace(/\{([^}]*)\}/g, "<mark>$1</mark>").replace(/\b([a-zA-Z])(?=<sub>|<\/mark>|\b)/g, "$1");

const FRAMES = {
  before: [
    { key: "score", name: "frame_score", equation: "{e_(ij)} = v_(a)^T tanh(W_(a) s_(i\u22121) + U_(a) h_(j))" },
    { key: "softmax", name: "frame_softmax", equation: "{\u03b1_(ij)} = exp(e_(ij)) / \u03a3_(k) exp(e_(ik))" },
    { key: "blend", name: "frame_blend", equation: "{c_(i)} = \u03a3_(j) \u03b1_(ij) h_(j)" },
    { key: "word", name: "frame_word", equation: "{p(y_(i))} = softmax(W_(o) t_(i)),  t_(i) from s_(i\u22121), y_(i\u22121), c_(i)" },
  ],
  after: [
    { key: "score", name: "frame_score", equation: "{score(h_(t), h\u0304_(s))} = h_(t)^T h\u0304_(s)" },
    { key: "softmax", name: "frame_softmax", equation: "{a_(t)(s)} = exp(score(h_(t), h\u0304_(s))) / \u03a3_(s\u2032) exp(score(h_(t), h\u0304_(s\u2032)))" },
    { key: "blend", name: "frame_blend", equation: "{c_(t)} = \u03a3_(s) a_(t)(s) h\u0304_(s)" },
    { key: "word", name: "frame_word", equation: "{p(y_(t))} = softmax(W_(s) h\u0303_(t)),  h\u0303_(t) = tanh(W_(c)[c_(t); h_(t)])" },
  ],
};
// The right side of each score's equation, as attnmt.attention has them.
const SCORES = {
  dot: "h_(t)^T h\u0304_(s)",
  "scaled-dot": "h_(t)^T h\u0304_(s) / \u221an",
  general: "h_(t)^T W_(a) h\u0304_(s)",
  concat: "v_(a)^T tanh(W_(a)[h_(t); h\u0304_(s)])",
  additive: "v_(a)^T tanh(W_(a) h_(t) + U_(a) h\u0304_(s))",
  location: "(W_(a) h_(t))_(s)",
  "concat-fixed": "v_(a)^T tanh(W_(a) h_(t) + h\u0304_(s))",
};
const SYMBOLS = {
  before: { vector: "annotation", asks: "asks_before", query: "s_(i\u22121)", annotation: "h_(j)", score: "e_(ij)", softmax: "\u03b1_(ij)", blend: "c_(i)", word: "p(y_(i))", first: false, state: "s_(i) = f(s_(i\u22121), y_(i\u22121), c_(i))" },
  after: { vector: "source_state", asks: "asks_after", query: "h_(t)", annotation: "h\u0304_(s)", score: "score(h_(t), h\u0304_(s))", softmax: "a_(t)(s)", blend: "c_(t)", word: "p(y_(t))", first: true, state: "h_(t) = LSTM(h_(t\u22121), y_(t\u22121))" },
};

// What the package's lines take for granted.
const CODE_NOTES = {
  before: { score: "note_score_before", softmax: "note_softmax", blend: "note_blend_before", word: "note_word_before" },
  after: { score: "note_score_after", softmax: "note_softmax", blend: "note_blend_after", word: "note_word_after" },
};

function html(tag, attributes, inner) {
  const element = make(tag, attributes);
  element.innerHTML = inner;
  return element;
}

// A number and a bar of this length, from 0 to 1.
function meter(text, length, under = false) {
  const bar = make("i", { class: under ? "under" : "" });
  bar.style.setProperty("--w", length.toFixed(4));
  return make("div", { class: "live-meter" }, make("span", {}, text), bar);
}

class Stepper {
  constructor({ library, models, names, sentences, first, frame, code, say }) {
    Object.assign(this, { library, names, sentences, code, say, begin: frame, turn: 0, at: 0, loaded: new Map() });
    models.forEach((model, number) => this.loaded.set(names[number], model));
    this.name = names[0];
    this.languages = languagesOf(models[0], say);
    this.unit = say(models[0].source.subwords ? "unit_piece" : "unit_word");
    this.chooser = new Chooser({ model: models[0], sentences, first, say, most: 9, longer: false, changed: (entry) => this.translate(entry) });
    this.target = new Words({ label: say("choose"), lang: this.languages.to, light: () => {}, say });
    this.target.element.addEventListener("click", (event) => this.choose(event));
    this.equations = make("ol", { class: "live-frames" });
    this.table = make("div", { class: "live-scroll" });
    this.said = make("p", { class: "live-say", "aria-live": "polite" });
    this.best = make("div", { class: "live-best" });
    this.source = make("div", { class: "live-code" });
    const button = (text, label, press) => make("button", { type: "button", class: "live-button", "aria-label": label, onclick: press }, text);
    this.back = button(say("back"), say("back_title"), () => this.go(-1));
    this.play = button(say("play"), say("play"), () => this.toggle());
    this.on = button(say("forward"), say("forward_title"), () => this.go(1));
    this.which = make("div", { class: "live-which", role: "group", "aria-label": say("which") });
    this.element = make(
      "div",
      { class: "live-view step" },
      names.length > 1 ? this.which : null,
      this.chooser.element,
      this.target.element,
      make("div", { class: "live-controls" }, this.back, this.play, this.on),
      models[0].source.subwords ? make("p", { class: "live-hint" }, say("pieces")) : null,
      this.equations,
      this.said,
      make("div", { class: "live-bench" }, this.table, this.best),
      make("details", { class: "live-lines" }, make("summary", {}, say("code_shown")), this.source),
    );
    this.element.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by || event.target.closest(".live-words, textarea")) return;
      event.preventDefault();
      event.stopPropagation();
      this.go(by);
    });
  }

  get model() {
    return this.loaded.get(this.name);
  }

  // The frames of a step, with the equations of this model's own score and output.
  get frames() {
    const { asks, config } = this.model;
    const equations = asks === "after" ? { score: `{score(h_(t), h\u0304_(s))} = ${SCORES[config.score ?? "concat-fixed"]}` } : {};
    if (config.output_state === "current") equations.word = FRAMES.before[3].equation.replace("s_(i\u22121)", "s_(i)");
    return FRAMES[asks].map((frame) => ({ ...frame, name: this.say(frame.name), equation: equations[frame.key] ?? frame.equation }));
  }

  get symbols() {
    const symbols = SYMBOLS[this.model.asks];
    const fed = "h_(t) = LSTM(h_(t\u22121), [y_(t\u22121); h\u0303_(t\u22121)])";
    return this.model.config.feeding ? { ...symbols, state: fed } : symbols;
  }

  async pick(name) {
    this.stop();
    this.picked = name;
    if (!this.loaded.has(name)) {
      this.said.textContent = this.say("fetching_other");
      try {
        this.loaded.set(name, await this.library.model(name));
      } catch {
        if (this.picked === name) this.said.textContent = this.say("failed_other");
        return;
      }
    }
    if (this.picked !== name) return; // another one since
    this.name = name;
    await this.translate(this.chooser.entry);
  }

  drawWhich() {
    this.which.replaceChildren(
      ...this.names.map((name) => {
        const model = this.loaded.get(name);
        const title = model ? describe(model, this.say).name : name.replace(/^luong-/, "Luong: ");
        const when = this.say(SYMBOLS[name === "rnnsearch" ? "before" : "after"].asks);
        return make("button", { type: "button", class: "live-button", "aria-pressed": String(name === this.name), onclick: () => this.pick(name) }, title, make("small", {}, ` ${when}`));
      }),
    );
  }

  async translate(entry) {
    this.stop();
    const turn = ++this.turn;
    this.entry = entry;
    const read = readSentence(entry.de, this.model, this.sentences);
    const good = this.chooser.tell(read);
    read.words = this.model.units(read.words); // a step is one piece, where the model has pieces
    this.element.classList.toggle("live-empty", !good);
    this.target.clear();
    this.drawWhich();
    if (!good) {
      [this.table, this.best, this.equations, this.source].forEach((part) => part.replaceChildren());
      this.said.textContent = "";
      this.steps = [];
      return;
    }
    const steps = await write(this.model.begin(read.words), (step) => this.target.add(step.word, { note: "" }), () => turn !== this.turn);
    if (!steps) return;
    if (!steps.length) {
      this.steps = [];
      this.said.textContent = this.say("wordless");
      return;
    }
    Object.assign(this, { read, steps, at: farthest(steps), frame: this.begin });
    this.begin = 0;
    this.draw();
    this.element.dataset.done = String(turn);
  }

  // --- moving

  choose(event) {
    const at = this.target.buttons.indexOf(event.target.closest(".live-word"));
    if (at < 0) return;
    this.stop();
    this.at = at;
    this.draw();
  }

  go(by) {
    const last = this.frames.length - 1;
    const to = this.at * this.frames.length + this.frame + by;
    if (!this.steps?.length || to < 0 || to > this.steps.length * this.frames.length - 1) return this.stop();
    this.at = Math.floor(to / (last + 1));
    this.frame = to % (last + 1);
    this.draw();
  }

  toggle() {
    if (this.timer) return this.stop();
    this.callPlay("pause");
    this.timer = setInterval(() => this.go(1), 1400);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.callPlay("play");
  }

  callPlay(key) {
    this.play.textContent = this.say(key);
    this.play.setAttribute("aria-label", this.say(key));
  }

  // --- drawing

  draw() {
    const { key } = this.frames[this.frame];
    const step = this.steps[this.at];
    this.element.dataset.frame = key;
    this.target.bars(null, this.at);
    this.target.stop(this.at);
    const open = key !== "word";
    const notYet = this.say("not_yet");
    this.target.buttons.forEach((button, at) => {
      button.classList.toggle("later", at > this.at || (at === this.at && open));
      button.querySelector(".live-gloss").textContent = at === this.at && open ? notYet : "\u00a0";
    });
    allow(this.back, this.at + this.frame > 0);
    allow(this.on, this.at < this.steps.length - 1 || this.frame < this.frames.length - 1);
    this.drawEquations();
    this.drawTable(step);
    this.drawBest(step);
    this.drawCode(key);
    this.said.replaceChildren(...this.words(step, key));
  }

  drawEquations() {
    const { state, first } = this.symbols;
    const moved = html("li", { class: "live-state" }, `<b>${this.say("new_state")}</b> <span class="live-equation">${sub(state)}</span>`);
    const frames = this.frames.map((frame, number) => {
      const lit = number === this.frame;
      const press = () => ((this.frame = number), this.stop(), this.draw());
      const parts = [make("b", {}, make("span", {}, `${number + 1} `), frame.name), html("span", { class: "live-equation" }, mark(frame.equation))];
      const button = make("button", { type: "button", class: "live-frame", "aria-current": lit ? "step" : null, onclick: press }, parts);
      return make("li", { class: lit ? "lit" : "" }, button);
    });
    const focused = [...this.equations.querySelectorAll("button")].indexOf(document.activeElement);
    const equation = html("li", { class: "live-now lit live-equation", "aria-hidden": "true" }, mark(this.frames[this.frame].equation));
    this.equations.replaceChildren(...(first ? [moved, ...frames] : [...frames, moved]), equation);
    frames[focused]?.firstChild.focus(); // it was drawn anew
  }

  drawTable(step) {
    const { say, symbols } = this;
    const past = (key) => this.frames.findIndex((frame) => frame.key === key) <= this.frame;
    const column = (key, name) => html("th", { scope: "col", class: this.frames[this.frame].key === key ? "lit" : "" }, `${name} <mark>${sub(symbols[key])}</mark>`);
    const most = Math.max(...Array.from(step.scores).filter(Number.isFinite).map(Math.abs), 1e-6);
    const { words } = this.read;
    const best = largest(step.align);
    const rows = words.map((word, s) => {
      const score = step.scores[s];
      const outside = step.window && (s < step.window.first || s > step.window.last);
      const finite = Number.isFinite(score);
      const scored = meter(finite ? number(score) : say("none"), finite ? Math.abs(score / most) : 0, score < 0);
      const weight = past("softmax") ? meter(percent(step.align[s]), step.align[s]) : "";
      const annotation = this.steps.annotations?.[s];
      const share = past("blend") ? step.align[s] : 1;
      const drawn = annotation ? strip(annotation, { label: say("vector_of", { word }), strength: share }) : "";
      const gloss = this.sentences.glosses?.[word];
      return make("tr", { class: `${outside ? "outside" : ""} ${s === best && past("softmax") ? "best" : ""}` },
        make("th", { scope: "row" }, make("span", { lang: this.languages.from }, word), gloss && isWord(word) ? make("small", {}, ` ${gloss}`) : null),
        make("td", { class: "live-strips" }, drawn), make("td", { class: "live-number" }, scored), make("td", { class: "live-number weight" }, weight));
    });
    const total = make("tr", { class: `live-total ${past("blend") ? "" : "later"}` },
      html("th", { scope: "row" }, `<mark>${sub(symbols.blend)}</mark> <small>${say("blend")}</small>`),
      make("td", { class: "live-strips" }, past("blend") ? strip(step.context, { label: say("context_strip", { size: step.context.length }) }) : ""),
      make("td"), make("td", { class: "live-number" }, past("softmax") ? meter(percent(whole(sum(step.align))), 0) : ""));
    const query = make("tr", { class: "live-query" },
      html("th", { scope: "row" }, `<mark>${sub(symbols.query)}</mark> <small>${say("asks")}</small>`),
      make("td", { class: "live-strips" }, strip(step.query, { label: say("query_strip", { size: step.query.length }) })), make("td"), make("td"));
    this.table.replaceChildren(
      make("table", { class: "live-step" },
        make("caption", { class: "live-hidden" }, say("step_caption", { language: this.languages.source, unit: this.unit, word: step.word })),
        make("thead", {}, query, make("tr", {}, make("td"), html("th", { scope: "col" }, `${say(symbols.vector)} ${sub(symbols.annotation)}`), column("score", ""), column("softmax", say("weight")))),
        make("tbody", {}, rows, total)),
    );
  }

  drawBest(step) {
    const told = this.frames[this.frame].key === "word";
    this.best.classList.toggle("later", !told);
    this.best.replaceChildren(
      html("p", { class: "live-hint" }, this.say("five_best", { all: this.model.targetWords.length, symbol: `<mark>${sub(this.symbols.word)}</mark>` })),
      make("ol", {}, step.best.map(({ word, p }) => {
        const line = make("li", { class: word === step.word && told ? "lit" : "" }, make("span", {}, told ? shown(word) : "\u2007"), make("i"), make("b", {}, told ? percent(p) : ""));
        line.style.setProperty("--w", told ? p.toFixed(4) : 0);
        return line;
      })),
    );
  }

  drawCode(key) {
    const code = this.code?.[this.name];
    this.source.parentElement.hidden = !code;
    if (!code) return;
    const notes = CODE_NOTES[this.model.asks ?? "before"];
    this.source.replaceChildren(
      ...this.frames.flatMap((frame, number) => {
        const lit = frame.key === key;
        return [
          make("p", { class: `live-hint ${lit ? "lit" : ""}` }, make("b", {}, `${number + 1} ${frame.name}`), html("span", {}, `: ${sub(this.say(notes[frame.key]))}`)),
          html("pre", { class: `highlight ${lit ? "lit" : ""}`, tabindex: lit ? 0 : null }, code[frame.key]),
        ];
      }),
    );
  }

  // What happens in this frame, in words.
  words(step, key) {
    const { say, unit } = this;
    const { words } = this.read;
    const { source, target } = this.languages;
    if (key === "softmax") return this.softmaxWords(step, largest(step.align));
    if (key === "blend") return say.parts("blended", { language: source, unit, words: strongest(step.align, words) });
    if (key === "word") {
      const from = this.model.asks === "after" ? "next_after" : "next_before";
      return say.parts(from, { language: target, word: quoted(step.word), share: percent(step.best[0].p) });
    }
    const before = this.steps.slice(0, this.at).map((each) => each.word);
    const sofar = `${before.length > 3 ? "... " : ""}${before.slice(-3).join(" ")}`;
    const ask = before.length ? say.parts("comes_after", { words: quoted(sofar) }) : [say("comes_first")];
    const best = largest(step.align);
    const told = { language: source, unit, ask, state: this.stateWords(before), best: asRead(words[best], this.languages.from), score: number(step.scores[best]) };
    return say.parts(this.model.config.score === "location" ? "location_score" : "compared_score", told);
  }

  // The state that asks, after these words.
  stateWords(before) {
    const state = html("span", {}, sub(this.symbols.query));
    if (this.model.asks !== "after") return this.say.parts("state", { state });
    if (!before.length) return this.say.parts("state_first", { state });
    return this.say.parts("state_read", { word: quoted(before.at(-1)), state });
  }

  softmaxWords(step, best) {
    const taking = Array.from(step.scores).filter((score, s) => Number.isFinite(score) && (!step.window || (s >= step.window.first && s <= step.window.last)));
    const top = Math.max(...taking);
    const total = sum(taking.map((score) => Math.exp(score - top)));
    const share = Math.exp(step.scores[best] - top) / total;
    const power = html("span", {}, `e<sup>${number(step.scores[best])}</sup>`);
    const told = this.say.parts("softmax_share", { word: asRead(this.read.words[best], this.languages.from), power, share: percent(share) });
    const local = step.window;
    if (!local) return [...told, " ", this.say("softmax_all")];
    const among = { first: local.first + 1, last: local.last + 1, place: local.p.toFixed(1) };
    return [...told, " ", this.say(step.gain ? "softmax_gauss" : "softmax_window", among)];
  }
}

// ------------------------------------------------------------------------------ both views

// One model, as a whole sentence or step by step: the reader chooses, and the sentence stays.
class Both {
  constructor(given) {
    const { say } = given;
    this.views = { [say("whole")]: new Translation({ ...given, mode: "single" }), [say("steps")]: new Stepper(given) };
    this.buttons = Object.keys(this.views).map((name) =>
      make("button", { type: "button", class: "live-button", onclick: () => this.show(name) }, name),
    );
    this.choice = make("div", { class: "live-which live-views", role: "group", "aria-label": say("views") }, this.buttons);
    this.place = make("div");
    this.element = make("div", {}, this.choice, this.place);
    this.open(this.buttons[0].textContent);
  }

  get chooser() {
    return this.view.chooser;
  }

  set turn(turn) {
    for (const view of Object.values(this.views)) view.turn = turn;
  }

  open(name) {
    this.view = this.views[name];
    this.place.replaceChildren(this.view.element);
    this.buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.textContent === name)));
  }

  show(name) {
    if (this.views[name] === this.view) return;
    const { entry } = this.chooser;
    this.view.stop?.();
    this.open(name);
    this.chooser.set(entry);
  }

  translate(entry) {
    return this.view.translate(entry);
  }
}

// ------------------------------------------------------------------------------ the entrance

const VIEWS = {
  both: (given) => new Both(given),
  pair: (given) => new Translation({ ...given, mode: "pair" }),
  single: (given) => new Translation({ ...given, mode: "single" }),
  step: (given) => new Stepper(given),
};

// The view, once all is there. Until then what stands in `el` stays, with a word on the progress.
export async function render({ model: given, el }) {
  const say = await wordsOf(el);
  const option = (name) => given.get(name);
  const options = Object.fromEntries(
    ["mode", "models", "weights", "sentence", "english", "sentences", "prefixes", "frame", "code", "translator"].map((name) => [name, option(name) ?? undefined]),
  );
  const mode = options.mode ?? "single";
  const names = options.models ?? Object.keys(options.weights ?? {});
  const library = new Library(options);
  const status = make("p", { class: "live-status", role: "status" });
  el.querySelector(":scope > .live-status")?.remove();
  el.append(status);
  let bytes = 0;
  const progress = (more) => {
    bytes += more;
    status.textContent = say("fetching_bytes", { size: (bytes / 1e6).toFixed(1) });
  };
  status.textContent = say("fetching");
  let view;
  try {
    const first = mode === "step" ? names.slice(0, 1) : names;
    const [sentences, ...models] = await Promise.all([library.sentences(), ...first.map((name) => library.model(name, progress))]);
    performance.mark("live-loaded");
    const sentence = options.sentence ? { de: options.sentence, en: options.english } : (sentences.chains[0]?.[0] ?? { de: "" });
    view = VIEWS[mode]({ say, library, models, names, sentences, first: sentence, frame: options.frame ?? 0, code: options.code });
  } catch (error) {
    console.warn(error);
    const again = make("button", { type: "button", class: "live-button", onclick: () => render({ model: given, el }) }, say("try_again"));
    status.replaceChildren(error.code === "file" ? error.message : say("failed"), " ", again);
    return () => {};
  }
  const byKeyboard = el.querySelector(":focus-visible");
  el.replaceChildren(view.element);
  if (byKeyboard) view.chooser.field.focus({ preventScroll: true }); // its button is gone
  el.classList.add("live-on");
  await view.translate(view.chooser.entry);
  return () => (view.turn = Infinity);
}

export default { render };
