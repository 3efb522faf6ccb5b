// What a view needs: models and sentences, fetched once for a page or given to it.

import { load } from "./translator.mjs";
import { written } from "./vocabulary.mjs";

const beside = (name) => new URL(name, import.meta.url);

// Bytes as they are, or unpacked: some servers unpack such files on the way.
async function unpacked(bytes) {
  const [one, two] = new Uint8Array(bytes, 0, 2);
  if (one !== 0x1f || two !== 0x8b) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

async function answer(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} ${url}`);
  return response;
}

// A file's bytes; `progress(bytes)` hears of each part that arrives.
async function fetchBytes(url, progress) {
  const { body } = await answer(url);
  const parts = [];
  const reader = body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    progress(part.value.length);
  }
  return unpacked(await new Blob(parts).arrayBuffer());
}

const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;

export class Library {
  static kept = new Map();

  constructor(options) {
    this.options = options;
  }

  once(key, fetchIt) {
    if (!Library.kept.has(key)) {
      const promise = fetchIt();
      Library.kept.set(key, promise);
      promise.catch(() => Library.kept.delete(key)); // a failure is tried again
    }
    return Library.kept.get(key);
  }

  // Sentences as they are written, with their words: { de, en, reference }.
  async sentences() {
    const fetchThem = async () => (await answer(beside("sentences.json"))).json();
    const raw = this.options.sentences ?? (await this.once("sentences", fetchThem));
    const entry = ({ german, english }) => ({ de: written(german), en: written(english), reference: english });
    const { chains = [], random = [] } = raw;
    return { ...raw, chains: chains.map((chain) => chain.map(entry)), random: random.map(entry) };
  }

  async model(name, progress = () => {}) {
    const given = this.options.weights?.[name];
    if (!given) return this.once(name, async () => load(await fetchBytes(beside(`${name}.safetensors.gz`), progress)));
    const model = load(fromBase64(given));
    model.source.prefixes = new Set(this.options.prefixes);
    return model;
  }
}
