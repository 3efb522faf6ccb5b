/**
 * The book's translators in a page: no server, no framework, no dependency.
 *
 * The file of a model is the one that PyTorch reads, too: safetensors, two bytes a number (see
 * `attnmt.book.live.weights`). Here as there they become float32, and the equations below are those of
 * `attnmt.encoder`, `attnmt.attention` and `attnmt.decoder`, in the same order and with the same
 * names, for one sentence at a time. So there is no batch, no padding and no mask. A vector is a
 * Float32Array; a matrix is {data, rows, columns}, row by row, as PyTorch stores it.
 *
 *     const model = await load("rnnsearch.safetensors");
 *     const words = model.tokenise("Der Hund schläft.");
 *     const {words: english, align} = model.translate(words);
 */

// ------------------------------------------------------------------------------------- errors

/** What a reader can be told. `code`: "empty", "too-long", "words", "file" or "network". */
export class TranslatorError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "TranslatorError";
    this.code = code;
  }
}

const refuse = (code, message) => {
  throw new TranslatorError(code, message);
};

// ------------------------------------------------------------------------------------ numbers

/** A number of two bytes (IEEE 754 half precision): sign, 5 bits of exponent, 10 of fraction. */
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const tanh = (x) => x.map(Math.tanh);
const add = (x, y) => x.map((value, k) => value + y[k]);
const multiply = (x, y) => x.map((value, k) => value * y[k]);

/** Vectors one behind the other: [x; y]. */
function concat(...vectors) {
  const joined = new Float32Array(vectors.reduce((sum, x) => sum + x.length, 0));
  let at = 0;
  for (const x of vectors) {
    joined.set(x, at);
    at += x.length;
  }
  return joined;
}

/** W x, or the product of x with only so many columns of W as it has numbers, from `first` on. */
function product({ data, rows, columns }, x, first = 0) {
  const out = new Float32Array(rows);
  let row = 0;
  // four rows at once, more than twice as fast: no sum waits for the one before it
  for (let start = first; row + 3 < rows; row += 4, start += 4 * columns) {
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let k = 0, at = start; k < x.length; k++, at++) {
      const number = x[k];
      a += data[at] * number;
      b += data[at + columns] * number;
      c += data[at + 2 * columns] * number;
      d += data[at + 3 * columns] * number;
    }
    out[row] = a;
    out[row + 1] = b;
    out[row + 2] = c;
    out[row + 3] = d;
  }
  for (; row < rows; row++) out[row] = dot(x, data.subarray(row * columns + first));
  return out;
}

function dot(x, y) {
  let sum = 0;
  for (let k = 0; k < x.length; k++) sum += x[k] * y[k];
  return sum;
}

/** Softmax over the positions from `first` to `last`, zero elsewhere. */
function softmax(scores, first = 0, last = scores.length - 1) {
  const weights = new Float32Array(scores.length);
  const kept = scores.subarray(first, last + 1);
  const most = kept.reduce((a, b) => Math.max(a, b), -Infinity);
  let sum = 0;
  for (const score of kept) sum += Math.exp(score - most);
  kept.forEach((score, k) => (weights[first + k] = Math.exp(score - most) / sum));
  return weights;
}

function logSoftmax(logits) {
  const most = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  const shift = most + Math.log(sum);
  return logits.map((logit) => logit - shift);
}

// ----------------------------------------------------------------------- the file of a model

const HALVES = Float32Array.from({ length: 1 << 16 }, (_, bits) => half(bits)); // all there are

const READ = {
  F16(buffer, start, count) {
    const bits = new Uint16Array(buffer, start, count);
    const numbers = new Float32Array(count);
    for (let k = 0; k < count; k++) numbers[k] = HALVES[bits[k]];
    return numbers;
  },
  F32: (buffer, start, count) => new Float32Array(buffer, start, count),
};

/**
 * Read a safetensors file: 8 bytes with the length of a header, the header, the numbers.
 *
 * The header is JSON: name -> {dtype, shape, data_offsets}, and texts under "__metadata__".
 */
function readTensors(bytes) {
  const buffer = bytes.slice().buffer; // of its own: numbers must start at multiples of their size
  const view = new DataView(buffer);
  const length = buffer.byteLength > 8 ? Number(view.getBigUint64(0, true)) : Infinity;
  if (length > buffer.byteLength - 8) refuse("file", "This file is damaged, or holds no model.");
  let header;
  try {
    header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  } catch {
    refuse("file", "This file is damaged, or holds no model.");
  }
  const { __metadata__: metadata = {}, ...entries } = header;
  if (metadata.format !== "attnmt-model-1") refuse("file", "This file holds no model of the book.");
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: [start, end] }] of Object.entries(entries)) {
    const [rows, columns = 1] = shape;
    const whole = READ[dtype] && 8 + length + end <= buffer.byteLength;
    if (!whole) refuse("file", `The tensor ${name} in this file cannot be read.`);
    tensors[name] = { data: READ[dtype](buffer, 8 + length + start, rows * columns), rows, columns };
  }
  return { metadata, tensors };
}

