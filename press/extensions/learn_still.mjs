/** Reads what `{learn}` blocks are told from standard input, and answers with their stills: for each,
 * { language: HTML }, the weights of one sentence before training and where attention has locked on. */
import { readFileSync } from "node:fs";
import { Training } from "../../book/_live/learn.mjs";
import { DEFAULTS, LOCKED } from "../../book/_live/learn_choices.mjs";
import { LEARN as en, speaker } from "../../book/_live/learn_words.mjs";
import { LEARN as ko } from "../../book/_live/words_ko.mjs";

const MOST_UPDATES = 400; // where it never locks on
const [CELL, LEFT, TOP] = [26, 76, 76];
const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
const square = (i, s) => `M${LEFT + s * CELL + 1} ${TOP + i * CELL + 1}h${CELL - 2}v${CELL - 2}h${2 - CELL}z`;
const strongest = (weights) => weights.indexOf(Math.max(...weights));

function picture({ source, links }, rows, words) {
  const across = source.map((word, s) => `<text x="${LEFT + s * CELL + 17}" y="${TOP - 5}" transform="rotate(-90 ${LEFT + s * CELL + 17} ${TOP - 5})">${escape(word)}</text>`);
  const down = rows.map(({ word }, i) => `<text x="${LEFT - 6}" y="${TOP + i * CELL + 17}" text-anchor="end">${escape(word)}</text>`);
  const cells = rows.flatMap(({ weights }, i) =>
    weights.map((weight, s) => {
      const share = weight < 0.005 ? "" : `<path class="live-share" fill-opacity="${weight.toFixed(2)}" d="${square(i, s)}"/>`;
      return share + (links?.[i] === s ? `<path class="live-frame" d="${square(i, s)}"/>` : "");
    }),
  );
  const ground = `<path class="live-ground" d="${rows.map((_, i) => source.map((_, s) => square(i, s)).join("")).join("")}"/>`;
  const [width, height] = [LEFT + source.length * CELL, TOP + rows.length * CELL];
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(words)}" class="live-weights">${[...across, ...down, ground, ...cells].join("")}</svg>`;
}

function still(spec) {
  const run = new Training({ ...DEFAULTS, ...spec });
  const about = run.about();
  const before = run.look();
  let after = before;
  while (run.updates < MOST_UPDATES && !(after.mass > LOCKED) && run.update()) if (run.updates % 10 === 0) after = run.look();
  const drawn = (say) => {
    const looks = after.rows.slice(0, -1).map(({ word, weights }) => say("said_look", { word, at: about.source[strongest(weights)] }));
    const told = { updates: after.updates, looks: looks.join(", "), mass: `${Math.round(100 * after.mass)}%` };
    const part = (look, key) => `<figure>${picture(about, look.rows.slice(0, -1), say(`still_alt_${key}`, told))}<figcaption>${say(`still_${key}`, told)}</figcaption></figure>`;
    return `${part(before, "before")}${part(after, "after")}`;
  };
  return Object.fromEntries(Object.entries({ en, ko }).map(([language, table]) => [language, drawn(speaker(table))]));
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(still)));
