// Words of a box, in the language of the page that it stands on.

// A function that says a key's words in a table; names in braces are filled in. `say.parts` gives a list,
// for `make`, where elements are filled in. { size } is a shape: a number, or a vector of that size.
export function speaker(table) {
  const filled = (value) => {
    if (value?.size === undefined) return value;
    return value.size === 1 ? say("a_number") : say("a_vector", { size: String(value.size) });
  };
  const parts = (key, given = {}) => table[key].split(/\{(\w+)\}/).flatMap((text, at) => (at % 2 ? filled(given[text]) : text));
  const say = (key, given) => parts(key, given).join("");
  return Object.assign(say, { parts });
}

// The speaker for a box: of an English table, or of the table of that name in words_ko.mjs.
export async function speakerFor(box, english, name) {
  const korean = box.closest("[lang]")?.lang === "ko";
  return speaker(korean ? (await import("./words_ko.mjs"))[name] : english);
}
