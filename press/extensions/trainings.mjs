/** Reads what `{learn}` blocks train from standard input, and answers with what their stills show: the weights
 * of one sentence before training, and where attention has locked on. */
import { readFileSync } from "node:fs";
import { Training } from "../../book/_live/learn.mjs";
import { DEFAULTS, LOCKED } from "../../book/_live/learn_choices.mjs";

const MOST_UPDATES = 400; // where it never locks on
const rounded = ({ rows }) => rows.slice(0, -1).map(({ weights }) => weights.map((weight) => Math.round(100 * weight) / 100));

function recorded(spec) {
  const run = new Training({ ...DEFAULTS, ...spec });
  const { source, links } = run.about();
  const before = run.look();
  let after = before;
  while (run.updates < MOST_UPDATES && !(after.mass > LOCKED) && run.update()) if (run.updates % 10 === 0) after = run.look();
  const target = before.rows.slice(0, -1).map(({ word }) => word);
  return { spec, source, target, links, updates: after.updates, mass: Math.round(100 * after.mass) / 100, before: rounded(before), after: rounded(after) };
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(recorded)));