/** Parameters by their names in PyTorch: weights("decoder").matrix("W_s"), .linear("W_s", x). */
function parameters(tensors, prefix = "") {
  const get = (name) =>
    tensors[prefix + name] ?? refuse("file", `The model lacks the parameter ${prefix}${name}.`);
  return {
    get,
    matrix: (name) => get(`${name}.weight`),
    bias: (name) => get(`${name}.bias`).data,
    linear: (name, x) => add(product(get(`${name}.weight`), x), get(`${name}.bias`).data),
    /** Row `index` of an embedding. */
    row: (name, index) => {
      const { data, columns } = get(`${name}.weight`);
      return data.subarray(index * columns, (index + 1) * columns);
    },
    within: (name) => parameters(tensors, `${prefix}${name}.`),
    has: (name) => `${prefix}${name}` in tensors,
  };
}

// -------------------------------------------------------------------------- words and numbers

const PAD = 0;
const UNK = 1;
const BOS = 2;
const EOS = 3;
const SPECIALS = ["<pad>", "<unk>", "<s>", "</s>"];

const MARK = "▁"; // U+2581, in front of a piece that begins a word

/** Scripts whose letters count as letters in their own languages only. */
const SCRIPTS = {
  zh: "\\p{Script=Han}",
  ja: "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}",
  ko: "\\p{Script=Hangul}",
};
const EAST_ASIAN = `[${SCRIPTS.ja}${SCRIPTS.ko}]`;
const N = "\\p{N}";

/** What a language does to an apostrophe: [what is before it, what is after it, what it becomes]. */
function apostrophes(language, letter) {
  const other = `(?!${letter})[^]`;
  if (language === "en") {
    return [
      [other, other, " ' "],
      [`(?!${N})${other}`, letter, " ' "],
      [letter, other, " ' "],
      [letter, letter, " '"],
      [N, "s", " '"],
    ];
  }
  if (["fr", "it"].includes(language)) {
    return [
      [other, other, " ' "],
      [other, letter, " ' "],
      [letter, other, " ' "],
      [letter, letter, "' "],
    ];
  }
  return [["", "", " ' "]];
}

/** Put a space before the full stop of a token that is not an abbreviation. */
function apartFromStop(token, following, hasLetter, prefixes) {
  const prefix = /^(\S+)\.$/.exec(token)?.[1];
  if (!prefix || (prefix.includes(".") && hasLetter.test(prefix))) return token;
  if (prefixes.has(prefix) || /^\p{Lowercase}/u.test(following ?? "")) return token;
  const beforeNumber = prefixes.has(`${prefix} #NUMERIC_ONLY#`);
  return beforeNumber && /^[0-9]/.test(following ?? "") ? token : `${prefix} .`;
}

/**
 * Split a sentence into words and punctuation marks, as `attnmt.vocab.tokenise` does: by the rules
 * of Moses's tokeniser for this language.
 *
 * `prefixes`: abbreviations that keep their full stop; those with " #NUMERIC_ONLY#" behind them
 * keep it before a number.
 */
