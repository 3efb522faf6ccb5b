// Attention that is trained in the page: tasks, a small recurrent translator, and its training.
//
//   const run = new Training({ task: "reverse", score: "dot(q, k)" });
//   run.update();             // one batch of 16 sentences
//   run.look();               // what is drawn: loss, words right, an alignment, ...
//
// The encoder has one direction or two, the decoder starts at zero, the end of the source is
// hidden from attention. `asks: "before"` is Bahdanau's order (the query is s_{i-1}, and the context
// enters the new state), "after" is Luong's (the query is s_i). Without attention, the encoder's
// last states stand in the context's place at every step (Cho et al. 2014).

import { DEFAULTS } from "./learn_spec.mjs";
import { Tape, matrix } from "./tape.mjs";
import { PLACES, Refusal, compute, plan } from "./score.mjs";

export const SIZES = { n: 32, embedding: 24, batch: 16, D: 2 };
// Adam's rate, and the norm that gradients are cut to; by what the score is multiplied; how far from
// 0 weights begin, times 1 / sqrt(columns): those of the score, and the encoder's recurrent ones,
// small so that an annotation is first of all about its own word; and the embeddings.
export const RECIPE = { rate: 0.007, clip: 1, sharpness: 4, score: 4, recurrent: 0.5, embedding: 0.5 };
const HELD_OUT = 32;
const POOL = 3000; // sentences in training
const MOST_LINES = 400; // of the reader's own pairs, and words of one
const MOST_WORDS = 20;
const SHOWN = 8; // words of the sentence that is drawn, if there is one

// ------------------------------------------------------------------------------ chance

