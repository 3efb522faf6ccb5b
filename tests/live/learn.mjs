/** Reads jobs from standard input and answers with what the page's training computes: JSON. */
import { readFileSync } from "node:fs";
import { BREAKS, DEFAULTS } from "../../book/_live/learn_choices.mjs";
import { LEARN } from "../../book/_live/learn_words.mjs";
import { SEE } from "../../book/_live/see_words.mjs";
import { speaker } from "../../book/_live/speaker.mjs";
import { SIZES, Training, batch, corpus, readPairs } from "../../book/_live/learn.mjs";
import { plan } from "../../book/_live/score.mjs";
import { Tape } from "../../book/_live/tape.mjs";

const list = (numbers) => Array.from(numbers, (x) => (Number.isFinite(x) ? x : String(x)));
const table = ({ rows, cols, data }) => Array.from({ length: rows }, (_, r) => list(data.subarray(r * cols, (r + 1) * cols)));

const say = speaker(LEARN);

const tasks = {
  /** Loss, weights and gradients of one batch by a model whose parameters are enlarged. */
  gradients({ spec, enlarge = 1, D = 2 }) {
    SIZES.D = D;
    const run = new Training({ ...DEFAULTS, ...spec });
    const { parameters } = run.model;
    for (const { data } of Object.values(parameters)) data.forEach((x, at) => (data[at] = x * enlarge));
    const alike = [...run.lengths.values()].find((some) => some.length > 4).slice(0, 5);
    const encoded = batch(alike, run.source, run.target);
    const tape = new Tape();
    const { loss, aligned } = run.model.run(tape, encoded);
    tape.backward(loss);
    const each = (answer) => Object.fromEntries(Object.entries(parameters).map(([name, made]) => [name, answer(made)]));
    return {
      parameters: each(table),
      gradients: each(({ rows, cols, grad }) => table({ rows, cols, data: grad })),
      batch: Object.fromEntries(Object.entries(encoded).map(([name, steps]) => [name, steps.map(list)])),
      loss: loss.data[0],
      aligned: aligned.map(table),
    };
  },
  plan: ({ text, n, d }) => plan(text, { n, d }).weights,
  breaks: () => BREAKS,
  words: () => ({ learn: LEARN, see: SEE }),
  pairs: ({ text }) => readPairs(text),
  corpus: ({ spec }) => corpus(spec),
  /** Trains, and looks every few updates, until it locks on or may no longer. */
  train({ spec, updates, until = 2, every = 10 }) {
    const run = new Training({ ...DEFAULTS, ...spec });
    const looks = [run.look()];
    while (run.updates < updates && !run.trouble && !(looks.at(-1).mass > until)) {
      for (let at = 0; at < every && run.update(); at++);
      if (!run.trouble) looks.push(run.look());
    }
    if (!looks[0]) looks.pop();
    return { about: run.about(), trouble: run.trouble ? say(run.trouble.key, run.trouble.given) : "", updates: run.updates, looks: looks.map(({ rows, ...rest }) => rest), rows: looks.at(-1)?.rows };
  },
};

const answers = JSON.parse(readFileSync(0, "utf8")).map((job) => {
  try {
    return { found: tasks[job.task](job) };
  } catch (error) {
    return { error: error.key ? say(error.key, error.given) : error.stack, at: error.at };
  }
});
process.stdout.write(JSON.stringify(answers));
