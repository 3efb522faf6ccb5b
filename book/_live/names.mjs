// Names of languages and of models.

// A language's name: "German" of "de".
function languageName(code, say) {
  try {
    return new Intl.DisplayNames([say.code], { type: "language" }).of(code);
  } catch {
    return code;
  }
}

// What a view says of a model's languages: their codes, `from` and `to`, and their names.
export function languagesOf({ source, target }, say) {
  const [from, to] = [source.language, target.language];
  return { from, to, source: languageName(from, say), target: languageName(to, say) };
}

export const withArticle = (language, say) => say(/^[AEIO]/.test(language) ? "article_vowel" : "article", { language });

// A model's title, name and paper.
export function describe({ config, attends }, say) {
  const title = say(attends ? "with" : "without");
  const by = (name, authors, year) => ({ title, name, paper: say("authors", { authors, year }) });
  if (config.model === "rnnencdec") return by("RNNencdec", "Cho", 2014);
  if (config.model === "rnnsearch") return by("RNNsearch", "Bahdanau", 2015);
  if (config.model === "sutskever") return by("LSTM encoder-decoder", "Sutskever", 2014);
  const parts = [config.score ?? say("half_fixed")];
  if (config.window && config.window !== "global") parts.push(config.window);
  if (config.feeding) parts.push(say("feeding"));
  return by(`Luong: ${parts.join(", ")}`, "Luong", 2015);
}
