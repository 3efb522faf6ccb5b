// Symbols and equations of a model's step, frame by frame. _(x) is low; {braces} mark what lights.

export const sub = (text) => text.replace(/_\(([^)]*)\)/g, "<sub>$1</sub>").replace(/\^T/g, "<sup>\u22a4</sup>");
export const mark = (text) => sub(text).replace(/\{([^}]*)\}/g, "<mark>$1</mark>");

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

// The frames of one step, with the equations of this model's own score and output; `name` is a key.
export function framesOf({ asks, config }) {
  const equations = asks === "after" ? { score: `{score(h_(t), h\u0304_(s))} = ${SCORES[config.score ?? "concat-fixed"]}` } : {};
  if (config.output_state === "current") equations.word = FRAMES.before[3].equation.replace("s_(i\u22121)", "s_(i)");
  return FRAMES[asks].map((frame) => ({ ...frame, equation: equations[frame.key] ?? frame.equation }));
}

export function symbolsOf({ asks, config }) {
  const fed = "h_(t) = LSTM(h_(t\u22121), [y_(t\u22121); h\u0303_(t\u22121)])";
  return config.feeding ? { ...SYMBOLS[asks], state: fed } : SYMBOLS[asks];
}
