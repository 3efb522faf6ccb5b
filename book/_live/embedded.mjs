// The page see.html: one live view, as the end of its address says.
//   see.html#see?models=rnnsearch&sentence=...&english=...&frames
import { render } from "./see.mjs";

export const MODELS = ["rnnencdec", "rnnsearch", "luong-dot", "luong-feeding", "luong-local-p-feeding"];
export const SENTENCE = "Die alte Frau hat dem Lehrer ein Buch gegeben.";

// The options of see.mjs; an Error says what is wrong with the address.
export function optionsOf(hash) {
  const asked = new URLSearchParams(hash.replace(/^#see\??/, ""));
  const models = (asked.get("models") || "rnnsearch").split(/[\s,]+/);
  const unknown = models.find((name) => !MODELS.includes(name));
  if (unknown !== undefined || models.length > 2)
    throw new Error(`models: one or two of ${MODELS.join(", ")}, not ${models.join(" ")}`);
  const mode = asked.has("frames") ? "step" : models.length === 2 ? "pair" : "single";
  const sentence = asked.get("sentence") ?? SENTENCE;
  return { mode, models, sentence, english: asked.get("english") ?? "" };
}

const box = globalThis.document?.querySelector("main.live");
if (box) {
  addEventListener("hashchange", () => location.reload());
  try {
    render(box, optionsOf(location.hash));
  } catch (error) {
    box.textContent = error.message;
  }
}
