/** Texts, their words or pieces, and the indexes of these: as `attnmt.vocab` and `attnmt.text.subwords`. */

export const PAD = 0;
export const UNK = 1;
export const BOS = 2;
export const EOS = 3;
export const SPECIALS = ["<pad>", "<unk>", "<s>", "</s>"];

const ALIKE = ["'’‘ʼ`´", '"“”„', "-‐‑"]; // signs that one means alike, whichever one types

export const MARK = "▁"; // U+2581, in front of a piece that begins a word

/** Scripts whose letters count as letters in their own languages only. */
const SCRIPTS = {
  zh: "\\p{Script=Han}",
  ja: "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}",
  ko: "\\p{Script=Hangul}",
};
const EAST_ASIAN = `[${SCRIPTS.ja}${SCRIPTS.ko}]`;
const N = "\\p{N}";

/** Characters that nobody sees, as `attnmt.text.characters` has them; joiners stay where a script needs them. */
const NEEDED = "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u2190-\u2bff\ufe0f\u{1f000}-\u{1faff}";
const UNSEEN = new RegExp(
  "[\\0-\\x08\\x0e-\\x1b\\x7f-\\x84\\x86-\\x9f\\u00ad\\u034f\\u061c\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e" +
    "\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb]",
  "gu",
);
const ENDS = "\\s.,:;!?…\"'’”»)\\]}،؛؟۔।"; // before these, and at the end, a joiner joins nothing
const IDLE = new RegExp(`(?<![${NEEDED}])[\u200c\u200d]+|[\u200c\u200d]+(?=[${ENDS}]|$)`, "gu");

/** What a language does to an apostrophe: [what is before it, what is after it, what it becomes]. */
function apostrophes(language, letter) {
  const other = `(?!${letter})[^]`;
  if (language === "en") {
    return [
      [other, other, " ' "],
      [`(?!${N})${other}`, letter, " ' "],
      [letter, other, " ' "],
      [letter, letter, " '"],
      [N, "s", " '"],
    ];
  }
  if (["fr", "it"].includes(language)) {
    return [
      [other, other, " ' "],
      [other, letter, " ' "],
      [letter, other, " ' "],
      [letter, letter, "' "],
    ];
  }
  return [["", "", " ' "]];
}

/** Put a space before the full stop of a token that is not an abbreviation. */
function apartFromStop(token, following, hasLetter, prefixes) {
  const prefix = /^(\S+)\.$/.exec(token)?.[1];
  if (!prefix || (prefix.includes(".") && hasLetter.test(prefix))) return token;
  if (prefixes.has(prefix) || /^\p{Lowercase}/u.test(following ?? "")) return token;
  const beforeNumber = prefixes.has(`${prefix} #NUMERIC_ONLY#`);
  return beforeNumber && /^[0-9]/.test(following ?? "") ? token : `${prefix} .`;
}

/**
 * Split a sentence into words and punctuation marks, as `attnmt.vocab.tokenise` does: by the rules
 * of Moses's tokeniser for this language.
 *
 * `prefixes`: abbreviations that keep their full stop; those with " #NUMERIC_ONLY#" behind them
 * keep it before a number.
 */
export function split(text, language = "de", prefixes = new Set()) {
  const own = SCRIPTS[language] ? `|[${SCRIPTS[language]}]` : "";
  const letter = `(?:(?!${EAST_ASIAN})\\p{Alphabetic}${own})`;
  const replace = (pattern, by) => (text = text.replace(new RegExp(pattern, "gu"), by));
  text = text.replace(UNSEEN, "").replace(IDLE, "").normalize("NFC");
  replace("\\s+", " ");
  text = text.trim();
  replace(`((?!${letter}|\\p{Nd}|[\\p{M}\\u200c\\u200d])[^\\s.'\`,\\-])`, " $1 ");
  replace("\\.{2,}", (dots) => ` ${"\uE000".repeat(dots.length)} `); // dots that stay together
  replace(`((?!${N})[^]),`, "$1 , ");
  replace(`,((?!${N})[^])`, " , $1");
  replace(`(${N}),$`, "$1 , ");
  for (const [before, after, becomes] of apostrophes(language, letter)) {
    replace(`(${before})'(${after})`, `$1${becomes}$2`);
  }
  const hasLetter = new RegExp(letter, "u");
  const tokens = text.split(/\s+/).filter(Boolean);
  const apart = tokens.map((token, k) => apartFromStop(token, tokens[k + 1], hasLetter, prefixes));
  text = apart.join(" ").replace(/\.' ?$/, " . ' ").replaceAll("\uE000", ".");
  return text.split(" ").filter(Boolean);
}

/** Words as a sentence is written: a capital first, no space before a mark or an 's. */
export function written(words) {
  const text = words.join(" ").replace(/ ([,.;?!]|'s)(?= |$)/g, "$1");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export class Vocabulary {
  constructor({ words, language, lower, subwords = false }) {
    this.words = [...SPECIALS, ...words];
    this.language = language;
    this.lower = lower;
    this.subwords = subwords;
    this.prefixes = new Set(); // abbreviations of the language, see `split`
    this.index = new Map(words.map((word, k) => [word, SPECIALS.length + k]));
    const letters = new Set(words.flatMap((word) => [...word]));
    this.typed = new Map(); // signs that no word has, and the one like each that some word has
    for (const signs of ALIKE) {
      const known = [...signs].find((sign) => letters.has(sign));
      for (const sign of known ? signs : "") if (!letters.has(sign)) this.typed.set(sign, known);
    }
  }

  encode(words) {
    return words.map((word) => this.index.get(word) ?? UNK);
  }

  /** A text to words. The first one loses a capital with which it is not known; ’ is read as ' where only that is. */
  tokenise(text) {
    const read = [...text].map((sign) => this.typed.get(sign) ?? sign).join("");
    const apart = split(read, this.language, this.prefixes);
    const words = this.lower ? apart.map((word) => word.toLowerCase()) : apart;
    const mark = this.subwords ? MARK : "";
    if (words.length && !this.index.has(mark + words[0])) {
      const small = words[0].charAt(0).toLowerCase() + words[0].slice(1);
      if (this.index.has(mark + small)) words[0] = small;
    }
    return words;
  }

  /** Words to what the list holds: themselves, or the pieces that they are cut into. */
  units(words) {
    return this.subwords ? words.flatMap((word) => this.cut(word)) : [...words];
  }

  /**
   * A word to pieces, by byte-pair encoding, as `attnmt.text.subwords.cut`: of all neighbours that
   * make a piece, those that were learned first are joined, the leftmost of equals.
   */
  cut(word) {
    const pieces = [MARK, ...word.replaceAll(MARK, "_")];
    for (;;) {
      let best = Infinity;
      let place = -1;
      for (let k = 0; k + 1 < pieces.length; k++) {
        const rank = this.index.get(pieces[k] + pieces[k + 1]) ?? Infinity;
        if (rank < best) [best, place] = [rank, k];
      }
      if (place < 0) return pieces;
      pieces.splice(place, 2, pieces[place] + pieces[place + 1]);
    }
  }

  /** For each unit, the number of the word that it is of. The first one begins a word, whatever it is. */
  places(units) {
    let word = -1;
    return units.map((unit, k) => (!this.subwords || !k || unit.startsWith(MARK) ? ++word : word));
  }

  /** Units to words. */
  join(units) {
    const words = [];
    this.places(units).forEach((place, k) => {
      const letters = this.subwords && units[k].startsWith(MARK) ? units[k].slice(1) : units[k];
      words[place] = (words[place] ?? "") + letters;
    });
    return words;
  }
}
