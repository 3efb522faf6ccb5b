/** Reads jobs from standard input, [{model, sentences}], and answers as the page would: JSON. */
import { readFileSync } from "node:fs";
import { load, split, written } from "../../book/_live/translator.mjs";

const rows = (matrix) => matrix && matrix.map((row) => [...row]);

/** One step as plain lists. */
const plain = (step) => JSON.parse(JSON.stringify(step, (_, value) => (value instanceof Float32Array ? [...value] : value)));

/** What went wrong, if something did. */
async function attempt(action) {
  try {
    return { found: await action() };
  } catch (error) {
    return { name: error.name, code: error.code, message: error.message };
  }
}

const translations = (sentences, translate) =>
  sentences.map((sentence) => {
    const { words, align, score } = translate(sentence);
    return { words, align: rows(align), score };
  });

const tasks = {
  translate: (model, { sentences }) => translations(sentences, (words) => model.translate(words)),
  translateWords: (model, { sentences }) => translations(sentences, (words) => model.translateWords(words)),
  steps(model, { sentence, forced }) {
    const run = model.begin(sentence);
    const steps = [];
    for (const word of forced ?? []) steps.push(plain(run.step(word)));
    while (!forced && !run.done) steps.push(plain(run.step()));
    return steps;
  },
  /** How often each parameter but the embeddings is read, up to the first word and in all. */
  work(model, { sentence, names }) {
    let reads;
    for (const name of names) {
      const tensor = model.weights.get(name);
      const { data } = tensor;
      Object.defineProperty(tensor, "data", {
        get() {
          reads[name] = (reads[name] ?? 0) + 1;
          return data;
        },
      });
    }
    const counted = (action) => {
      reads = {};
      return { result: action(), reads };
    };
    const first = counted(() => void model.begin(sentence).step()).reads;
    const { result, reads: whole } = counted(() => model.translate(sentence).words.length);
    return { first, whole, words: result };
  },
  tokenise: (model, { texts }) => texts.map((text) => model.tokenise(text)),
  units: (model, { sentences }) => sentences.map((words) => model.units(words)),
  split: (model, { texts, language, prefixes }) =>
    texts.map((text) => split(text, language, new Set(prefixes))),
  written: (model, { sentences }) => sentences.map(written),
  check: (model, { texts }) => texts.map((text) => model.check(model.tokenise(text))),
  unknown: (model, { words }) => model.unknown(words),
  about: ({ config, attends, asks, sourceWords, targetWords, parameters }) => ({ config, attends, asks, sourceWords, targetWords, parameters }),
  attempt: (model, { words }) => attempt(() => model.translate(words)),
};

const answers = [];
for (const { model: path, task, ...job } of JSON.parse(readFileSync(0, "utf8"))) {
  if (task === "load") answers.push(await attempt(async () => void (await load(job.url ?? readFileSync(path)))));
  else answers.push(await tasks[task](path && (await load(readFileSync(path))), job));
}
process.stdout.write(JSON.stringify(answers));
