// Words of a box, in the language of the page that it stands on.

// A function that says a key's words in a table, by `words` in another language; names in braces are filled in.
// `say.parts` gives a list, for `make`, where elements are filled in. { size } is a shape: a number, or a vector
// of that size. `say.code` is the language.
export function speaker(table, words = {}, code = "en") {
  const filled = (value) => {
    if (value?.size === undefined) return value;
    return value.size === 1 ? say("a_number") : say("a_vector", { size: String(value.size) });
  };
  // In Korean, what is filled in stays in the line of its particle, also where it ends in no letter: 16%가.
  const phrase = (key) => (words[table[key]] ?? table[key]).replace(/\}(?=[가-힣])/g, "}\u2060");
  const parts = (key, given = {}) => phrase(key).split(/\{(\w+)\}/).flatMap((text, at) => (at % 2 ? filled(given[text]) : text));
  const say = (key, given) => parts(key, given).join("");
  return Object.assign(say, { parts, code });
}

// The speaker for a box: on a Korean page by the site's own words.
export async function speakerFor(box, table) {
  if (box.closest("[lang]")?.lang !== "ko") return speaker(table);
  await import("../words.js"); // slides have not loaded it
  return speaker(table, window.siteWords, "ko");
}
