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

import { CURVES } from "./tape.mjs";

export const PLACES = 26; // of a location score: source words and the sentence's end
export const LONGEST = 120; // characters
const DEEPEST = 20; // brackets in brackets
const VECTORS = ["u", "v", "w"]; // learned
const LEARNED = ["a", "b"];

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

// ------------------------------------------------------------------------------ reading

function tokens(text) {
  const found = [];
  const pattern = /\s*(?:(\d+(?:\.\d+)?)|([A-Za-z]+)|([-+*/()[\],;]))/y;
  let at = 0;
  while (text.slice(at).trim()) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (!match) {
      at += text.slice(at).search(/\S/);
      refuse(at, "sign", { sign: text[at] });
    }
    const kind = match[1] ? "number" : match[2] ? "name" : match[3];
    const word = match[1] ?? match[2] ?? match[3];
    found.push({ kind, text: word, at: pattern.lastIndex - word.length });
    at = pattern.lastIndex;
  }
  return found;
}

// The line as a tree: { kind, at, ... }.
export function parse(text) {
  if (text.length > LONGEST) refuse(LONGEST, "long", { most: LONGEST });
  const found = tokens(text);
  let next = 0;
  let depth = 0;
  const end = { kind: "end", text: "", at: text.trimEnd().length };
  const peek = () => found[next] ?? end;
  const is = (kind) => peek().kind === kind;
  const take = (kind) => {
    const token = peek();
    if (token.kind !== kind) refuse(token.at, token === end ? "missing_at_end" : "missing", { what: kind, next: token.text });
    next++;
    return token;
  };
  const list = (separator, close) => {
    if (++depth > DEEPEST) refuse(peek().at, "deep");
    const parts = [sum()];
    while (is(separator)) {
      next++;
      parts.push(sum());
    }
    take(close);
    depth--;
    return parts;
  };
  const atom = () => {
    const token = peek();
    const { at } = token;
    next++;
    if (token.kind === "number") return { kind: "number", at, text: token.text };
    if (token.kind === "name") {
      if (!is("(")) return { kind: "name", at, name: token.text };
      next++;
      return { kind: "call", at, name: token.text, parts: list(",", ")") };
    }
    if (token.kind === "(") return list("none", ")")[0];
    if (token.kind === "[") return { kind: "join", at, parts: list(";", "]") };
    return refuse(at, token === end ? "nothing_at_end" : "nothing", { next: token.text });
  };
  const factor = () => {
    const { at } = peek();
    if (is("-")) {
      if (++depth > DEEPEST) refuse(at, "signs");
      next++;
      const of = { kind: "minus", at, parts: [factor()] };
      depth--;
      return of;
    }
    const of = atom();
    if (!is("[")) return of;
    const { at: bracket } = take("[");
    const { text: name, at: here } = peek();
    if (name !== "j") refuse(here, "only_j");
    next++;
    take("]");
    return { kind: "place", at: bracket, parts: [of] };
  };
  const chain = (signs, part) => () => {
    let left = part();
    while (signs.includes(peek().kind)) {
      const { kind, at } = found[next++];
      left = { kind: "pair", at, sign: kind, parts: [left, part()] };
    }
    return left;
  };
  const product = chain(["*", "/"], factor);
  const sum = chain(["+", "-"], product);
  if (!found.length) refuse(0, "empty");
  const tree = sum();
  if (next < found.length) refuse(peek().at, "follows", { next: peek().text });
  return tree;
}

// ------------------------------------------------------------------------------ shapes