export function split(text, language = "de", prefixes = new Set()) {
  const own = SCRIPTS[language] ? `|[${SCRIPTS[language]}]` : "";
  const letter = `(?:(?!${EAST_ASIAN})\\p{Alphabetic}${own})`;
  const replace = (pattern, by) => (text = text.replace(new RegExp(pattern, "gu"), by));
  text = text.normalize("NFC");
  replace("\\s+", " ");
  text = text.trim();
  replace(`((?!${letter}|\\p{Nd})[^\\s.'\`,\\-])`, " $1 ");
  replace("\\.{2,}", (dots) => ` ${"\uE000".repeat(dots.length)} `); // dots that stay together
  replace(`((?!${N})[^]),`, "$1 , ");
  replace(`,((?!${N})[^])`, " , $1");
  replace(`(${N}),$`, "$1 , ");
  for (const [before, after, becomes] of apostrophes(language, letter)) {
    replace(`(${before})'(${after})`, `$1${becomes}$2`);
  }
  const hasLetter = new RegExp(letter, "u");
  const tokens = text.split(/\s+/).filter(Boolean);
  const apart = tokens.map((token, k) => apartFromStop(token, tokens[k + 1], hasLetter, prefixes));
  text = apart.join(" ").replace(/\.' ?$/, " . ' ").replaceAll("\uE000", ".");
  return text.split(" ").filter(Boolean);
}

/** Words as a sentence is written: a capital first, no space before a mark or an 's. */
export function written(words) {
  const text = words.join(" ").replace(/ ([,.;?!]|'s)(?= |$)/g, "$1");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

class Vocabulary {
  constructor({ words, language, lower, subwords = false }) {
    this.words = [...SPECIALS, ...words];
    this.language = language;
    this.lower = lower;
    this.subwords = subwords;
    this.prefixes = new Set(); // abbreviations of the language, see `split`
    this.index = new Map(words.map((word, k) => [word, SPECIALS.length + k]));
  }

  encode(words) {
    return words.map((word) => this.index.get(word) ?? UNK);
  }

  /** A text to words. The first one loses a capital with which it is not known. */
  tokenise(text) {
    const apart = split(text, this.language, this.prefixes);
    const words = this.lower ? apart.map((word) => word.toLowerCase()) : apart;
    const mark = this.subwords ? MARK : "";
    if (words.length && !this.index.has(mark + words[0])) {
      const small = words[0].charAt(0).toLowerCase() + words[0].slice(1);
      if (this.index.has(mark + small)) words[0] = small;
    }
    return words;
  }

  /** Words to what the list holds: themselves, or the pieces that they are cut into. */
  units(words) {
    return this.subwords ? words.flatMap((word) => this.cut(word)) : [...words];
  }

  /**
   * A word to pieces, by byte-pair encoding, as `attnmt.text.subwords.cut`: of all neighbours that
   * make a piece, those that were learned first are joined, the leftmost of equals.
   */
  cut(word) {
    const pieces = [MARK, ...word.replaceAll(MARK, "_")];
    for (;;) {
      let best = Infinity;
      let place = -1;
      for (let k = 0; k + 1 < pieces.length; k++) {
        const rank = this.index.get(pieces[k] + pieces[k + 1]) ?? Infinity;
        if (rank < best) [best, place] = [rank, k];
      }
      if (place < 0) return pieces;
      pieces.splice(place, 2, pieces[place] + pieces[place + 1]);
    }
  }

  /** For each unit, the number of the word that it is of. The first one begins a word, whatever it is. */
  places(units) {
    let word = -1;
    return units.map((unit, k) => (!this.subwords || !k || unit.startsWith(MARK) ? ++word : word));
  }

  /** Units to words. */
  join(units) {
    const words = [];
    this.places(units).forEach((place, k) => {
      const letters = this.subwords && units[k].startsWith(MARK) ? units[k].slice(1) : units[k];
      words[place] = (words[place] ?? "") + letters;
    });
    return words;
  }
}

// ----------------------------------------------------------------------------------- encoders

/** One step of PyTorch's GRU: its r multiplies after the product with U. */
function gru(W, read, { h }) {
  const n = h.length;
  const recur = add(product(W.hh, h), W.hhBias);
  const part = (x, k) => x.subarray(k * n, (k + 1) * n);
  const r = add(part(read, 0), part(recur, 0)).map(sigmoid);
  const z = add(part(read, 1), part(recur, 1)).map(sigmoid);
  const candidate = tanh(add(part(read, 2), multiply(r, part(recur, 2))));
  return { h: h.map((value, k) => (1 - z[k]) * candidate[k] + z[k] * value) };
}

/** One step of an LSTM: gates i, f, o and the candidate g. */
function lstm(W, read, { h, c }) {
  const n = h.length;
  const gates = add(read, add(product(W.hh, h), W.hhBias));
  const part = (k) => gates.subarray(k * n, (k + 1) * n);
  const [i, f, o] = [0, 1, 3].map((k) => part(k).map(sigmoid));
  const g = tanh(part(2));
  const cell = c.map((value, k) => f[k] * value + i[k] * g[k]);
  return { h: multiply(o, tanh(cell)), c: cell };
}

/** The parameters of one layer and direction of a recurrent network. */
function layer(weights, suffix) {
  const get = (name) => weights.get(`rnn.${name}_${suffix}`);
  const [ih, hh] = [get("weight_ih"), get("weight_hh")];
  return { ih, hh, ihBias: get("bias_ih").data, hhBias: get("bias_hh").data, units: hh.columns };
}

const stepOf = (cell, W, x, state) => cell(W, add(product(W.ih, x), W.ihBias), state);

const zeros = (units) => ({ h: new Float32Array(units), c: new Float32Array(units) });

/** One layer reads vectors in one direction: a state for each, and the last one. */
function readDirection(cell, W, vectors, backwards) {
  const order = vectors.map((_, k) => (backwards ? vectors.length - 1 - k : k));
  const states = Array(vectors.length);
  let state = zeros(W.units);
  for (const s of order) {
    state = stepOf(cell, W, vectors[s], state);
    states[s] = state.h;
  }
  return { states, final: state };
}

/** The recurrent encoders: annotations in the order of the words, and final states by layer. */
function recurrentEncoder(weights, config, ids) {
  const recurrent = ["rnnencdec", "rnnsearch"].includes(config.model) ? gru : lstm;
  const reverse = config.reverse ?? false;
  let vectors = ids.map((id) => weights.row("embedding", id));
  if (reverse) vectors.reverse();
  const final = [];
  for (let k = 0; weights.has(`rnn.weight_ih_l${k}`); k++) {
    const passes = [readDirection(recurrent, layer(weights, `l${k}`), vectors, false)];
    if (weights.has(`rnn.weight_ih_l${k}_reverse`)) {
      passes.push(readDirection(recurrent, layer(weights, `l${k}_reverse`), vectors, true));
    }
    vectors = vectors.map((_, s) => concat(...passes.map((pass) => pass.states[s])));
    final.push(passes.map((pass) => pass.final));
  }
  return { annotations: reverse ? vectors.reverse() : vectors, final };
}

// ---------------------------------------------------------------------------------- attention

/**
 * The scores: what is computed once of each annotation, and how a query meets the prepared keys.
 *
 * `ask` computes once a step what depends on the query alone; `compare` is one score.
 */
const SCORES = {
  /** v_a^T tanh(W_a s_{i-1} + U_a h_j), Bahdanau et al. 2015, appendix A.1.2. */
  additive: (weights) => ({
    prepare: (h_j) => product(weights.matrix("U_a"), h_j),
    ask: (query) => product(weights.matrix("W_a"), query),
    compare: (asked, key) => dot(weights.matrix("v_a").data, tanh(add(asked, key))),
  }),
  /** v_a^T tanh(W_a [h_t; hbar_s]), Luong et al. 2015, section 3.1. */
  concat: (weights) => ({
    prepare: (hbar_s) => {
      const W_a = weights.matrix("W_a");
      return product(W_a, hbar_s, W_a.columns - hbar_s.length);
    },
    ask: (query) => product(weights.matrix("W_a"), query),
    compare: (asked, key) => dot(weights.matrix("v_a").data, tanh(add(asked, key))),
  }),
  /** v_a^T tanh(W_a h_t + hbar_s), Luong et al. 2015, footnote 15. */
  "concat-fixed": (weights) => ({
    prepare: (hbar_s) => hbar_s,
    ask: (query) => product(weights.matrix("W_a"), query),
    compare: (asked, key) => dot(weights.matrix("v_a").data, tanh(add(asked, key))),
  }),
  /** h_t^T hbar_s. */
  dot: () => ({ prepare: (hbar_s) => hbar_s, ask: (query) => query, compare: dot }),
  /** h_t^T hbar_s / sqrt(n), Vaswani et al. 2017, section 3.2.1. */
  "scaled-dot": () => ({
    prepare: (hbar_s) => hbar_s,
    ask: (query) => query,
    compare: (query, key) => dot(query, key) / Math.sqrt(query.length),
  }),
  /** h_t^T W_a hbar_s. */
  general: (weights) => ({
    prepare: (hbar_s) => product(weights.matrix("W_a"), hbar_s),
    ask: (query) => query,
    compare: dot,
  }),
  /** W_a h_t: a row of W_a for each position, none behind the last. */
  location: (weights) => ({
    prepare: () => null,
    ask: (query) => product(weights.matrix("W_a"), query),
    compare: (asked, key, s) => asked[s] ?? -Infinity,
  }),
};

/**
 * The windows: {p, D, first, last, gain} for a query at target position `time`, or null for global.
 *
 * `first` and `last` are the outermost positions that take part; `gain` multiplies their weights.
 */
const WINDOWS = {
  global: () => () => null,
  /** local-m: p_t = t, and at the last word behind the end. */
  "local-m": (weights, D) => (query, S, time) => {
    const p = Math.min(time, S - 1);
    return { p, D, first: Math.max(0, p - D), last: Math.min(S - 1, p + D), gain: null };
  },
  /** local-p: p_t = S sigma(v_p^T tanh(W_p h_t)), and a Gaussian round it with sigma = D/2. */
  "local-p": (weights, D) => (query, S) => {
    const asked = dot(weights.matrix("v_p").data, tanh(product(weights.matrix("W_p"), query)));
    const p = Math.fround(S * Math.fround(sigmoid(asked)));
    const gain = Float32Array.from({ length: S }, (_, s) =>
      Math.exp(-((s - p) ** 2) / (2 * (D / 2) ** 2)),
    );
    const first = Math.max(0, Math.ceil(p - D));
    return { p, D, first, last: Math.min(S - 1, Math.floor(p + D)), gain };
  },
};

/** A score and a window, put together: `prepare` a sentence, then `attend` to it. */
function attention(weights, score, windowName, D) {
  const make = SCORES[score] ?? refuse("file", `This page does not know the score “${score}”.`);
  const { prepare, ask, compare } = make(weights.within("score"));
  const look = WINDOWS[windowName](weights.within("window"), D);
  return {
    prepare: (annotations) => annotations.map(prepare),
    attend(query, annotations, keys, time) {
      const S = annotations.length;
      const asked = ask(query);
      const scores = Float32Array.from(keys, (key, s) => compare(asked, key, s)); // (S)
      const found = look(query, S, time);
      let align = softmax(scores, found?.first, found?.last); // (S)
      if (found?.gain) align = multiply(align, found.gain);
      const context = blend(annotations, align); // (d)
      const window = found && { p: found.p, D, first: found.first, last: found.last };
      return { query, scores, align, gain: found?.gain ?? null, window, context };
    },
  };
}

/** The weighted sum of the annotations. */
function blend(annotations, align) {
  const context = new Float32Array(annotations[0].length);
  for (let k = 0; k < context.length; k++) {
    let sum = 0;
    for (let s = 0; s < align.length; s++) sum += align[s] * annotations[s][k];
    context[k] = sum;
  }
  return context;
}

/** What stands in attention's place in RNNencdec: the same c = h_S at every step. */
const FIXED = {
  prepare: () => null,
  attend: (query, annotations) => ({
    query,
    scores: null,
    align: null,
    gain: null,
    window: null,
    context: annotations.at(-1),
  }),
};

// ----------------------------------------------------------------------------------- decoders

/**
 * RNNsearch's decoder: attend with s_{i-1}, then recur (Bahdanau et al. 2015, appendix A).
 *
 * A decoder has `asks`, whether its query is the state before or after recurring; `start`, which
 * reads the encoder's final states; and `step`, from E y_{i-1} and a state to logits and a state.
 */
function bahdanauDecoder(weights, config) {
  const attends = config.model === "rnnsearch";
  const attentive = attends ? attention(weights.within("attention"), "additive", "global") : FIXED;
  return {
    asks: "before",
    attends,
    prepare: attentive.prepare,
    start: (final) => ({ s: tanh(weights.linear("W_s", final.at(-1).at(-1).h)), time: 0 }),
    step(Ey, { s: s_prev, time }, { annotations, keys }) {
      const n = s_prev.length;
      const looked = attentive.attend(s_prev, annotations, keys, time);
      const { context } = looked;

      const W_Ey = weights.linear("W_gates", Ey);
      const read = add(W_Ey, product(weights.matrix("C_gates"), context)); // for z, r and s_tilde
      const recur = product(weights.matrix("U_zr"), s_prev);
      const z = add(read.subarray(0, n), recur.subarray(0, n)).map(sigmoid);
      const r = add(read.subarray(n, 2 * n), recur.subarray(n)).map(sigmoid);
      const U_rs = product(weights.matrix("U"), multiply(r, s_prev));
      const s_tilde = tanh(add(read.subarray(2 * n), U_rs));
      const s = s_prev.map((value, k) => (1 - z[k]) * value + z[k] * s_tilde[k]);

      const s_out = config.output_state === "previous" ? s_prev : s;
      const t_tilde = weights.linear("maxout", concat(s_out, Ey, context)); // (2l)
      const l = t_tilde.length / 2;
      const t = Float32Array.from({ length: l }, (_, k) =>
        Math.max(t_tilde[2 * k], t_tilde[2 * k + 1]),
      );
      return { ...looked, logits: weights.linear("W_o", t), state: { s, time: time + 1 }, shown: s };
    },
  };
}

/** A stacked LSTM (Sutskever et al. 2014); Luong's recurs, then attends with h_t (section 3). */
function lstmDecoder(weights, config) {
  const attends = config.model !== "sutskever";
  const { score = "concat-fixed", window, D, feeding = false } = config;
  const attentive = attends ? attention(weights.within("attention"), score, window, D) : FIXED;
  const stack = [];
  while (weights.has(`rnn.weight_ih_l${stack.length}`)) {
    stack.push(layer(weights, `l${stack.length}`));
  }
  return {
    asks: "after",
    attends,
    prepare: attentive.prepare,
    start(final) {
      const layers = final.map((directions) => ({
        h: concat(...directions.map((state) => state.h)),
        c: concat(...directions.map((state) => state.c)),
      }));
      const h_tilde = feeding ? new Float32Array(layers.at(-1).h.length) : null;
      return { layers, h_tilde, time: 0 };
    },
    step(Ey, { layers: previous, h_tilde: fed, time }, { annotations, keys }) {
      let h_t = feeding ? concat(Ey, fed) : Ey;
      const layers = stack.map((W, k) => {
        const state = stepOf(lstm, W, h_t, previous[k]);
        h_t = state.h;
        return state;
      });
      const looked = attentive.attend(h_t, annotations, keys, time);
      let h_tilde = h_t;
      if (attends) h_tilde = tanh(product(weights.matrix("W_c"), concat(looked.context, h_t)));
      else looked.context = null; // Sutskever's decoder has none
      const state = { layers, h_tilde, time: time + 1 };
      return { ...looked, logits: weights.linear("W_out", h_tilde), state, shown: h_t };
    },
  };
}

// -------------------------------------------------- look-ups alone: attnmt.attention_only

/** LayerNorm, with PyTorch's epsilon. */
function norm(weights, name, x) {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
  const { data } = weights.get(`${name}.weight`);
  const bias = weights.bias(name);
  return x.map((value, k) => ((value - mean) / Math.sqrt(variance + 1e-5)) * data[k] + bias[k]);
}

/** Sines and cosines of one position (Vaswani et al. 2017, section 3.5). */
function positionOf(p, n) {
  const speed = (k) => Math.fround(10_000 ** Math.fround(-(k - (k % 2)) / n));
  const angle = (k) => Math.fround(p * speed(k)); // of 32 bits, as PyTorch's
  return Float32Array.from({ length: n }, (_, k) => (k % 2 ? Math.cos(angle(k)) : Math.sin(angle(k))));
}

/** What a word says to those that ask: its key and its value, side by side. */
const keyAndValue = (weights, x) => weights.linear("W_KV", x);

/**
 * H look-ups of one word side by side (section 3.2.2): the answer, and the weights, a mean over the
 * heads. `read` has what `keyAndValue` gives of each word that answers.
 */
function lookUp(weights, heads, x, read) {
  const n = x.length;
  const size = n / heads;
  const query = weights.linear("W_Q", x);
  const answers = new Float32Array(n);
  const align = new Float32Array(read.length);
  for (let first = 0; first < n; first += size) {
    const asked = query.subarray(first, first + size);
    const key = (each) => each.subarray(first, first + size);
    const scores = Float32Array.from(read, (each) => dot(asked, key(each)) / Math.sqrt(size));
    softmax(scores).forEach((weight, s) => {
      align[s] += weight / heads;
      for (let k = first; k < first + size; k++) answers[k] += weight * read[s][n + k];
    });
  }
  return { found: weights.linear("W_O", answers), align };
}

const feedForward = (weights, x) =>
  weights.linear("2", weights.linear("0", x).map((value) => Math.max(value, 0)));

/** The blocks of an encoder or a decoder. */
function blocksOf(weights, config) {
  return Array.from({ length: config.blocks }, (_, k) => weights.within(`blocks.${k}`));
}

/** Embeddings and positions through the blocks. There is no final state. */
function selfAttentionEncoder(weights, config, ids) {
  let words = ids.map((id, s) => add(weights.row("embedding", id), positionOf(s, config.hidden)));
  for (const block of blocksOf(weights, config)) {
    const own = block.within("own");
    const normed = words.map((x) => norm(block, "norms.0", x));
    const read = normed.map((x) => keyAndValue(own, x));
    words = words.map((x, s) => {
      const looked = add(x, lookUp(own, config.heads, normed[s], read).found);
      return add(looked, feedForward(block.within("feed"), norm(block, "norms.1", looked)));
    });
  }
  return { annotations: words.map((x) => norm(weights, "norm", x)), final: null };
}

/** Each word reads those before it, then the source. `asks` is null: there are several queries. */
function selfAttentionDecoder(weights, config) {
  const blocks = blocksOf(weights, config);
  const crosses = blocks.map((block) => block.within("cross"));
  return {
    asks: null,
    attends: true,
    /** For each source word, what it says in each block. */
    prepare: (annotations) => crosses.map((cross) => annotations.map((h) => keyAndValue(cross, h))),
    start: () => ({ seen: blocks.map(() => []), time: 0 }),
    step(Ey, { seen, time }, { keys }) {
      let x = add(Ey, positionOf(time, config.hidden));
      let align;
      const longer = blocks.map((block, k) => {
        const own = block.within("own");
        const normed = norm(block, "norms.0", x);
        const past = [...seen[k], keyAndValue(own, normed)];
        x = add(x, lookUp(own, config.heads, normed, past).found);
        const looked = lookUp(crosses[k], config.heads, norm(block, "norms.1", x), keys[k]);
        align = looked.align;
        x = add(x, looked.found);
        x = add(x, feedForward(block.within("feed"), norm(block, "norms.2", x)));
        return past;
      });
      const none = { query: null, scores: null, gain: null, window: null, context: null };
      const logits = weights.linear("W_o", norm(weights, "norm", x));
      return { ...none, align, logits, state: { seen: longer, time: time + 1 }, shown: x };
    },
  };
}

const KINDS = {
  rnnencdec: { encode: recurrentEncoder, decoder: bahdanauDecoder },
  rnnsearch: { encode: recurrentEncoder, decoder: bahdanauDecoder },
  luong: { encode: recurrentEncoder, decoder: lstmDecoder },
  concat_fixed: { encode: recurrentEncoder, decoder: lstmDecoder },
  sutskever: { encode: recurrentEncoder, decoder: lstmDecoder },
  attention_only: { encode: selfAttentionEncoder, decoder: selfAttentionDecoder },
};

// --------------------------------------------------------------------------------- the models

export const LONGEST = 200; // source words or pieces, so that a page never stands still

/** One sentence on its way through a model, a target word at a time. */
class Run {
  constructor(model, words, maxLength) {
    const ids = model.source.encode(words);
    const { annotations, final } = model.encode(model.encoder, model.config, ids);
    this.model = model;
    this.words = words;
    this.memory = { annotations, keys: model.decoder.prepare(annotations) };
    this.state = model.decoder.start(final);
    this.maxLength = maxLength ?? 2 * words.length + 10; // as attnmt.decoding.MAX_LENGTH
    this.last = BOS;
    this.done = false;
  }

  /**
   * Write the next word, the most probable one. `</s>` ends the sentence.
   *
   * Returns all that the model computed on the way: `time`, from 0; `asks`, "before" or "after" it
   * recurs; `read`, the word y_{i-1}; `query` and the `scores` of all S positions; `window` {p, D,
   * first, last} and `gain`, or null; `align`, the weights; `context`; `state`, the new one; `best`,
   * five candidates {word, p}; `word` and `logP`. Where nothing attends, scores and align are null.
   *
   * `yPrev`: the word to go on from, if not the one written last. So a reference can be forced, and
   * read on from behind the end.
   */
  step(yPrev) {
    const { model } = this;
    if (this.done && yPrev === undefined) refuse("words", "This translation has ended: begin another one.");
    const y = yPrev === undefined ? this.last : Math.max(model.targetWords.indexOf(yPrev), UNK);
    const time = this.state.time;
    const found = model.decoder.step(model.weights.row("decoder.embedding", y), this.state, this.memory);
    const logP = logSoftmax(found.logits);
    logP[PAD] = -Infinity;
    logP[BOS] = -Infinity;
    const best = strongest(logP, 5);
    this.state = found.state;
    this.last = best[0];
    this.done = this.last === EOS || time + 1 >= this.maxLength;
    const { query, scores, align, gain, window, context, shown: state } = found;
    return {
      time,
      asks: model.decoder.asks,
      read: model.targetWords[y],
      query,
      scores,
      align,
      gain,
      window,
      context,
      state,
      best: best.map((index) => ({ word: model.targetWords[index], p: Math.exp(logP[index]) })),
      word: model.targetWords[this.last],
      logP: logP[this.last],
    };
  }
}

/**
 * A run whose steps write whole words, where the model reads and writes pieces of words.
 *
 * A step then has the `word`, `align` on the source's words, and `logP` of all its pieces. Weights are
 * joined as `attnmt.evidence.links.on_words` joins them: summed over the pieces of a source word,
 * averaged over those of the target word. `window` reaches over all that the pieces' windows do.
 */
class WordRun {
  constructor(run) {
    this.run = run;
    this.words = run.words;
    this.memory = run.memory;
    this.places = run.model.source.places(run.words);
    this.next = run.step();
    this.done = false;
  }

  step() {
    const { run } = this;
    const steps = [];
    do {
      steps.push(this.next);
      this.next = run.done ? null : run.step();
    } while (this.next && this.goesOn(this.next.word));
    this.done = this.next === null;
    if (steps[0].word === SPECIALS[EOS]) return steps[0];
    const [word] = run.model.target.join(steps.map((step) => step.word));
    const logP = steps.reduce((sum, step) => sum + step.logP, 0);
    return { ...steps.at(-1), word, logP, align: this.joined(steps), window: this.window(steps) };
  }

  /** Whether a piece belongs to the word before it. */
  goesOn(piece) {
    return this.run.model.target.subwords && piece !== SPECIALS[EOS] && !piece.startsWith(MARK);
  }

  joined(steps) {
    if (!steps[0].align) return null;
    const align = new Float32Array(this.places.at(-1) + 1);
    for (const step of steps) {
      step.align.forEach((weight, s) => (align[this.places[s]] += weight / steps.length));
    }
    return align;
  }

  window(steps) {
    const windows = steps.map((step) => step.window).filter(Boolean);
    if (!windows.length) return null;
    const { places } = this;
    const centre = ({ p }) => places[Math.min(Math.max(Math.round(p), 0), places.length - 1)];
    return {
      p: windows.reduce((sum, window) => sum + centre(window), 0) / windows.length,
      D: windows[0].D,
      first: Math.min(...windows.map((window) => places[window.first])),
      last: Math.max(...windows.map((window) => places[window.last])),
    };
  }
}

/** The indexes of the `count` largest numbers, the largest first; of equal ones the first. */
function strongest(numbers, count) {
  const found = [];
  numbers.forEach((number, index) => {
    let place = found.length;
    while (place > 0 && number > numbers[found[place - 1]]) place--;
    if (place < count) found.splice(place, 0, index);
    if (found.length > count) found.pop();
  });
  return found;
}

/**
 * A translator: its `config` as the constructor in PyTorch noted it, and its words.
 *
 * `sourceWords` and `targetWords` are in the order of their indexes, the four special symbols first.
 */
class Model {
  constructor({ metadata, tensors }) {
    this.config = JSON.parse(metadata.config);
    const kind = KINDS[this.config.model];
    if (!kind) refuse("file", `This page has no ${this.config.model} model.`);
    this.source = new Vocabulary(JSON.parse(metadata.source_vocabulary));
    this.target = new Vocabulary(JSON.parse(metadata.target_vocabulary));
    this.weights = parameters(tensors);
    this.encoder = this.weights.within("encoder");
    this.encode = kind.encode;
    this.decoder = kind.decoder(this.weights.within("decoder"), this.config);
    this.parameters = Object.values(tensors).reduce((sum, { data }) => sum + data.length, 0);
  }

  get attends() {
    return this.decoder.attends;
  }

  get asks() {
    return this.decoder.asks;
  }

  get sourceWords() {
    return this.source.words;
  }

  get targetWords() {
    return this.target.words;
  }

  tokenise(text) {
    return this.source.tokenise(text);
  }

  /** What the model reads of words: themselves, or their pieces. */
  units(words) {
    return this.source.units(words);
  }

  /** The indexes of the words that the model does not know, or of which it lacks a piece. */
  unknown(words) {
    const lacks = (word) => this.units([word]).some((unit) => !this.source.index.has(unit));
    return [...words.keys()].filter((k) => lacks(words[k]));
  }

  /**
   * What a reader should be told of a sentence: [{code, message, indexes}], none if all is well.
   *
   * "empty" and "too-long" cannot be translated; "foreign" (no known word), "unknown" (some words),
   * "long" (longer than those the models learned from) and "mark" (no mark at its end) can.
   */
  check(words) {
    const letters = [...words.keys()].filter((k) => /[\p{L}\p{N}]/u.test(words[k]));
    const unknown = this.unknown(words);
    const strange = new Set(unknown);
    const list = unknown.map((k) => `“${words[k]}”`).join(", ");
    const found = [];
    const tell = (code, message, indexes = []) => found.push({ code, message, indexes });
    if (!letters.length) tell("empty", "Write a German sentence first.");
    else if (words.length > LONGEST) tell("too-long", tooLong(words));
    else if (letters.every((k) => strange.has(k))) {
      const many = this.sourceWords.length - SPECIALS.length;
      const message = `The model knows ${many.toLocaleString("en")} German words, and none of these.`;
      tell("foreign", message, unknown);
    } else if (unknown.length) {
      const them = unknown.length > 1 ? "these words" : "this word";
      tell("unknown", `The model does not know ${them} and reads <unk>: ${list}.`, unknown);
    }
    if (found[0]?.code === "empty" || found[0]?.code === "too-long") return found;
    if (words.length > 40) {
      tell("long", `${words.length} words: the models learned from sentences of up to 40.`);
    }
    if (!/^[.?!]$/.test(words.at(-1))) {
      tell("mark", "Every sentence that the models learned from ends in a mark: . ? or !");
    }
    return found;
  }

  /** A run that writes the translation word by word: see Run.step. */
  begin(words, { maxLength } = {}) {
    if (!Array.isArray(words)) refuse("words", "Give a list of words: model.tokenise(text).");
    if (words.length === 0) refuse("empty", "Write a German sentence first.");
    if (words.length > LONGEST) refuse("too-long", tooLong(words));
    return new Run(this, words, maxLength);
  }

  /** As `begin`, from words to words, also where the model reads and writes pieces. */
  beginWords(words) {
    const run = this.begin(this.units(words));
    return this.target.subwords || this.source.subwords ? new WordRun(run) : run;
  }

  /**
   * Greedy search: the most probable word at each step.
   *
   * Returns the words, `align` (a row of S weights for each word; null if the model does not
   * attend) and `score`, the sum of log p over the words and `</s>`. Of a model of pieces it is given
   * pieces, see `units`, and returns pieces.
   */
  translate(words, options) {
    return this.whole(this.begin(words, options));
  }

  /** As `translate`, from words to words: see `beginWords`. */
  translateWords(words) {
    return this.whole(this.beginWords(words));
  }

  whole(run) {
    const translation = { words: [], align: this.attends ? [] : null, score: 0 };
    while (!run.done) {
      const { word, align, logP } = run.step();
      translation.score += logP;
      if (word === SPECIALS[EOS]) break;
      translation.words.push(word);
      translation.align?.push(align);
    }
    return translation;
  }
}

const tooLong = (words) => `${words.length} words are too many for this page: at most ${LONGEST}.`;

/** Load a model from an address, or from the bytes of its file. */
export async function load(urlOrBuffer) {
  if (urlOrBuffer instanceof ArrayBuffer) return new Model(readTensors(new Uint8Array(urlOrBuffer)));
  if (ArrayBuffer.isView(urlOrBuffer)) {
    const { buffer, byteOffset, byteLength } = urlOrBuffer;
    return new Model(readTensors(new Uint8Array(buffer, byteOffset, byteLength)));
  }
  let response;
  try {
    response = await fetch(urlOrBuffer);
  } catch {
    refuse("network", `The model could not be fetched from ${urlOrBuffer}. Is there a network?`);
  }
  if (!response.ok) refuse("network", `${urlOrBuffer} answers ${response.status}: no model there.`);
  return new Model(readTensors(new Uint8Array(await response.arrayBuffer())));
}
