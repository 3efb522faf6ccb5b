/** Reads jobs from standard input and answers with what the page's training computes: JSON. */
import { readFileSync } from "node:fs";
import { SIZES, Training, batch, corpus, readPairs } from "../../book/_live/learn.mjs";
import { compute, parse, plan, print } from "../../book/_live/score.mjs";
import { Tape } from "../../book/_live/tape.mjs";

const list = (numbers) => Array.from(numbers, (x) => (Number.isFinite(x) ? x : String(x)));
const table = ({ rows, cols, data }) => Array.from({ length: rows }, (_, r) => list(data.subarray(r * cols, (r + 1) * cols)));

const tasks = {
  /** Loss, weights and gradients of one batch by a model whose parameters are enlarged. */
  gradients({ spec, enlarge = 1, D = 2 }) {
    SIZES.D = D;
    const run = new Training(spec);
    const { parameters } = run.model;
    for (const { data } of Object.values(parameters)) data.forEach((x, at) => (data[at] = x * enlarge));
    const alike = [...run.lengths.values()].find((some) => some.length > 4).slice(0, 5);
    const encoded = batch(alike, run.source, run.target);
    const { loss, aligned } = run.model.run(run.tape, encoded);
    run.tape.backward(loss);
    const each = (answer) => Object.fromEntries(Object.entries(parameters).map(([name, made]) => [name, answer(made)]));
    return {
      parameters: each(table),
      gradients: each(({ rows, cols, grad }) => table({ rows, cols, data: grad })),
      batch: Object.fromEntries(Object.entries(encoded).map(([name, steps]) => [name, steps.map(list)])),
      loss: loss.data[0],
      aligned: aligned.map(table),
    };
  },
  /** A line as a tree without places, and printed. */
  read({ text }) {
    const bare = ({ at, parts, ...rest }) => ({ ...rest, ...(parts && { parts: parts.map(bare) }) });
    const tree = parse(text);
    return { tree: bare(tree), printed: print(tree) };
  },
  plan: ({ text, n, d }) => plan(text, { n, d }).weights,
  /** Scores of given queries and keys, in 64 bits. */
  compute({ text, q, k, S, i, words, parameters }) {
    const tape = new Tape(Float64Array);
    const made = (rows) => tape.constant(rows.length, rows[0].length, rows.flat());
    const planned = plan(text, { n: q[0].length, d: k[0].length });
    const own = Object.fromEntries(Object.entries(parameters).map(([name, rows]) => [name, made(rows)]));
    return list(compute(tape, planned, own, { q: made(q), k: made(k), S, i, words, kept: new Map() }).data);
  },
  pairs: ({ text }) => readPairs(text),
  corpus: ({ spec }) => corpus(spec),
  /** Trains, and looks every ten updates, until it locks on or may no longer. */
  train({ spec, updates, until = 2 }) {
    const run = new Training(spec);
    const looks = [run.look()];
    while (run.updates < updates && !run.trouble && !(looks.at(-1).mass > until)) {
      for (let at = 0; at < 10 && run.update(); at++);
      looks.push(run.look());
    }
    return { about: run.about(), trouble: run.trouble, updates: run.updates, looks: looks.map(({ rows, ...rest }) => rest), rows: looks.at(-1).rows };
  },
};

const answers = JSON.parse(readFileSync(0, "utf8")).map((job) => {
  try {
    return { found: tasks[job.task](job) };
  } catch (error) {
    return { error: error.message, at: error.at };
  }
});
process.stdout.write(JSON.stringify(answers));
