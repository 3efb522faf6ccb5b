// Attention that is trained in the page: tasks, a small recurrent translator, and its training.
//
//   const run = new Training({ ...DEFAULTS, task: "reverse" }); // of learn_choices.mjs
//   run.update();             // one batch of 16 sentences
//   run.look();               // what is drawn: loss, words right, an alignment, ...
//
// The encoder has one direction or two, the decoder starts at zero, the end of the source is
// hidden from attention. `asks: "before"` is Bahdanau's order (the query is s_{i-1}, and the context
// enters the new state), "after" is Luong's (the query is s_i). Without attention, the encoder's
// last states stand in the context's place at every step (Cho et al. 2014).

import { Tape, range } from "./tape.mjs";
import { PLACES, Refusal, compute, plan } from "./score.mjs";

export const SIZES = { n: 32, embedding: 24, batch: 16, D: 2 };
// Adam's rate, and the norm that gradients are cut to; by what the score is multiplied; how far from
// 0 weights begin, times 1 / sqrt(columns): those of the score, and the encoder's recurrent ones,
// small so that an annotation is first of all about its own word; and the embeddings.
const RECIPE = { rate: 0.007, clip: 1, sharpness: 4, score: 4, recurrent: 0.5, embedding: 0.5 };
const HELD_OUT = 32;
const POOL = 3000; // sentences in training
const MOST_LINES = 400; // of the reader's own pairs, and words of one
const MOST_WORDS = 20;
const SHOWN = 8; // words of the sentence that is drawn, if there is one

// --- chance

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

const among = (list, random) => list[Math.floor(random() * list.length)];

// --- tasks

const LETTERS = [..."ABCDEFGHIJKLMNOPQRST"];
const ARTICLES = { das: "the", ein: "a", mein: "my", dieses: "this" };
const NOUNS = { Kind: "child", Pferd: "horse", Schaf: "sheep", Huhn: "hen", Lamm: "lamb" }; // all neuter
const NAMES = { Anna: "Anna", Peter: "Peter" };
const FORMS = { hat: "has", hatte: "had" };
const ADVERBS = { heute: "today", dort: "there" };
const AND = { und: "and" };
const VERBS = { gesehen: "seen", gesucht: "sought", gefunden: "found", gerufen: "called", gehört: "heard" };

// What is said so far, each word with its English, and how to say one more: its place is returned.
function speech(random) {
  const pairs = [];
  return { pairs, say: (words, word = among(Object.keys(words), random)) => pairs.push([word, words[word]]) - 1 };
}

// Source and target of what was said; `order` has the places in English order. An article that comes
// with its noun, "an apple", belongs to no word.
function sample(pairs, order) {
  const english = order.flatMap((from) => pairs[from][1].split(" ").map((word, at, all) => [word, at < all.length - 1 ? null : from]));
  return { source: pairs.map(([word]) => word), glosses: pairs.map((pair) => pair[1]), target: english.map(([word]) => word), links: english.map(([, from]) => from) };
}

// A German sentence word by word, the participle last, and in English order.
// "das Kind hat heute ein Pferd gesehen": "the child has seen a horse today".
function german(random, length, same) {
  const { pairs, say } = speech(random);
  const someone = () =>
    !same && random() < 0.3 ? [say(NAMES)] : [say(ARTICLES, same ? "das" : undefined), say(NOUNS)];
  const subject = [...someone(), say(FORMS)];
  const adverb = random() < 0.5 ? [say(ADVERBS)] : [];
  const objects = someone();
  while (pairs.length + 3 <= length && random() < 0.6) objects.push(say(AND, "und"), ...someone());
  return sample(pairs, [...subject, say(VERBS), ...objects, ...adverb]);
}

