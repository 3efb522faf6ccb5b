/** Reads jobs from standard input, [{model, sentences}], and answers as the page would: JSON. */
import { readFileSync } from "node:fs";
import { columns, readSentence } from "../../book/_live/sentence.mjs";
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
  tokenise: (model, { texts }) => texts.map((text) => model.tokenise(text)),
  units: (model, { sentences }) => sentences.map((words) => model.units(words)),
  split: (model, { texts, language, prefixes }) => texts.map((text) => split(text, language, new Set(prefixes))),
  written: (model, { sentences }) => sentences.map(written),
  columns: (model, { ours, theirs }) => columns(ours, theirs),
  unknown: (model, { words }) => model.unknown(words),
  /** What becomes of a reader's text beside the book's sentences. */
  read(model, { text }) {
    const { unknown, ...read } = readSentence(text, model, { chains: [1] });
    return { ...read, unknown: [...unknown].map((at) => read.words[at]) };
  },
  /** What is told where a model cannot be computed. */
  refusal(model, { file }) {
    try {
      load(readFileSync(file));
    } catch ({ message }) {
      return message;
    }
  },
};

const answer = ({ model, task, ...job }) => tasks[task](model && load(readFileSync(model)), job) ?? null;
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(answer)));
