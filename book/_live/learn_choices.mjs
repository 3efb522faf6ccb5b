// What a reader can choose, and how an address says it; the worker that trains needs none of it.

export const LOCKED = 0.9; // of the weight on the right word, on average
export const MOST_UPDATES = 2000; // then it waits for the reader
export const BROKEN_UPDATES = 300; // of a training of BREAKS: what is said of it holds then
const MOST_SHARED = 4000; // characters of pairs that an address may hold

// What a training is given.
export const DEFAULTS = {
  task: "german", // or another of TASKS
  score: "dot(q, k)",
  asks: "after", // or "before"
  window: "global", // or "local-m", "local-p"
  attention: true,
  feeding: false,
  length: 8, // words of the longest sentence
  seed: 1,
  mask: true,
  directions: 2,
  sharp: true, // the score times RECIPE.sharpness
  zero: false, // v starts at 0
  same: false, // one article for all
  pairs: "", // of the task "own": a line each, German = English
};

export const TASKS = ["german", "korean", "copy", "reverse", "own"];
export const WINDOWS = ["global", "local-m", "local-p"];
export const ASKS = ["after", "before"];

export const SCORES = {
  additive: "dot(v, tanh(W(q) + U(k)))",
  dot: DEFAULTS.score,
  scaled: "dot(q, k) / sqrt(n)",
  general: "dot(q, W(k))",
  location: "W(q)[j]",
};

const LENGTHS = Array.from({ length: 13 }, (_, at) => 4 + at);
const CHOICES = { task: TASKS, asks: ASKS, window: WINDOWS, length: LENGTHS, directions: [1, 2] };

// Each is where what is said of it (`look_...`) holds; DEFAULTS has what the switches do.
const ADDITIVE = { score: SCORES.additive, asks: "before" };
export const BREAKS = {
  mask: { mask: false, ...ADDITIVE, seed: 2 },
  directions: { directions: 1, task: "reverse", ...ADDITIVE },
  sharp: { sharp: false, task: "copy", score: SCORES.scaled },
  zero: { zero: true, ...ADDITIVE },
  same: { same: true, length: 10, ...ADDITIVE },
};

// Which of them a training is, if it is one.
export const brokenBy = (spec) => Object.keys(BREAKS).find((name) => Object.entries(BREAKS[name]).every(([key, value]) => spec[key] === value));

const written = (value) => (typeof value === "boolean" ? (value ? "yes" : "no") : String(value));

// What differs from the defaults, as the end of an address.
export function toAddress(spec) {
  const query = new URLSearchParams();
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    const left = name === "pairs" && (spec.task !== "own" || spec.pairs.length > MOST_SHARED);
    if (spec[name] !== usual && !left) query.set(name, written(spec[name]));
  }
  return `#learn?${query}`;
}

// The other way round; what makes no sense is left as it was.
export function fromAddress(text, before = DEFAULTS) {
  if (!text.startsWith("#learn")) return { ...before };
  const query = new URLSearchParams(text.slice(text.indexOf("?") + 1 || text.length));
  const spec = { ...DEFAULTS };
  for (const [name, value] of query) {
    const choices = CHOICES[name] ?? (typeof spec[name] === "boolean" ? [true, false] : [value]);
    if (name === "seed") spec.seed = /^\d{1,9}$/.test(value) ? Number(value) : spec.seed;
    else if (Object.hasOwn(spec, name)) spec[name] = choices.find((one) => written(one) === value) ?? spec[name];
  }
  return spec;
}
