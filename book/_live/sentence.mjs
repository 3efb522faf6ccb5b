// A reader's sentence, and what it shares with others: words that are alike, or the same.

export const MOST_WORDS = 60; // of a sentence that is read; words are counted without marks everywhere
const MOST_UNITS = 200; // pieces of it, so that a page never stands still
const STOP = /^[.?!]$/;

export const isWord = (text) => /[\p{L}\p{N}]/u.test(text);
export const countWords = (words) => words.filter(isWord).length;

// A word in capitals, or a noun in small letters, as it is usually written.
function usual(word, model) {
  const known = (other) => model.unknown([other]).length === 0;
  if (word.length < 2 || known(word)) return word;
  const lower = word.toLowerCase();
  const capital = lower[0].toUpperCase() + lower.slice(1);
  const forms = { [lower]: [capital], [word.toUpperCase()]: [lower, capital] }[word] ?? [];
  return forms.find(known) ?? word;
}

// What stands in the reader's sentence, in the words of the model: `words`; `all`, how many words
// without marks were written; whether some were `cut`, and a full stop `added`; the places of the
// `unknown` ones. Where the book's sentences are offered, all those of the training ended in a mark.
export function readSentence(text, model, offered) {
  const all = model.tokenise(text.trim()).map((word) => usual(word, model));
  let last = 0;
  let units = 0;
  for (let seen = 0; last < all.length && (seen += isWord(all[last])) <= MOST_WORDS; last++) {
    units += model.units([all[last]]).length;
    if (units >= MOST_UNITS) break;
  }
  const words = all.slice(0, last);
  const added = Boolean(offered.chains.length) && words.some(isWord) && !STOP.test(words.at(-1));
  if (added) words.push(".");
  return { words, all: countWords(all), cut: last < all.length, added, unknown: new Set(model.unknown(words)) };
}

// Words that two sentences share, in order: the longest common subsequence, as pairs of places.
function matches(ours, theirs) {
  const best = Array.from({ length: ours.length + 1 }, () => new Uint16Array(theirs.length + 1));
  for (let i = ours.length - 1; i >= 0; i--)
    for (let j = theirs.length - 1; j >= 0; j--)
      best[i][j] = ours[i] === theirs[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  const pairs = [];
  for (let i = 0, j = 0; i < ours.length && j < theirs.length; )
    if (ours[i] === theirs[j]) pairs.push([i++, j++]);
    else if (best[i + 1][j] >= best[i][j + 1]) i++;
    else j++;
  return pairs;
}

// The same as flags on `ours`.
export function shared(ours, theirs) {
  const found = new Set(matches(ours, theirs).map(([i]) => i));
  return ours.map((_, i) => found.has(i));
}

// Both sentences as columns [i, j] of a word of each: of the same word where there is one, and null where
// only the other sentence has a word.
export function columns(ours, theirs) {
  const found = [];
  let [i, j] = [0, 0];
  for (const [m, n] of [...matches(ours, theirs), [ours.length, theirs.length]]) {
    while (i < m || j < n) found.push([i < m ? i++ : null, j < n ? j++ : null]);
    if (m < ours.length && n < theirs.length) found.push([i++, j++]);
  }
  return found;
}

// "A." and "B." as "A, und b."; with the translation if both are known.
export function joined(one, other, known) {
  const open = (text) => text.replace(/\s*[.!?]\s*$/, "");
  const lower = (text) => text[0].toLowerCase() + text.slice(1);
  const small = known.includes(lower(other.de.split(" ")[0]));
  const de = `${open(one.de)}, und ${small ? lower(other.de) : other.de}`;
  if (!one.reference || !other.reference) return { de };
  const reference = [...one.reference.slice(0, -1), ",", "and", ...other.reference];
  return { de, en: `${open(one.en)}, and ${other.reference[0]}${other.en.slice(other.reference[0].length)}`, reference };
}