const KOREAN = {
  // All but places end in a vowel: 는 and 를, never 은 and 을.
  people: { 나: "I", 우리: "we", 민수: "Minsu", 유나: "Yuna", 미라: "Mira", 지호: "Jiho", 수아: "Sua", 그: "he", 그녀: "she" },
  times: { 어제: "yesterday", 오늘: "today", 아까: "earlier", 다시: "again" },
  places: { 학교: "school", 집: "home", 회사: "work", 대학: "college", 교회: "church" },
  food: {
    사과: "an apple", 오이: "a cucumber", 감자: "a potato", 피자: "a pizza", 토마토: "a tomato", 배: "a pear",
    바나나: "a banana", 고추: "a pepper", 딸기: "a strawberry", 파: "a leek", 쿠키: "a cookie", 자두: "a plum",
  },
  verbs: { 먹었다: "ate", 샀다: "bought", 보았다: "saw", 찾았다: "found", 그렸다: "drew", 골랐다: "chose", 가져왔다: "brought", 팔았다: "sold" },
  particles: { 는: "(topic)", 를: "(object)", 에서: "at", 와: "and" },
};

// A Korean sentence, its particles apart and the verb last. 는 and 를 belong to no English word.
// "나 는 어제 학교 에서 사과 를 먹었다": "I ate an apple at school yesterday".
function korean(random, length) {
  const { pairs, say } = speech(random);
  const { people, times, places, food, verbs, particles } = KOREAN;
  const subject = say(people);
  say(particles, "는");
  const time = random() < 0.5 ? [say(times)] : [];
  const place = random() < 0.5 ? [say(places), say(particles, "에서")].reverse() : [];
  const objects = [say(food)];
  while (pairs.length + 4 <= length && random() < 0.6) objects.push(say(particles, "와"), say(food));
  say(particles, "를");
  return sample(pairs, [subject, say(verbs), ...objects, ...place, ...time]);
}

function letters(random, length, backwards) {
  const source = Array.from({ length }, () => among(LETTERS, random));
  const links = source.map((_, at) => (backwards ? length - 1 - at : at));
  return { source, target: links.map((from) => source[from]), links };
}

