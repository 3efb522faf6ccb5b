// The window of local-p attention, to move by hand. A figure whose picture has the class
// "local-window" becomes a drawing with two sliders; without scripts it stays the picture.
const localWindow = (() => {
  // A phrase in the page's language, its places filled in.
  const say = (text, given = {}) =>
    (window.siteWords?.[text] ?? text).replace(/\{(\w+)\}/g, (_, name) => given[name]);
  const words = "gestern hat der alte Mann im Park einen sehr kleinen Hund gesehen".split(" ");
  const scores = [0.2, 0.5, 0.9, 1.6, 2.2, 0.4, 1.0, 0.7, 0.1, 1.4, 2.0, 0.8]; // made up
  const start = { D: 3, p: 4.6 };

  // Luong et al. 2015, section 3.2: softmax within [p_t - D, p_t + D], times a Gaussian of D / 2.
  function attend(D, p) {
    const inside = words.map((_, s) => Math.abs(s - p) <= D);
    const exp = scores.map((score, s) => (inside[s] ? Math.exp(score) : 0));
    const total = exp.reduce((sum, x) => sum + x);
    const align = exp.map((x) => x / total);
    const weights = align.map((a, s) => a * gauss(s, D, p));
    return { inside, align, weights };
  }

  const gauss = (s, D, p) => Math.exp(-((s - p) ** 2) / (2 * (D / 2) ** 2));

  const text = "var(--pst-color-text-base, #222832)";
  const grey = "var(--pst-color-text-muted, #48566b)";
  const blue = "light-dark(#0b5fae, #6db3f5)"; // of weights and of a centre, as in attnmt.book.figures
  const green = "#00936e";
  const [left, top, bottom] = [44, 36, 236];
  const y = (value) => bottom - value * (bottom - top);
  const at = (number) => number.toFixed(1);

  function draw(D, p, width) {
    const { inside, align, weights } = attend(D, p);
    const right = width - 8;
    const pitch = (right - left) / (words.length + 1);
    const x = (s) => left + (s + 1) * pitch; // s from -1 to S
    const half = 0.3 * pitch;
    const turn = pitch < 40 ? -60 : -35; // on a phone the words need to stand steeper
    const from = Math.max(x(p - D), left);
    const to = Math.min(x(p + D), right);
    const ticks = [0, 0.25, 0.5, 0.75, 1].map(
      (v) => `<path d="M${left} ${at(y(v))}H${right}" stroke="${grey}" stroke-opacity=".25"/>
<text x="${left - 8}" y="${at(y(v) + 4)}" text-anchor="end" fill="${grey}">${v}</text>`,
    );
    const bars = words.map(
      (word, s) => `<g><title>${say("{word}: softmax {softmax}, weight {weight}", { word, softmax: align[s].toFixed(3), weight: weights[s].toFixed(3) })}</title>
<rect x="${at(x(s) - half)}" y="${at(y(align[s]))}" width="${at(2 * half)}" height="${at(y(0) - y(align[s]))}" fill="none" stroke="${blue}" stroke-dasharray="3 2"/>
<rect class="weight" data-weight="${weights[s].toFixed(4)}" x="${at(x(s) - half)}" y="${at(y(weights[s]))}" width="${at(2 * half)}" height="${at(y(0) - y(weights[s]))}" fill="${blue}"/>
<text transform="translate(${at(x(s))} ${bottom + 16}) rotate(${turn})" text-anchor="end" fill="${inside[s] ? text : grey}" font-weight="${inside[s] ? "bold" : "normal"}">${word}</text></g>`,
    );
    const curve = Array.from({ length: 131 }, (_, n) => -1 + n / 10)
      .map((s) => `${at(x(s))} ${at(y(gauss(s, D, p)))}`)
      .join("L");
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 306" font-family="sans-serif" font-size="13">
<rect width="${width}" height="306" fill="var(--pst-color-background, #fff)"/>
<rect x="${at(from)}" y="${top}" width="${at(to - from)}" height="${bottom - top}" fill="#e69f00" fill-opacity=".22"/>
${ticks.join("\n")}
<text x="4" y="14" fill="${grey}">${say("weight")}</text>
${bars.join("\n")}
<path d="M${curve}" fill="none" stroke="${green}" stroke-width="2"/>
<path d="M${at(x(p))} ${top - 8}V${bottom}" stroke="${green}" stroke-dasharray="5 4"/>
<text x="${at(x(p))}" y="${top - 14}" text-anchor="middle" fill="${text}"><tspan font-style="italic">p</tspan><tspan font-size="10" dy="3">t</tspan><tspan dy="-3"> = ${at(p)}</tspan></text>
</svg>`;
  }

  function summary(D, p) {
    const { inside, weights } = attend(D, p);
    const [first, last] = [inside.indexOf(true), inside.lastIndexOf(true)];
    const place = { first, last, inside: last - first + 1, all: words.length };
    const sum = weights.reduce((a, b) => a + b).toFixed(2);
    return [
      say("Window: positions {first} to {last}, {inside} of {all} words.", place),
      say("Standard deviation D/2 = {deviation}.", { deviation: at(D / 2) }),
      say("The weights sum to {sum}.", { sum }),
    ].join(" ");
  }

  function enliven(picture, number) {
    const box = document.createElement("div");
    box.className = "local-window-box";
    box.innerHTML = `<div role="img" aria-label="${picture.alt.replaceAll('"', "&quot;")}" aria-describedby="local-window-${number}"></div>
<label><span><i>D</i> = <output>${start.D}</output></span>
<input type="range" name="D" min="1" max="10" step="1" value="${start.D}" aria-label="${say("D, half the width of the window, in words")}"></label>
<label><span><i>p<sub>t</sub></i> = <output>${start.p}</output></span>
<input type="range" name="p" min="0" max="${words.length}" step="0.1" value="${start.p}" aria-label="${say("p t, the centre of the window, in words")}"></label>
<p id="local-window-${number}" aria-live="polite"></p>`;
    const [D, p] = box.querySelectorAll("input");
    const drawing = box.firstElementChild;
    const redraw = () => {
      drawing.innerHTML = draw(+D.value, +p.value, drawing.clientWidth || 720);
    };
    const update = () => {
      redraw();
      for (const input of [D, p]) {
        input.parentElement.querySelector("output").value = input.value;
      }
      box.querySelector("p").textContent = summary(+D.value, +p.value);
    };
    box.addEventListener("input", update);
    (picture.closest("a.image-reference") ?? picture).replaceWith(box);
    update();
    new ResizeObserver(redraw).observe(drawing);
  }

  document.querySelectorAll("img.local-window").forEach(enliven);
  return { draw, scores, start };
})();
