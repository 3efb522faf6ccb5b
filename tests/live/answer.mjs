/** Reads jobs from standard input, [{model, sentences}], and answers as the page would: JSON. */
import { readFileSync } from "node:fs";
import { load } from "../../book/_live/translator.mjs";
import { split, written } from "../../book/_live/vocabulary.mjs";

/** As plain lists. */
const plain = (found) => JSON.parse(JSON.stringify(found, (_, value) => (value instanceof Float32Array ? [...value] : value)));

/** Greedy search: the most probable word at each step, until `</s>`. */
function translation(model, run) {
  const found = { words: [], align: model.attends ? [] : null, score: 0 };
  while (!run.done) {
    const { word, align, logP } = run.step();
    found.score += logP;
    if (word === "</s>") break;
    found.words.push(word);
    found.align?.push(align);
  }
  return plain(found);
}

const tasks = {
  translate: (model, { sentences }) => sentences.map((words) => translation(model, model.begin(words))),
  translateWords: (model, { sentences }) => sentences.map((words) => translation(model, model.beginWords(words))),
  steps(model, { sentence }) {
    const run = model.begin(sentence);
    const steps = [];
    while (!run.done) steps.push(plain(run.step()));
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
    const { result, reads: whole } = counted(() => translation(model, model.begin(sentence)).words.length);
    return { first, whole, words: result };
  },
  tokenise: (model, { texts }) => texts.map((text) => model.tokenise(text)),
  units: (model, { sentences }) => sentences.map((words) => model.units(words)),
  split: (model, { texts, language, prefixes }) => texts.map((text) => split(text, language, new Set(prefixes))),
  written: (model, { sentences }) => sentences.map(written),
  unknown: (model, { words }) => model.unknown(words),
  about: ({ config, attends, asks, sourceWords, targetWords }) => ({ config, attends, asks, sourceWords, targetWords }),
  /** What is told where a sentence cannot be translated, or a file not read. */
  refusal(model, { file, words }) {
    try {
      (file ? load(readFileSync(file)) : model).begin(words);
    } catch ({ name, code, message }) {
      return { name, code, message };
    }
  },
};

const answer = ({ model, task, ...job }) => tasks[task](model && load(readFileSync(model)), job) ?? null;
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(answer)));