// What each part is: `size`, how many numbers; `asks`, whether it changes with the query; `reads`,
// whether it has a value for each source word. Answers a plan: { tree, weights: { name: [rows,
// cols] } } or throws a Refusal that says where, and which shapes.
export function plan(text, { n, d }) {
  const tree = parse(text);
  const weights = {};
  const need = (node, name, rows, cols) => {
    const [r, c] = weights[name] ?? [rows, cols]; // names are single letters here
    if (r !== rows || c !== cols)
      refuse(node.at, "matrix_twice", { name, r, c, rows, cols });
    weights[name] = [rows, cols];
  };
  const leaf = (node, numbers, asks, reads) => Object.assign(node, { size: numbers, asks, reads });
  const name = (node) => {
    const given = { q: [n, true, false], k: [d, false, true], n: [1, false, false], S: [1, false, false], i: [1, true, false], j: [1, false, true] };
    if (Object.hasOwn(given, node.name)) return leaf(node, ...given[node.name]);
    const vector = VECTORS.includes(node.name);
    if (!vector && !LEARNED.includes(node.name)) {
      const bare = Object.hasOwn(CURVES, node.name) || node.name === "dot" || /^[A-Z]$/.test(node.name);
      refuse(node.at, bare ? "brackets" : "unknown", { name: node.name, inside: node.name === "dot" ? "q, k" : "q" });
    }
    need(node, node.name, 1, vector ? n : 1);
    return leaf(node, vector ? n : 1, false, false);
  };
  const call = (node, rows) => {
    const wanted = node.name === "dot" ? 2 : 1;
    const matrix = /^[A-Z]$/.test(node.name) && node.name !== "S";
    if (!matrix && node.name !== "dot" && !Object.hasOwn(CURVES, node.name))
      refuse(node.at, "function", { name: node.name, known: Object.keys(CURVES).join(", ") });
    if (node.parts.length !== wanted)
      refuse(node.at, wanted === 1 ? "one_argument" : "two_arguments", { name: node.name, count: node.parts.length });
    const [x, y] = node.parts;
    if (node.name === "dot" && (x.size === 1 || x.size !== y.size))
      refuse(node.at, "dot_sizes", { x: { size: x.size }, y: { size: y.size } });
    if (matrix && x.size === 1) refuse(node.at, "matrix_of_number", { name: node.name });
    if (matrix) need(node, node.name, rows, x.size);
    node.size = matrix ? rows : node.name === "dot" ? 1 : x.size;
  };
  const visit = (node, rows = n) => {
    if (node.kind === "number") return leaf(node, 1, false, false);
    if (node.kind === "name") return name(node);
    const { parts } = node;
    const picks = node.kind === "place";
    if (picks && !(parts[0].kind === "call" && /^[A-Z]$/.test(parts[0].name)))
      refuse(node.at, "j_of_matrix");
    parts.forEach((part) => visit(part, picks ? PLACES : n));
    node.asks = parts.some((part) => part.asks);
    node.reads = picks || parts.some((part) => part.reads);
    const [x, y] = parts;
    if (node.kind === "call") call(node, rows);
    else if (node.kind === "minus") node.size = x.size;
    else if (node.kind === "join") {
      const bare = parts.find((part) => part.size === 1);
      if (bare) refuse(bare.at, "join_number");
      node.size = parts.reduce((sum, part) => sum + part.size, 0);
    } else if (picks) {
      if (x.reads) refuse(node.at, "j_reads");
      node.size = 1;
    } else {
      if (x.size !== y.size && x.size !== 1 && y.size !== 1)
        refuse(node.at, "sizes", { sign: node.sign, x: { size: x.size }, y: { size: y.size } });
      node.size = Math.max(x.size, y.size);
    }
    return node;
  };
  visit(tree);
  if (tree.size !== 1) refuse(tree.at, "score_size", { x: { size: tree.size } });
  return { tree, weights };
}

// ------------------------------------------------------------------------------ computing

// The scores of B sentences with S words: (B * S, 1). `given` has the query q (B, n), the keys k
// (B * S, d), the target's place i, S, `words` (what S stands for), and `kept`, a Map for what is
// the same for all queries.
export function compute(tape, { tree, weights }, parameters, given) {
  const { q, k, i, S, words, kept } = given;
  const number = (value) => tape.constant(1, 1, [value]);
  const known = {
    q: () => q,
    k: () => k,
    n: () => number(q.cols),
    i: () => number(i),
    S: () => number(words),
    j: () => tape.constant(k.rows, 1, Array.from({ length: k.rows }, (_, at) => 1 + (at % S))),
  };
  const work = (node) => {
    if (node.kind === "number") return number(Number(node.text));
    if (node.kind === "name") return Object.hasOwn(weights, node.name) ? parameters[node.name] : known[node.name]();
    const parts = node.parts.map(value);
    if (node.kind === "minus") return tape.apply("*", parts[0], number(-1));
    if (node.kind === "pair") return tape.apply(node.sign, ...parts);
    if (node.kind === "join") return tape.join(parts);
    if (node.kind === "place") return tape.place(parts[0].rows === q.rows ? parts[0] : tape.apply("+", parts[0], tape.matrix(q.rows, 1)), S);
    if (node.name === "dot") return tape.dot(...parts);
    if (Object.hasOwn(weights, node.name)) return tape.linear(parts[0], parameters[node.name]);
    return tape.apply(node.name, parts[0]);
  };
  const value = (node) => {
    if (node.asks) return work(node);
    if (!kept.has(node)) kept.set(node, work(node));
    return kept.get(node);
  };
  const scores = value(tree);
  return scores.rows === k.rows ? scores : tape.apply("+", scores, tape.matrix(k.rows, 1));
}
