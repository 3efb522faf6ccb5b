// What a training is told: of the page, and of the worker that trains.

export const MOST_UPDATES = 2000; // then it waits for the reader

export const DEFAULTS = {
  task: "german", // or "copy", "reverse", "own"
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
