/** Reads jobs from standard input, [{model, sentences}], and answers as the page would: JSON. */
import { readFileSync } from "node:fs";
import { load, split, written } from "../../book/_live/translator.mjs";

const rows = (matrix) => matrix && matrix.map((row) => [...row]);

/** One step as plain lists. */
function plain(step) {
  const lists = Object.entries(step).map(([name, value]) => [
    name,
    value instanceof Float32Array ? [...value] : value,
  ]);
  return Object.fromEntries(lists);
}

/** What went wrong, if something did. */
async function attempt(action) {
  try {
    return { found: await action() };
  } catch (error) {
    return { name: error.name, code: error.code, message: error.message };
  }
}

const tasks = {
  translate(model, { sentences }) {
    return sentences.map((words) => {
      const { words: target, align, score } = model.translate(words);
      return { words: target, align: rows(align), score };
    });
  },
  steps(model, { sentence, forced }) {
    const run = model.begin(sentence);
    const steps = [];
    for (const word of forced ?? []) steps.push(plain(run.step(word)));
    while (!forced && !run.done) steps.push(plain(run.step()));
    return steps;
  },
  time(model, { sentence }) {
    const spent = (action) => {
      const before = process.cpuUsage();
      action();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    const first = spent(() => model.begin(sentence).step());
    return { first, sentence: spent(() => model.translate(sentence)) };
  },
  tokenise: (model, { texts }) => texts.map((text) => model.tokenise(text)),
  split: (model, { texts }) => texts.map(split),
  written: (model, { sentences }) => sentences.map(written),
  check: (model, { texts }) => texts.map((text) => model.check(model.tokenise(text))),
  unknown: (model, { words }) => model.unknown(words),
  about: ({ config, attends, asks, sourceWords, targetWords, parameters }) => ({
    config,
    attends,
    asks,
    sourceWords,
    targetWords,
    parameters,
  }),
  attempt: (model, { words }) => attempt(() => model.translate(words)),
};

const answers = [];
for (const { model: path, task, ...job } of JSON.parse(readFileSync(0, "utf8"))) {
  if (task === "load") answers.push(await attempt(async () => void (await load(job.url ?? readFileSync(path)))));
  else answers.push(await tasks[task](path && (await load(readFileSync(path))), job));
}
process.stdout.write(JSON.stringify(answers));