const PAUSE = /\t|\s=\s|\s\|\s/;
const words = (text) => text.match(/[\p{L}\p{M}\p{N}'’-]+|[^\s\p{L}\p{M}\p{N}]/gu) ?? [];

// The reader's own pairs, a line each. Throws a Refusal that names the line.
export function readPairs(text) {
  const lines = text.normalize("NFC").split("\n").map((line, at) => [line.trim(), at + 1]).filter(([line]) => line);
  if (lines.length > MOST_LINES) throw new Refusal("pairs_many", { lines: lines.length, most: MOST_LINES });
  const pairs = lines.map(([line, number]) => {
    const sides = line.split(PAUSE);
    if (sides.length !== 2) throw new Refusal("pairs_sides", { line: number });
    const [source, target] = sides.map(words);
    const longest = Math.max(source.length, target.length);
    if (longest > MOST_WORDS) throw new Refusal("pairs_long", { line: number, words: longest, most: MOST_WORDS });
    return { source, target };
  });
  if (pairs.length < 8) throw new Refusal("pairs_few", { lines: pairs.length });
  return pairs;
}

// A grammar for each task that has words, and the length of its shortest sentence.
const GRAMMARS = { german: [german, 4], korean: [korean, 5] };

// { train, heldOut }: sentences { source, target, links }; links[i] is the place of the source word
// that target word i belongs to, null if to none, and of the reader's own pairs nobody knows it.
export function corpus({ task, seed, length: longest, same, pairs: text }) {
  const random = chance(1000 + seed);
  if (task === "own") {
    const keyed = readPairs(text).map((pair) => [random(), pair]);
    const pairs = keyed.sort(([one], [other]) => one - other).map(([, pair]) => pair);
    const held = Math.min(HELD_OUT, Math.floor(pairs.length / 8));
    return { heldOut: pairs.slice(0, held), train: pairs.slice(held) };
  }
  const [grammar, shortest] = GRAMMARS[task] ?? [null, 4];
  const least = grammar === german && same ? 6 : shortest; // without names none is shorter
  const most = Math.max(least, longest);
  const make = () => {
    const length = least + Math.floor(random() * (most - least + 1));
    if (!grammar) return letters(random, length, task === "reverse");
    for (let tries = 0; ; tries++) {
      const made = grammar(random, length, same);
      const { length: found } = made.source; // without names, some lengths are out of reach
      if (found === length || (same && tries > 40 && found <= most)) return made;
    }
  };
  const key = ({ source }) => source.join(" ");
  const heldOut = Array.from({ length: HELD_OUT }, make);
  const known = new Set(heldOut.map(key));
  return { heldOut, train: Array.from({ length: POOL }, make).filter((one) => !known.has(key(one))) };
}

// --- words as numbers

const UNKNOWN = "?";
const END = "</s>"; // and the beginning, too

function vocabulary(sentences) {
  const words = [...new Set([UNKNOWN, END, ...sentences.flat()])];
  return { words, ids: new Map(words.map((word, id) => [word, id])) };
}

const encode = ({ ids }, sentence) => [...sentence, END].map((word) => ids.get(word) ?? 0);

// Sentences of one source length, as numbers, step by step: x[j][b], read[i][b] (what the decoder
// reads), y[i][b] (what it should write; -1 past the end).
export function batch(sentences, source, target) {
  const xs = sentences.map((one) => encode(source, one.source));
  const ys = sentences.map((one) => encode(target, one.target));
  const steps = Math.max(...ys.map((y) => y.length));
  const turned = (rows, length, pick) => Array.from({ length }, (_, i) => rows.map((row) => pick(row, i)));
  return {
    x: turned(xs, xs[0].length, (x, j) => x[j]),
    read: turned(ys, steps, (y, i) => y[i - 1] ?? 1),
    y: turned(ys, steps, (y, i) => y[i] ?? -1),
  };
}

// --- the model

export class Model {
  constructor(spec, sourceWords, targetWords) {
    const { n, embedding: e } = SIZES;
    this.spec = spec;
    this.parameters = {};
    const random = chance(spec.seed);
    const kept = new Tape(); // never cleared
    const learn = (name, rows, cols, spread = 1) => {
      const made = kept.matrix(rows, cols);
      made.data.set(made.data.map(() => (spread / Math.sqrt(cols)) * (2 * random() - 1)));
      return (this.parameters[name] = made);
    };
    learn("source", sourceWords, e, RECIPE.embedding * Math.sqrt(e));
    learn("target", targetWords, e, RECIPE.embedding * Math.sqrt(e));
    const unit = (name, n, recurrent) => ({
      W: learn(`${name}.W`, 3 * n, e),
      U: learn(`${name}.U`, 3 * n, n, recurrent),
      b: learn(`${name}.b`, 1, 3 * n, 0),
    });
    const sides = ["forward", "backward"].slice(0, spec.directions);
    this.sides = sides.map((side) => unit(side, n / spec.directions, RECIPE.recurrent));
    this.decoder = unit("decoder", n);
    if (!spec.attention || spec.asks === "before") this.decoder.C = learn("decoder.C", 3 * n, n);
    if (spec.feeding) this.decoder.F = learn("decoder.F", 3 * n, n);
    learn("output.W", n, 2 * n);
    learn("output.V", targetWords, n);
    learn("output.b", 1, targetWords, 0);
    if (!spec.attention) return;
    this.score = plan(spec.score, { n, d: n });
    this.own = {}; // the score's
    for (const [name, [rows, cols]] of Object.entries(this.score.weights)) {
      // A row for each place begins small, or chance would choose places for good.
      const spread = name === "v" && spec.zero ? 0 : rows === PLACES ? 1 : RECIPE.score;
      this.own[name] = learn(`score.${name}`, rows, cols, spread);
    }
    if (spec.window !== "local-p") return;
    learn("window.W", n, n);
    learn("window.v", 1, n);
  }

  // Annotations (B * S, n), and the states that have read the whole sentence (B, n).
  encode(tape, x) {
    const [S, B] = [x.length, x[0].length];
    const embedded = tape.lookup(this.parameters.source, x.flat());
    const sides = this.sides.map(({ W, U, b }, backwards) => {
      const inputs = tape.linear(embedded, W, b);
      const states = [];
      let h = tape.matrix(B, U.cols);
      for (const j of backwards ? range(S).reverse() : range(S))
        h = states[j] = tape.gru(tape.slice(inputs, j, B), tape.linear(h, U), h);
      return { states, last: h };
    });
    const annotations = tape.join(range(S).flatMap((j) => sides.map(({ states }) => states[j])));
    const k = { ...annotations, rows: B * S, cols: SIZES.n };
    const whole = tape.join(sides.map(({ last }) => last));
    return { k, whole, S, words: S - (this.spec.mask ? 1 : 0), kept: new Map() };
  }

  // The weights of a query at step i, counted from 0: (B, S).
  attend(tape, q, i, memory) {
    const { spec, parameters } = this;
    const { S, words } = memory;
    const { D } = SIZES;
    const each = compute(tape, this.score, this.own, { ...memory, q, i: i + 1 }); // (B * S, 1)
    const scores = tape.pair("*", { ...each, rows: q.rows, cols: S }, tape.number(spec.sharp ? RECIPE.sharpness : 1));
    const within = (centre) =>
      tape.softmax(scores, (b, s) => s < words && Math.abs(s - centre(b)) <= D);
    if (spec.window === "global") return tape.softmax(scores, (_, s) => s < words);
    if (spec.window === "local-m") return within(() => Math.min(i, words - 1));
    const hidden = tape.curve("tanh", tape.linear(q, parameters["window.W"]));
    const share = tape.curve("sigmoid", tape.linear(hidden, parameters["window.v"]));
    const p = tape.pair("*", share, tape.number(words));
    // exp(-(s - p)^2 / (2 sigma^2)), where sigma is D / 2
    const apart = tape.pair("-", tape.matrix(1, S, range(S)), p);
    const bell = tape.curve("exp", tape.pair("*", tape.pair("*", apart, apart), tape.number(-2 / (D * D))));
    return tape.pair("*", within((b) => p.data[b]), bell);
  }

  // The loss of a batch, what it says of each word (T * B, words), and the weights of each step,
  // (B, S) each; none without attention.
  run(tape, { x, read, y }) {
    const { spec, parameters } = this;
    const { W, U, b, C, F } = this.decoder;
    const B = x[0].length;
    const memory = this.encode(tape, x);
    const inputs = tape.linear(tape.lookup(parameters.target, read.flat()), W, b);
    let s = tape.matrix(B, SIZES.n);
    let t = tape.matrix(B, SIZES.n); // the output layer's vector, fed on
    let context = memory.whole;
    const [outputs, aligned] = [[], []];
    read.forEach((_, i) => {
      const attend = (order) => {
        if (!spec.attention || spec.asks !== order) return;
        aligned.push(this.attend(tape, s, i, memory));
        context = tape.blend(aligned[i], memory.k);
      };
      attend("before");
      let input = tape.slice(inputs, i, B);
      if (C) input = tape.pair("+", input, tape.linear(context, C));
      if (F) input = tape.pair("+", input, tape.linear(t, F));
      s = tape.gru(input, tape.linear(s, U), s);
      attend("after");
      t = tape.curve("tanh", tape.linear(tape.join([context, s]), parameters["output.W"]));
      outputs.push(t);
    });
    const logits = tape.linear(tape.pieces(outputs.length * B, outputs.map((x) => [x, 0, x.data.length])), parameters["output.V"], parameters["output.b"]);
    return { loss: tape.surprise(logits, y.flat()), logits, aligned };
  }
}

// --- training

// A function that takes one step of Adam (Kingma and Ba 2015) down the gradients, which are cut to a
// norm of RECIPE.clip and then forgotten, and answers that norm.
function adam(parameters) {
  const zeros = ({ data }) => new Float64Array(data.length);
  const list = Object.values(parameters).map((one) => ({ ...one, mean: zeros(one), square: zeros(one) }));
  const [keepMean, keepSquare] = [0.9, 0.999];
  let time = 0;
  return () => {
    let squares = 0;
    for (const { grad } of list) for (let at = 0; at < grad.length; at++) squares += grad[at] * grad[at];
    const norm = Math.sqrt(squares);
    if (!Number.isFinite(norm)) return norm;
    const scale = Math.min(1, RECIPE.clip / norm);
    time++;
    const rate = (RECIPE.rate * Math.sqrt(1 - keepSquare ** time)) / (1 - keepMean ** time);
    for (const { data, grad, mean, square } of list) {
      for (let at = 0; at < data.length; at++) {
        const g = grad[at] * scale;
        mean[at] = keepMean * mean[at] + (1 - keepMean) * g;
        square[at] = keepSquare * square[at] + (1 - keepSquare) * g * g;
        data[at] -= (rate * mean[at]) / (Math.sqrt(square[at]) + 1e-8);
      }
      grad.fill(0);
    }
    return norm;
  };
}

// Number of source words -> the sentences that have as many.
function byLength(sentences) {
  const lengths = new Set(sentences.map((one) => one.source.length));
  return new Map(Array.from(lengths, (length) => [length, sentences.filter((one) => one.source.length === length)]));
}

const row = ({ data, cols }, r) => data.subarray(r * cols, (r + 1) * cols);
const top = (numbers) => numbers.reduce((best, x, at) => (x > numbers[best] ? at : best), 0);
const mean = (list, pick) => (list.length ? list.reduce((sum, one) => sum + pick(one), 0) / list.length : null);
const entropy = (weights) => -weights.reduce((sum, p) => (p > 0 ? sum + p * Math.log2(p) : sum), 0);

export class Training {
  constructor(spec) {
    this.spec = spec;
    const { train, heldOut } = corpus(this.spec);
    this.train = train;
    this.heldOut = [...byLength(heldOut).values()];
    this.lengths = byLength(train);
    this.source = vocabulary(train.map((one) => one.source));
    this.target = vocabulary(train.map((one) => one.target));
    this.model = new Model(this.spec, this.source.words.length, this.target.words.length);
    this.step = adam(this.model.parameters);
    this.tape = new Tape();
    this.random = chance(2000 + this.spec.seed);
    this.updates = 0;
    this.trouble = null; // why it stopped
    const apart = (one) => Math.abs(one.source.length - Math.min(SHOWN, this.spec.length));
    this.shown = heldOut.reduce((best, one) => (apart(one) < apart(best) ? one : best));
  }

  run(sentences) {
    this.tape.clear();
    return this.model.run(this.tape, batch(sentences, this.source, this.target));
  }

  // One batch forwards and backwards, and one step of Adam. False, if numbers ceased to be numbers.
  update() {
    if (this.trouble) return false;
    const alike = this.lengths.get(among(this.train, this.random).source.length);
    const { loss } = this.run(Array.from({ length: SIZES.batch }, () => among(alike, this.random)));
    this.tape.backward(loss);
    const norm = this.step();
    if (Number.isFinite(norm)) this.updates++; // so the loss is, too
    else this.stop(Number.isFinite(loss.data[0]) ? "gradient_lost" : "loss_lost");
    return !this.trouble;
  }

  stop(key) {
    this.trouble = { key, given: { update: this.updates + 1 } };
  }

  // Held-out sentences, forced: the words before are the right ones. Nothing, if numbers ceased to be numbers.
  look() {
    const [words, losses] = [[], []];
    let rows;
    for (const sentences of this.heldOut) {
      const { loss, logits, aligned } = this.run(sentences);
      sentences.forEach((one, b) => {
        const lines = [...one.target, END].map((word, i) => ({
          word,
          guess: this.target.words[top(row(logits, i * sentences.length + b))],
          weights: aligned.length ? Array.from(row(aligned[i], b)) : null,
          link: one.links?.[i],
        }));
        if (one === this.shown) rows = lines;
        losses.push(...lines.map(() => loss.data[0]));
        words.push(...lines.slice(0, -1));
      });
    }
    const loss = mean(losses, (one) => one);
    if (!Number.isFinite(loss)) return this.stop("loss_lost");
    const seen = words.filter((one) => one.weights);
    const linked = seen.filter((one) => one.link != null);
    return {
      updates: this.updates,
      loss,
      right: mean(words, (one) => one.guess === one.word),
      mass: mean(linked, (one) => one.weights[one.link]),
      top: mean(linked, (one) => top(one.weights) === one.link),
      entropy: mean(seen, (one) => entropy(one.weights)),
      rows,
    };
  }

  // What does not change while it learns.
  about() {
    const { source, links, glosses } = this.shown;
    return { source: [...source, END], links, glosses, hidden: this.spec.mask };
  }
}
