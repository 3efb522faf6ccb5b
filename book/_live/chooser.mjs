// The sentence that is read: its field, its completion, its buttons, and notes on what is strange about it.

import { allow, button, make } from "./elements.mjs";
import { languagesOf, withArticle } from "./names.mjs";
import { MOST_WORDS, countWords, isWord, joined } from "./sentence.mjs";
import { SPECIALS } from "./vocabulary.mjs";
import { asRead } from "./word_row.mjs";

const WAIT = 200; // milliseconds after the last letter
const LONGEST_SEEN = 40; // words and marks of a sentence in training
const KNOWN_ENOUGH = 0.5; // the share of words that must be known
const SUGGESTIONS = 6;
const FREQUENT = 12; // words that a view offers where it has no sentences
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// `changed(entry)` hears of each sentence:
// { de, en, reference }, the last two of sentences that are not the reader's own.
export class Chooser {
  constructor({ model, sentences, first, most, longer, changed, say }) {
    Object.assign(this, { model, sentences, most, changed, say, trail: [], languages: languagesOf(model, say) });
    const listed = sentences.complete ?? (model.source.subwords ? [] : model.sourceWords); // a piece is no word
    const unknown = new Set(model.unknown(listed));
    this.words = listed.filter((_, at) => !unknown.has(at));
    this.names = new Set(sentences.names ? sentences.complete.slice(-sentences.names) : []);
    this.id = `live-${Math.random().toString(36).slice(2, 8)}`;
    this.field = make("textarea", {
      rows: 2, class: "live-field", id: this.id, lang: this.languages.from, spellcheck: "false",
      autocomplete: "off", autocapitalize: "off", "aria-haspopup": "listbox",
      "aria-autocomplete": "list", "aria-controls": `${this.id}-list`, enterkeyhint: "go",
      "aria-describedby": `${this.id}-notes`,
    });
    this.field.value = first.de;
    this.list = make("ul", { class: "live-list", role: "listbox", id: `${this.id}-list`, hidden: true, "aria-label": say("known") });
    this.notes = make("div", { class: "live-notes", id: `${this.id}-notes`, role: "status" });
    this.count = make("span", { class: "live-count" });
    const titled = (name, title) => button(say(name), () => this[name](), { title: say(title) });
    this.shorterButton = titled("shorter", "shorter_title");
    this.longerButton = titled("longer", "longer_title");
    const buttons = sentences.random.length ? [titled("random", "random_title")] : [];
    if (longer && sentences.chains.length) buttons.push(this.longerButton, this.shorterButton);
    this.element = make(
      "div",
      { class: "live-chooser" },
      make("label", { class: "live-label", for: this.id }, capital(say("label", { a_language: withArticle(this.languages.source, say) }))),
      make("div", { class: "live-combo" }, this.field, this.list),
      make("div", { class: "live-buttons" }, buttons, this.count),
      this.notes,
    );
    this.field.addEventListener("input", () => this.typed());
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("blur", () => this.close(true));
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the field keeps the focus
      const at = this.options().indexOf(event.target.closest("li"));
      if (at >= 0) this.accept(at);
    });
    this.entry = this.find(first.de) ?? { reference: first.en && model.target.tokenise(first.en), ...first };
    this.refresh();
  }

  // A sentence of the corpus with its translation and, of a chain, its place.
  find(de) {
    for (const chain of this.sentences.chains) {
      const at = chain.findIndex((entry) => entry.de === de);
      if (at >= 0) return { ...chain[at], chain, at };
    }
    return this.sentences.random.find((entry) => entry.de === de);
  }

  // What stands in the field; letters with accents are one sign each, however they were typed.
  get text() {
    return this.field.value.normalize("NFC");
  }

  set(entry) {
    this.entry = entry;
    this.field.value = entry.de;
    this.close();
    this.refresh();
    this.changed(entry);
  }

  refresh() {
    allow(this.shorterButton, this.entry.at > 0 || this.trail.length > 0);
    const more = this.next();
    allow(this.longerButton, more !== null);
    this.longerButton.title = more ? this.say("longer_title") : this.say("longest", { most: MOST_WORDS });
  }

  random() {
    this.trail = [];
    const fits = (entry) => entry.de !== this.entry.de && entry.de.split(" ").length <= this.most;
    const others = this.sentences.random.filter(fits);
    if (!others.length) return;
    this.set(others[Math.floor(Math.random() * others.length)]);
  }

  // The next sentence of its chain; any other sentence gets an "und" and a short sentence more.
  // Nothing where it would be too long to be read.
  next() {
    const { chain, at } = this.entry;
    if (chain && at + 1 < chain.length) return { ...chain[at + 1], chain, at: at + 1 };
    const short = this.sentences.chains.map((each) => each[0]);
    if (!short.length) return null;
    const more = short[(this.trail.length + this.field.value.length) % short.length];
    const grown = joined(this.entry, more, this.words);
    return countWords(this.model.tokenise(grown.de)) <= MOST_WORDS ? grown : null;
  }

  longer() {
    const more = this.next();
    if (!more) return;
    if (!more.chain) this.trail.push(this.entry);
    this.set(more);
  }

  shorter() {
    if (this.trail.length) this.set(this.trail.pop());
    else if (this.entry.at > 0) {
      const { chain, at } = this.entry;
      this.set({ ...chain[at - 1], chain, at: at - 1 });
    }
  }

  // --- completion

  options() {
    return [...this.list.children];
  }

  // The word that is being typed, before the cursor.
  prefix() {
    const before = this.field.value.slice(0, this.field.selectionStart ?? undefined);
    return before.match(/[\p{L}\p{M}'-]+$/u)?.[0] ?? "";
  }

  typed() {
    const prefix = this.prefix().normalize("NFC");
    const lower = prefix.toLowerCase();
    const fits = prefix
      ? this.words.filter((word) => word.toLowerCase().startsWith(lower) && word !== prefix)
      : [];
    const alike = (word) => (word[0] === prefix[0] ? 0 : 1);
    fits.sort((a, b) => alike(a) - alike(b)); // else the common ones first, names last
    this.active = -1;
    this.list.replaceChildren(
      ...fits.slice(0, SUGGESTIONS).map((word, at) =>
        make("li", { role: "option", id: `${this.id}-${at}`, "data-word": word }, make("span", { lang: this.languages.from }, word), make("small", {}, this.names.has(word) ? this.say("a_name") : (this.sentences.glosses?.[word] ?? ""))),
      ),
    );
    this.open(fits.length > 0);
    this.trail = [];
    this.entry = this.find(this.text.trim()) ?? { de: this.text };
    this.refresh();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.changed(this.entry), WAIT);
  }

  open(whether) {
    this.list.hidden = !whether;
    if (!whether) this.field.removeAttribute("aria-activedescendant");
  }

  close(finished = false) {
    const was = !this.list.hidden;
    this.open(false);
    if (was && finished) this.changed(this.entry);
  }

  key(event) {
    const options = this.options();
    event.stopPropagation(); // slides have keys of their own
    if (["ArrowDown", "ArrowUp"].includes(event.key) && !this.list.hidden) {
      event.preventDefault();
      const by = event.key === "ArrowDown" ? 1 : -1;
      this.active = (this.active + by + options.length + (this.active < 0 && by < 0)) % options.length;
      options.forEach((option, at) => option.setAttribute("aria-selected", String(at === this.active)));
      this.field.setAttribute("aria-activedescendant", options[this.active].id);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (!this.list.hidden && this.active >= 0) this.accept(this.active);
      else this.close(true);
    } else if (event.key === "Escape" && !this.list.hidden) {
      event.preventDefault();
      this.close();
    }
  }

  accept(at) {
    const word = this.options()[at].dataset.word;
    const cursor = this.field.selectionStart ?? this.field.value.length;
    const start = cursor - this.prefix().length;
    const rest = this.field.value.slice(cursor);
    const before = `${this.field.value.slice(0, start)}${word}${/^\s|^[.,]/.test(rest) ? "" : " "}`;
    this.field.value = before + rest;
    this.field.setSelectionRange(before.length, before.length);
    this.typed();
    this.close();
  }

  // --- what the reader should know of this sentence

  // Tell it, and answer whether there is something to translate.
  tell(read) {
    const { all } = read;
    this.count.textContent = !all ? "" : all === 1 ? this.say("count_one") : this.say("count", { count: all });
    const { refused, notes } = this.problems(read);
    this.notes.replaceChildren(...notes.map((note) => make("p", {}, note)));
    return !refused;
  }

  problems({ words, all, cut, unknown: places }) {
    const { say } = this;
    const { source: language, from } = this.languages;
    const random = this.sentences.random.length > 0;
    if (!words.some(isWord))
      return { refused: true, notes: [say(random ? "empty_random" : "empty", { a_language: withArticle(language, say) }), random ? [] : this.frequentWords()].filter((note) => note.length) };
    const unknown = [...places].map((at) => words[at]);
    const foreign = unknown.filter((word) => this.isForeign(word));
    if (foreign.length) {
      const typed = this.text.match(/[\p{L}\p{M}]+/gu).filter((word) => this.isForeign(word)); // not letter by letter
      return { refused: true, notes: [say.parts("script", { language, words: listed(typed) })] };
    }
    const typed = words.filter(isWord).at(-1);
    const half = !this.list.hidden && unknown.at(-1) === typed ? 1 : 0; // a word that is being typed
    const typing = unknown.slice(0, unknown.length - half);
    const count = countWords(words) - half;
    if (!count) return { refused: true, notes: [] };
    if (typing.length > (1 - KNOWN_ENOUGH) * count) {
      const given = { many: roughly(this.words.length, say), language, words: listed(typing, from) };
      const known = say.parts(this.words.length ? "knows" : "knows_letters", given);
      if (random) known.push(" ", say("press_random"));
      return { refused: true, notes: [known] };
    }
    const found = [];
    if (cut) found.push(say("cut", { all, most: MOST_WORDS }));
    else if (this.sentences.chains.length && words.length > LONGEST_SEEN)
      found.push(say("long", { most: LONGEST_SEEN, count: words.length }));
    if (typing.length) found.push(this.unknownWords([...new Set(typing)]));
    return { refused: false, notes: found };
  }

  unknownWords(unknown) {
    const words = listed(unknown, this.languages.from);
    return this.say.parts(unknown.length === 1 ? "unknown_one" : "unknown", { words });
  }

  // Whether a word is in a script of which the model has no letter.
  isForeign(word) {
    this.letters ??= new Set(this.model.sourceWords.slice(SPECIALS.length).join(""));
    const letters = [...word].filter((letter) => /\p{L}/u.test(letter));
    return letters.length > 0 && !letters.some((letter) => /\p{Script=Latin}/u.test(letter) || this.letters.has(letter));
  }

  // Where no sentence is offered: words to begin with, each a button.
  frequentWords() {
    const words = this.words.filter(isWord).slice(0, FREQUENT);
    if (!words.length) return [];
    const press = (word) => () => this.set({ de: `${this.field.value.trimEnd()} ${word}`.trim() });
    const one = (word) => make("button", { type: "button", class: "live-small", "aria-label": this.say("add", { word }), onclick: press(word) }, asRead(word, this.languages.from));
    const buttons = words.flatMap((word) => [one(word), " "]);
    return this.say.parts("offers", { words: buttons });
  }
}

// Words in italics, with commas between them; each once.
function listed(words, lang = null) {
  return [...new Set(words)].flatMap((word, at) => [at ? ", " : "", asRead(word, lang)]);
}

// How many, in words where it is near a thousand.
const roughly = (count, say) => (Math.abs(count - 1000) <= 50 ? say("thousand") : count.toLocaleString("en"));