// Numbers from 0 to 1, the same for the same seed (mulberry32, public domain).
export function chance(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

// ------------------------------------------------------------------------------ tasks

const LETTERS = [..."ABCDEFGHIJKLMNOPQRST"];
const ARTICLES = { das: "the", ein: "a", mein: "my", dieses: "this" };
const NOUNS = { Kind: "child", Pferd: "horse", Schaf: "sheep", Huhn: "hen", Lamm: "lamb" }; // all neuter
const NAMES = ["Anna", "Peter"];
const FORMS = { hat: "has", hatte: "had" };
const ADVERBS = { heute: "today", dort: "there" };
const VERBS = { gesehen: "seen", gesucht: "sought", gefunden: "found", gerufen: "called", gehört: "heard" };

// A German sentence word by word, the participle last, and in English order.
// "das Kind hat heute ein Pferd gesehen": "the child has seen a horse today".
function german(random, length, same) {
  const pick = (from) => from[Math.floor(random() * from.length)];
  const [source, target, links] = [[], [], []];
  const read = (word) => source.push(word) - 1;
  const write = (word, from) => (target.push(word), links.push(from));
  const both = (word, meaning) => write(meaning, read(word));
  const someone = (say) => {
    if (!same && random() < 0.3) return say([[pick(NAMES)]]);
    const [article, noun] = [same ? "das" : pick(Object.keys(ARTICLES)), pick(Object.keys(NOUNS))];
    say([[article, ARTICLES[article]], [noun, NOUNS[noun]]]);
  };
  someone((words) => words.forEach(([word, meaning = word]) => both(word, meaning)));
  const form = pick(Object.keys(FORMS));
  both(form, FORMS[form]);
  const adverb = random() < 0.5 ? pick(Object.keys(ADVERBS)) : null;
  const place = adverb && read(adverb);
  const objects = [];
  do {
    if (objects.length) objects.push([read("und"), "and"]);
    someone((words) => words.forEach(([word, meaning = word]) => objects.push([read(word), meaning])));
  } while (source.length + 3 <= length && random() < 0.6);
  const verb = pick(Object.keys(VERBS));
  write(VERBS[verb], read(verb));
  objects.forEach(([from, word]) => write(word, from));
  if (adverb) write(ADVERBS[adverb], place);
  return { source, target, links };
}

function letters(random, length, backwards) {
  const source = Array.from({ length }, () => LETTERS[Math.floor(random() * LETTERS.length)]);
  const links = source.map((_, at) => (backwards ? length - 1 - at : at));
  return { source, target: links.map((from) => source[from]), links };
}

const PAUSE = /\t|\s=\s|\s\|\s/;
const words = (text) => text.match(/[\p{L}\p{M}\p{N}'’-]+|[^\s\p{L}\p{M}\p{N}]/gu) ?? [];

// The reader's own pairs, a line each. Throws a Refusal that names the line.
export function readPairs(text) {
  const lines = text.split("\n").map((line, at) => [line.trim(), at + 1]).filter(([line]) => line);
  if (lines.length > MOST_LINES) throw new Refusal("pairs_many", { lines: lines.length, most: MOST_LINES });
  const pairs = lines.map(([line, number]) => {
    const sides = line.split(PAUSE);
    if (sides.length !== 2) throw new Refusal("pairs_sides", { line: number });
    const [source, target] = sides.map(words);
    if (!source.length || !target.length) throw new Refusal("pairs_wordless", { line: number });
    const most = Math.max(source.length, target.length);
    if (most > MOST_WORDS) throw new Refusal("pairs_long", { line: number, words: most, most: MOST_WORDS });
    return { source, target, links: null };
  });
  if (pairs.length < 8) throw new Refusal("pairs_few", { lines: pairs.length });
  return pairs;
}

const key = ({ source }) => source.join(" ");

// { train, heldOut }: sentences { source, target, links }; links[i] is the place of the source word
// that target word i belongs to, and of the reader's own pairs nobody knows it.
export function corpus(spec) {
  const random = chance(1000 + spec.seed);
  if (spec.task === "own") {
    const pairs = readPairs(spec.pairs);
    for (let at = pairs.length - 1; at > 0; at--) {
      const other = Math.floor(random() * (at + 1));
      [pairs[at], pairs[other]] = [pairs[other], pairs[at]];
    }
    const held = Math.min(HELD_OUT, Math.floor(pairs.length / 8));
    return { heldOut: pairs.slice(0, held), train: pairs.slice(held) };
  }
  const least = spec.task === "german" && spec.same ? 6 : 4; // without names none is shorter
  const most = Math.max(least, spec.length);
  const make = () => {
    const length = least + Math.floor(random() * (most - least + 1));
    if (spec.task !== "german") return letters(random, length, spec.task === "reverse");
    for (let tries = 0; ; tries++) {
      const sample = german(random, length, spec.same);
      const { length: found } = sample.source; // without names, some lengths are out of reach
      if (found === length || (spec.same && tries > 40 && found <= most)) return sample;
    }
  };
  const heldOut = Array.from({ length: HELD_OUT }, make);
  const known = new Set(heldOut.map(key));
  const train = Array.from({ length: POOL }, make).filter((sample) => !known.has(key(sample)));
  return { heldOut, train };
}

// ------------------------------------------------------------------------------ words as numbers

const UNKNOWN = "?";
export const END = "</s>";

class Vocabulary {
  constructor(sentences) {
    this.words = [UNKNOWN, END, ...new Set(sentences.flat())]; // the end is the beginning, too
    this.ids = new Map(this.words.map((word, id) => [word, id]));
  }

  encode(sentence) {
    return [...sentence.map((word) => this.ids.get(word) ?? 0), 1];
  }
}

// Sentences of one source length, as numbers, step by step: x[j][b], read[i][b] (what the decoder
// reads), y[i][b] (what it should write; -1 past the end).
export function batch(sentences, source, target) {
  const xs = sentences.map((one) => source.encode(one.source));
  const ys = sentences.map((one) => target.encode(one.target));
  const T = Math.max(...ys.map((y) => y.length));
  const steps = (count, pick) => Array.from({ length: count }, (_, at) => Int32Array.from(sentences, (_, b) => pick(b, at)));
  return {
    x: steps(xs[0].length, (b, j) => xs[b][j]),
    read: steps(T, (b, i) => (i ? (ys[b][i - 1] ?? 1) : 1)),
    y: steps(T, (b, i) => ys[b][i] ?? -1),
  };
}

// ------------------------------------------------------------------------------ the model

const concat = (arrays) => Int32Array.from(arrays.flatMap((one) => [...one]));

export class Model {
  constructor(spec, sourceWords, targetWords, Numbers = Float32Array) {
    const { n, embedding: e } = SIZES;
    this.spec = spec;
    this.parameters = {};
    const random = chance(spec.seed);
    const learn = (name, rows, cols, spread = Math.sqrt(1 / cols)) => {
      const made = (this.parameters[name] = matrix(rows, cols, Numbers));
      for (let at = 0; at < made.data.length; at++) made.data[at] = spread * (2 * random() - 1);
    };
    this.half = n / spec.directions;
    learn("source", sourceWords, e, RECIPE.embedding);
    learn("target", targetWords, e, RECIPE.embedding);
    for (const side of ["forward", "backward"].slice(0, spec.directions)) {
      learn(`${side}.W`, 3 * this.half, e);
      learn(`${side}.U`, 3 * this.half, this.half, RECIPE.recurrent * Math.sqrt(1 / this.half));
      learn(`${side}.b`, 1, 3 * this.half, 0);
    }
    this.enters = !spec.attention || spec.asks === "before"; // the context, into the state
    learn("decoder.W", 3 * n, e);
    learn("decoder.U", 3 * n, n);
    learn("decoder.b", 1, 3 * n, 0);
    if (this.enters) learn("decoder.C", 3 * n, n);
    if (spec.feeding) learn("decoder.F", 3 * n, n);
    learn("output.W", n, 2 * n);
    learn("output.V", targetWords, n);
    learn("output.b", 1, targetWords, 0);
    if (!spec.attention) return;
    this.score = plan(spec.score, { n, d: n });
    for (const [name, [rows, cols]] of Object.entries(this.score.weights))
      // A row for each place begins small, or chance would choose places for good.
      learn(`score.${name}`, rows, cols, name === "v" && spec.zero ? 0 : (rows === PLACES ? 1 : RECIPE.score) * Math.sqrt(1 / cols));
    this.own = Object.fromEntries(Object.keys(this.score.weights).map((name) => [name, this.parameters[`score.${name}`]]));
    if (spec.window === "local-p") {
      learn("window.W", n, n);
      learn("window.v", 1, n);
    }
  }

  // Annotations (B * S, n), and the states that have read the whole sentence (B, n).
  encode(tape, x) {
    const S = x.length;
    const B = x[0].length;
    const embedded = tape.lookup(this.parameters.source, concat(x));
    const run = (side, order) => {
      const [W, U, b] = ["W", "U", "b"].map((name) => this.parameters[`${side}.${name}`]);
      const inputs = tape.linear(embedded, W, b);
      const states = [];
      let h = tape.matrix(B, this.half);
      for (const j of order) {
        h = tape.gru(tape.slice(inputs, j * B, B), tape.linear(h, U), h);
        states[j] = h;
      }
      return { states, last: h };
    };
    const places = [...x.keys()];
    const sides = [run("forward", places)];
    if (this.spec.directions === 2) sides.push(run("backward", places.toReversed()));
    const annotations = places.map((j) => (sides.length === 1 ? sides[0].states[j] : tape.join(sides.map((side) => side.states[j]))));
    const whole = sides.length === 1 ? sides[0].last : tape.join(sides.map((side) => side.last));
    return { k: tape.weave(annotations), whole, S, words: S - (this.spec.mask ? 1 : 0), kept: new Map() };
  }

  // The weights of a query at step i, counted from 0: (B, S).
  attend(tape, q, i, memory) {
    const { spec } = this;
    const { S, words } = memory;
    let scores = tape.shape(compute(tape, this.score, this.own, { ...memory, q, i: i + 1 }), q.rows, S);
    if (spec.sharp) scores = tape.pair("*", scores, tape.constant(1, 1, [RECIPE.sharpness]));
    if (spec.window === "global") return tape.softmax(scores, (_, s) => s < words);
    const { D } = SIZES;
    if (spec.window === "local-m") {
      const p = Math.min(i, words - 1);
      return tape.softmax(scores, (_, s) => s < words && Math.abs(s - p) <= D);
    }
    const hidden = tape.curve("tanh", tape.linear(q, this.parameters["window.W"]));
    const share = tape.curve("sigmoid", tape.linear(hidden, this.parameters["window.v"]));
    const p = tape.pair("*", share, tape.constant(1, 1, [words]));
    const weights = tape.softmax(scores, (b, s) => s < words && Math.abs(s - p.data[b]) <= D);
    return tape.pair("*", weights, tape.bell(p, S, D / 2));
  }

  // The loss of a batch, and the weights of each step, (B, S) each; none without attention.
  run(tape, { x, read, y }) {
    const { spec, parameters } = this;
    const [U, C, F] = ["U", "C", "F"].map((name) => parameters[`decoder.${name}`]);
    const B = x[0].length;
    const memory = this.encode(tape, x);
    const embedded = tape.lookup(parameters.target, concat(read));
    const inputs = tape.linear(embedded, parameters["decoder.W"], parameters["decoder.b"]);
    let s = tape.matrix(B, SIZES.n);
    let t = tape.matrix(B, SIZES.n); // the output layer's vector, fed on
    const [outputs, aligned] = [[], []];
    for (let i = 0; i < read.length; i++) {
      let context = memory.whole;
      const attend = (q) => {
        aligned.push(this.attend(tape, q, i, memory));
        context = tape.blend(aligned.at(-1), memory.k);
      };
      if (spec.attention && spec.asks === "before") attend(s);
      let input = tape.slice(inputs, i * B, B);
      if (C) input = tape.pair("+", input, tape.linear(context, C));
      if (F) input = tape.pair("+", input, tape.linear(t, F));
      s = tape.gru(input, tape.linear(s, U), s);
      if (spec.attention && spec.asks === "after") attend(s);
      t = tape.curve("tanh", tape.linear(tape.join([context, s]), parameters["output.W"]));
      outputs.push(t);
    }
    const logits = tape.linear(tape.stack(outputs), parameters["output.V"], parameters["output.b"]);
    return { loss: tape.surprise(logits, concat(y)), aligned };
  }
}

// ------------------------------------------------------------------------------ training

class Adam {
  constructor(parameters) {
    this.list = Object.values(parameters);
    this.moments = this.list.map(({ data }) => [new Float64Array(data.length), new Float64Array(data.length)]);
    this.time = 0;
  }

  // One step down the gradients, which are cut to a norm of 1 and then forgotten. The norm.
  step() {
    let squares = 0;
    for (const { grad } of this.list) for (let at = 0; at < grad.length; at++) squares += grad[at] * grad[at];
    const norm = Math.sqrt(squares);
    if (!Number.isFinite(norm)) return norm;
    const scale = Math.min(1, RECIPE.clip / norm) || 1;
    const [keepMean, keepSquare] = [0.9, 0.999];
    this.time++;
    const rate = (RECIPE.rate * Math.sqrt(1 - keepSquare ** this.time)) / (1 - keepMean ** this.time);
    this.list.forEach(({ data, grad }, which) => {
      const [mean, square] = this.moments[which];
      for (let at = 0; at < data.length; at++) {
        const g = grad[at] * scale;
        mean[at] = keepMean * mean[at] + (1 - keepMean) * g;
        square[at] = keepSquare * square[at] + (1 - keepSquare) * g * g;
        data[at] -= (rate * mean[at]) / (Math.sqrt(square[at]) + 1e-8);
      }
      grad.fill(0);
    });
    return norm;
  }
}

// Sentences -> lists of those with as many source words.
function byLength(sentences) {
  const found = new Map();
  for (const one of sentences) {
    const length = one.source.length;
    if (!found.has(length)) found.set(length, []);
    found.get(length).push(one);
  }
  return found;
}

export class Training {
  constructor(options = {}) {
    this.spec = { ...DEFAULTS, ...options };
    const { train, heldOut } = corpus(this.spec);
    this.train = train;
    this.heldOut = [...byLength(heldOut).values()];
    this.lengths = byLength(train);
    this.source = new Vocabulary(train.map((one) => one.source));
    this.target = new Vocabulary(train.map((one) => one.target));
    this.model = new Model(this.spec, this.source.words.length, this.target.words.length);
    this.adam = new Adam(this.model.parameters);
    this.tape = new Tape();
    this.random = chance(2000 + this.spec.seed);
    this.updates = 0;
    this.trouble = null; // why it stopped
    const apart = (one) => Math.abs(one.source.length - Math.min(SHOWN, this.spec.length));
    this.shown = heldOut.reduce((best, one) => (apart(one) < apart(best) ? one : best));
  }

  pick(list) {
    return list[Math.floor(this.random() * list.length)];
  }

  // One batch forwards and backwards, and one step of Adam. False, if numbers ceased to be numbers.
  update() {
    if (this.trouble) return false;
    const alike = this.lengths.get(this.pick(this.train).source.length);
    const sentences = Array.from({ length: SIZES.batch }, () => this.pick(alike));
    this.tape.clear();
    this.tape.recording = true;
    const { loss } = this.model.run(this.tape, batch(sentences, this.source, this.target));
    this.tape.backward(loss);
    const norm = this.adam.step();
    if (!Number.isFinite(loss.data[0]) || !Number.isFinite(norm)) {
      this.trouble = { key: Number.isFinite(loss.data[0]) ? "gradient_lost" : "loss_lost", given: { update: this.updates + 1 } };
      return false;
    }
    this.updates++;
    return true;
  }

  // Held-out sentences, forced: the words before are the right ones.
  look() {
    this.tape.recording = false;
    const total = { loss: 0, tokens: 0, right: 0, words: 0, mass: 0, top: 0, linked: 0, entropy: 0 };
    let drawn;
    for (const sentences of this.heldOut) {
      this.tape.clear();
      const encoded = batch(sentences, this.source, this.target);
      const { loss, aligned } = this.model.run(this.tape, encoded);
      const tokens = sentences.reduce((sum, one) => sum + one.target.length + 1, 0);
      total.loss += loss.data[0] * tokens;
      total.tokens += tokens;
      sentences.forEach((one, b) => {
        const row = (i) => aligned[i].data.subarray(b * aligned[i].cols, (b + 1) * aligned[i].cols);
        const guess = (i) => loss.best[i * sentences.length + b];
        one.target.forEach((_, i) => {
          total.words++;
          total.right += guess(i) === encoded.y[i][b] && guess(i) !== 0;
          if (!aligned.length) return;
          const weights = row(i);
          for (const weight of weights) if (weight > 0) total.entropy -= weight * Math.log2(weight);
          if (!one.links) return;
          total.linked++;
          total.mass += weights[one.links[i]];
          total.top += weights.indexOf(Math.max(...weights)) === one.links[i];
        });
        if (one !== this.shown) return;
        drawn = [...one.target, END].map((word, i) => ({ word, guess: this.target.words[guess(i)], weights: aligned.length ? Array.from(row(i)) : null }));
      });
    }
    const share = (sum, of) => (of && this.spec.attention ? sum / of : null);
    return {
      updates: this.updates,
      loss: total.loss / total.tokens,
      right: total.right / total.words,
      mass: share(total.mass, total.linked),
      top: share(total.top, total.linked),
      entropy: share(total.entropy, total.words),
      rows: drawn,
    };
  }

  // What does not change while it learns.
  about() {
    const { source, links } = this.shown;
    return { source: [...source, END], links, hidden: this.spec.mask };
  }
}
