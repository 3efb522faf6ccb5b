// The score as one line, in a language of its own: parsed, never evaluated.
//
//   sum     = product { ("+" | "-") product }
//   product = factor { ("*" | "/") factor }
//   factor  = "-" factor | atom [ "[" "j" "]" ]
//   atom    = NUMBER | NAME | NAME "(" sum { "," sum } ")" | "(" sum ")" | "[" sum { ";" sum } "]"
//
// Vectors: q, the query; k, a key, that is, a source word's annotation; u, v and w, learned.
// Numbers: n, the size of q; i and j, the places of the target and the source word, from 1; S, the
// number of source words; a and b, learned. A capital letter before brackets is a learned matrix:
// W(q) has n numbers, and W(q)[j] takes one of as many numbers as a sentence may have words.

import { CURVES, begin, range } from "./tape.mjs";

export const PLACES = 26; // of a location score: source words and the sentence's end
const LONGEST = 120; // characters
const DEEPEST = 20; // brackets in brackets

const VECTORS = [..."qkuvw"];
const NUMBERS = [..."nijSab"];
const LEARNED = [..."uvwab"];
const isMatrix = (name) => /^[A-RT-Z]$/.test(name);
const isFunction = (name) => name === "dot" || isMatrix(name) || Object.hasOwn(CURVES, name);

// What cannot be done, as a key of the page's words (learn_words.mjs) and what they say it about;
// `at` is the place in the line.
export class Refusal extends Error {
  constructor(key, given = {}, at = undefined) {
    super(key);
    Object.assign(this, { key, given, at });
  }
}

const refuse = (at, key, given = {}) => {
  throw new Refusal(key, { column: at + 1, ...given }, at);
};

// --- reading

const TOKEN = /(?<number>\d+(\.\d+)?)|(?<name>[A-Za-z]+)|[-+*/()[\],;]|(?<strange>\S)/gu;

function tokens(text) {
  const found = [...text.matchAll(TOKEN)].map(({ 0: word, index: at, groups }) => {
    if (groups.strange) refuse(at, "sign", { sign: word });
    return { kind: groups.number ? "number" : groups.name ? "name" : word, text: word, at };
  });
  return [...found, { kind: "end", text: "", at: text.trimEnd().length }];
}

// The line as a tree: { kind, at, ... }.
export function parse(text) {
  if (text.length > LONGEST) refuse(LONGEST, "long", { most: LONGEST });
  if (!text.trim()) refuse(0, "empty");
  const found = tokens(text);
  let [next, depth] = [0, 0];
  const is = (kind) => found[next].kind === kind;
  const take = (kind) => {
    const { at, kind: here, text: word } = found[next];
    if (here !== kind) refuse(at, here === "end" ? "missing_at_end" : "missing", { what: kind, next: word });
    return found[next++];
  };
  const deeper = (key, read) => {
    if (++depth > DEEPEST) refuse(found[next].at, key);
    const parts = read();
    depth--;
    return parts;
  };
  const list = (separator, close) =>
    deeper("deep", () => {
      const parts = [sum()];
      while (is(separator)) {
        next++;
        parts.push(sum());
      }
      take(close);
      return parts;
    });
  const atom = () => {
    const { kind, at, text: word } = found[next++];
    if (kind === "number") return { kind, at, text: word };
    if (kind === "name" && !is("(")) return { kind, at, name: word };
    if (kind === "name") {
      next++;
      return { kind: "call", at, name: word, parts: list(",", ")") };
    }
    if (kind === "(") return list("none", ")")[0];
    if (kind === "[") return { kind: "join", at, parts: list(";", "]") };
    return refuse(at, kind === "end" ? "nothing_at_end" : "nothing", { next: word });
  };
  const factor = () => {
    if (is("-")) return deeper("signs", () => ({ kind: "minus", at: take("-").at, parts: [factor()] }));
    const of = atom();
    if (!is("[")) return of;
    const { at } = take("[");
    if (found[next].text !== "j") refuse(found[next].at, "only_j");
    next++;
    take("]");
    return { kind: "place", at, parts: [of] };
  };
  const chain = (signs, part) => () => {
    let left = part();
    while (signs.some(is)) {
      const { kind, at } = found[next++];
      left = { kind: "pair", at, sign: kind, parts: [left, part()] };
    }
    return left;
  };
  const sum = chain(["+", "-"], chain(["*", "/"], factor));
  const tree = sum();
  if (!is("end")) refuse(found[next].at, "follows", { next: found[next].text });
  return tree;
}

