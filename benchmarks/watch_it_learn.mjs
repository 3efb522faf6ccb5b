// Trains what standard input asks for, and says when it locked on: a line of JSON for each run.
import { readFileSync } from "node:fs";
import { Training } from "../book/_live/learn.mjs";
import { DEFAULTS, LOCKED } from "../book/_live/learn_choices.mjs";

for (const { name, spec, updates, stop } of JSON.parse(readFileSync(0, "utf8"))) {
  const run = new Training({ ...DEFAULTS, ...spec });
  let [look, locked, spent] = [run.look(), null, 0];
  while (run.updates < updates && !run.trouble && !(stop && locked !== null)) {
    const before = process.cpuUsage();
    for (let at = 0; at < 10 && run.update(); at++);
    const used = process.cpuUsage(before);
    spent += (used.user + used.system) / 1e6;
    look = run.look();
    if (locked === null && look.mass > LOCKED) locked = run.updates;
  }
  const { loss, right, mass, top, entropy, rows } = look;
  const at = rows.slice(0, -1).map(({ weights }) => weights && weights.indexOf(Math.max(...weights)));
  const { source, links } = run.about();
  console.log(JSON.stringify({ name, spec, locked, updates: run.updates, "CPU-seconds": spent, loss, right, mass, top, entropy, source, words: rows.map(({ word }) => word), looks: at, links, trouble: run.trouble }));
}
