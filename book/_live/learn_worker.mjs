// Trains beside the page, in slices, so that it can be paused and asked to begin anew.
//
//   in:  { start: spec } { train: updates } { until: update } { pause: true } { step: true }
//   out: { ready: about, look } { look } { paused: updates } { trouble } { refused }

import { Training } from "./learn.mjs";

const SLICE = 30; // milliseconds
let run = null;
let limit = 0; // trains up to this update
const turn = new MessageChannel(); // sooner than a timer, and messages of the page come between

function update(every) {
  const look = run.update() && run.updates % every === 0 ? run.look() : null;
  if (look) postMessage({ look });
  if (!run.trouble) return;
  limit = 0;
  postMessage({ trouble: run.trouble });
}

function pause() {
  limit = 0;
  postMessage({ paused: run.updates });
}

turn.port1.onmessage = () => {
  if (!run) return; // refused since this turn was asked for
  const begun = performance.now();
  while (run.updates < limit && performance.now() - begun < SLICE) update(run.updates < 20 ? 1 : run.updates < 300 ? 5 : 20);
  if (run.updates < limit) turn.port2.postMessage(null);
  else if (limit) pause();
};

onmessage = ({ data }) => {
  if (data.start) {
    limit = 0;
    run = null;
    try {
      run = new Training(data.start);
      const look = run.look();
      if (!look) throw run.trouble;
      postMessage({ ready: run.about(), look });
    } catch (error) {
      run = null;
      if (!error.key) throw error;
      postMessage({ refused: { ...error } });
    }
  }
  if (!run) return;
  if (data.train && !limit) {
    limit = run.updates + data.train;
    turn.port2.postMessage(null);
  }
  if (data.until && limit) limit = Math.min(limit, data.until);
  if (data.pause) pause();
  if (data.step) update(1);
};