// --- shapes

// What each part is: `size`, how many numbers; `asks`, whether it changes with the query; `reads`,
// whether it has a value for each source word. Answers a plan: { tree, weights: { name: [rows,
// cols] } } or throws a Refusal that says where, and which shapes.
export function plan(text, { n, d }) {
  const weights = {};
  const learn = ({ at, name }, rows, cols) => {
    const [r, c] = (weights[name] ??= [rows, cols]);
    if (r !== rows || c !== cols) refuse(at, "matrix_twice", { name, r, c, rows, cols });
    return rows;
  };
  const sizes = {
    number: () => 1,
    name(node) {
      const { at, name } = node;
      const vector = VECTORS.includes(name);
      if (!vector && !NUMBERS.includes(name))
        refuse(at, isFunction(name) ? "brackets" : "unknown", { name, inside: name === "dot" ? "q, k" : "q" });
      const size = name === "k" ? d : vector ? n : 1;
      if (LEARNED.includes(name)) learn(node, 1, size);
      return size;
    },
    call(node, [x, y], rows) {
      const { at, name, parts: { length: count } } = node;
      if (!isFunction(name)) refuse(at, "function", { name, known: Object.keys(CURVES).join(", ") });
      if (name === "dot") {
        if (count !== 2) refuse(at, "two_arguments", { name, count });
        if (x.size === 1 || x.size !== y.size) refuse(at, "dot_sizes", { x, y });
        return 1;
      }
      if (count !== 1) refuse(at, "one_argument", { name, count });
      if (!isMatrix(name)) return x.size;
      if (x.size === 1) refuse(at, "matrix_of_number", { name });
      return learn(node, rows, x.size);
    },
    minus: (_, [x]) => x.size,
    join(_, parts) {
      const bare = parts.find((part) => part.size === 1);
      if (bare) refuse(bare.at, "join_number");
      return parts.reduce((sum, part) => sum + part.size, 0);
    },
    place({ at }, [x]) {
      if (x.reads) refuse(at, "j_reads");
      return 1;
    },
    pair({ at, sign }, [x, y]) {
      if (x.size !== y.size && x.size !== 1 && y.size !== 1) refuse(at, "sizes", { sign, x, y });
      return Math.max(x.size, y.size);
    },
  };
  const visit = (node, rows = n) => {
    const { kind, at, name, parts = [] } = node;
    const picks = kind === "place";
    if (picks && !isMatrix(parts[0].name)) refuse(at, "j_of_matrix");
    for (const part of parts) visit(part, picks ? PLACES : n);
    node.asks = name === "q" || name === "i" || parts.some((part) => part.asks);
    node.reads = name === "k" || name === "j" || picks || parts.some((part) => part.reads);
    node.size = sizes[kind](node, parts, rows);
    return node;
  };
  const tree = visit(parse(text));
  if (tree.size !== 1) refuse(tree.at, "score_size", { x: tree });
  return { tree, weights };
}

// --- computing

// The scores of B sentences with S words: (B * S, 1). `learned` has the parameters by name, `given`
// the query q (B, n), the keys k (B * S, d), the target's place i, S, `words` (what S stands for),
// and `kept`, a Map for what is the same for all queries.
export function compute(tape, { tree }, learned, given) {
  const { q, k, i, S, words, kept } = given;
  const known = { ...learned, q, k };
  const numbers = { n: q.cols, i, S: words };
  const places = range(k.rows);
  const named = (name) =>
    name === "j" ? tape.matrix(k.rows, 1, places.map((r) => 1 + (r % S))) : (known[name] ?? tape.number(numbers[name]));
  const work = ({ kind, name, sign, text, parts = [] }) => {
    const values = parts.map(value);
    const [x, y] = values;
    if (kind === "number") return tape.number(Number(text));
    if (kind === "name") return named(name);
    if (kind === "minus") return tape.pair("*", x, tape.number(-1));
    if (kind === "join") return tape.join(values);
    if (kind === "place") return tape.pieces(k.rows, places.map((r) => [x, begin(x, r, k.rows) + (r % S), 1]));
    if (name === "dot") return tape.dot(x, y);
    if (isMatrix(name)) return tape.linear(x, learned[name]);
    return kind === "pair" ? tape.pair(sign, x, y) : tape.curve(name, x);
  };
  const value = (node) => {
    if (node.asks) return work(node);
    if (!kept.has(node)) kept.set(node, work(node));
    return kept.get(node);
  };
  return tape.repeat(value(tree), k.rows, 1);
}
