/**
 * The book's recurrent translators in a page: no server, no framework, no dependency.
 *
 * The equations below are those of `attnmt.encoder`, `attnmt.attention` and `attnmt.decoder`, in the same
 * order and with the same names, for one sentence at a time. So there is no batch, no padding and no mask.
 *
 *     const model = load(bytes); // of rnnsearch.safetensors
 *     const run = model.begin(model.tokenise("Der Hund schläft."));
 *     while (!run.done) console.log(run.step().word);
 */

import { add, concat, dot, logSoftmax, multiply, parameters, product, readTensors, sigmoid, softmax, tanh } from "./tensors.mjs";
import { BOS, EOS, MARK, PAD, SPECIALS, Vocabulary } from "./vocabulary.mjs";

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

/** Annotations in the order of the words, and final states by layer. */
function encode(weights, config, ids) {
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

const same = (vector) => vector;

/** v_a^T tanh(W_a query + key). */
const perceptron = (weights, prepare) => ({
  prepare,
  ask: (query) => product(weights.matrix("W_a"), query),
  compare: (asked, key) => dot(weights.matrix("v_a").data, tanh(add(asked, key))),
});

/**
 * The scores: `prepare` computes once what a key is of each annotation, `ask` once a step what depends on
 * the query alone, and `compare` is one score.
 */
const SCORES = {
  /** v_a^T tanh(W_a s_{i-1} + U_a h_j), Bahdanau et al. 2015, appendix A.1.2. */
  additive: (weights) => perceptron(weights, (h_j) => product(weights.matrix("U_a"), h_j)),
  /** v_a^T tanh(W_a [h_t; hbar_s]), Luong et al. 2015, section 3.1: keys meet the last columns of W_a. */
  concat: (weights) =>
    perceptron(weights, (hbar_s) => {
      const W_a = weights.matrix("W_a");
      return product(W_a, hbar_s, W_a.columns - hbar_s.length);
    }),
  /** v_a^T tanh(W_a h_t + hbar_s), Luong et al. 2015, footnote 15. */
  "concat-fixed": (weights) => perceptron(weights, same),
  /** h_t^T hbar_s. */
  dot: () => ({ prepare: same, ask: same, compare: dot }),
  /** h_t^T hbar_s / sqrt(n), Vaswani et al. 2017, section 3.2.1. */
  "scaled-dot": () => ({
    prepare: same,
    ask: same,
    compare: (query, key) => dot(query, key) / Math.sqrt(query.length),
  }),
  /** h_t^T W_a hbar_s. */
  general: (weights) => ({
    prepare: (hbar_s) => product(weights.matrix("W_a"), hbar_s),
    ask: same,
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
  if (!(score in SCORES)) throw new Error(`This page does not know the score “${score}”.`); // one of the reader's own
  const { prepare, ask, compare } = SCORES[score](weights.within("score"));
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
  attend(query, annotations) {
    const context = annotations.at(-1);
    return { query, scores: null, align: null, gain: null, window: null, context };
  },
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

const DECODERS = {
  rnnencdec: bahdanauDecoder,
  rnnsearch: bahdanauDecoder,
  luong: lstmDecoder,
  concat_fixed: lstmDecoder,
  sutskever: lstmDecoder,
};

// --------------------------------------------------------------------------------- the models

/** One sentence on its way through a model, a target word at a time. */
class Run {
  constructor(model, words) {
    const ids = model.source.encode(words);
    const { annotations, final } = encode(model.encoder, model.config, ids);
    this.model = model;
    this.words = words;
    this.memory = { annotations, keys: model.decoder.prepare(annotations) };
    this.state = model.decoder.start(final);
    this.maxLength = 2 * words.length + 10; // as attnmt.decoding.MAX_LENGTH
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
   */
  step() {
    const { model, last: y } = this;
    const time = this.state.time;
    const Ey = model.weights.row("decoder.embedding", y);
    const { logits, state, shown, ...looked } = model.decoder.step(Ey, this.state, this.memory);
    const logP = logSoftmax(logits);
    logP[PAD] = -Infinity;
    logP[BOS] = -Infinity;
    const best = strongest(logP, 5);
    this.state = state;
    this.last = best[0];
    this.done = this.last === EOS || time + 1 >= this.maxLength;
    return {
      ...looked, // query, scores, align, gain, window, context
      time,
      asks: model.decoder.asks,
      read: model.targetWords[y],
      state: shown,
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
    this.source = new Vocabulary(JSON.parse(metadata.source_vocabulary));
    this.target = new Vocabulary(JSON.parse(metadata.target_vocabulary));
    this.weights = parameters(tensors);
    this.encoder = this.weights.within("encoder");
    this.decoder = DECODERS[this.config.model](this.weights.within("decoder"), this.config);
    this.sourceWords = this.source.words;
    this.targetWords = this.target.words;
    this.attends = this.decoder.attends;
    this.asks = this.decoder.asks;
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

  /** A run that writes the translation word by word: see Run.step. */
  begin(words) {
    return new Run(this, words);
  }

  /** As `begin`, from words to words, also where the model reads and writes pieces. */
  beginWords(words) {
    const run = this.begin(this.units(words));
    return this.target.subwords || this.source.subwords ? new WordRun(run) : run;
  }
}

/** The model in the bytes of its file. */
export const load = (bytes) => new Model(readTensors(new Uint8Array(bytes)));
