// Elements of a page, and numbers as they are written there.

export const noMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// make("p", { class: "note" }, "text", node): an element.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null));
  return element;
}

// As `make`, with its content as HTML.
export function html(tag, attributes, inner) {
  const element = make(tag, attributes);
  element.innerHTML = inner;
  return element;
}

export const button = (text, onclick, { kind = "", ...attributes } = {}) =>
  make("button", { type: "button", class: `live-button ${kind}`, onclick, ...attributes }, text);

// Let a button be pressed, or not: one that is not keeps the focus, and does nothing.
export const allow = (button, whether) => button.setAttribute("aria-disabled", String(!whether));

// Never 0% or 100% of what is neither.
export function percent(share) {
  if (share > 0 && share < 0.005) return "<1%";
  if (share < 1 && share >= 0.995) return ">99%";
  return `${Math.round(100 * share)}%`;
}

export const number = (value) => value.toFixed(2).replace("-", "\u2212");
export const sum = (values) => values.reduce((total, value) => total + value, 0);
export const largest = (values) => values.reduce((best, value, at) => (value > values[best] ? at : best), 0);

// The next picture on the screen; soon, too, where the page is hidden and none is drawn.
export const nextFrame = () =>
  new Promise((resolve) => {
    const late = setTimeout(resolve, 60);
    requestAnimationFrame(() => {
      clearTimeout(late);
      resolve();
    });
  });

// A number and a bar of this length, from 0 to 1.
export function meter(text, length, under = false) {
  const bar = make("i", { class: under ? "under" : "" });
  bar.style.setProperty("--w", length.toFixed(4));
  return make("div", { class: "live-meter" }, make("span", {}, text), bar);
}

// A vector as a strip, a stripe for each number: blue above zero, orange below.
export function strip(values, { label, strength = 1 } = {}) {
  const canvas = make("canvas", { class: "live-strip", width: values.length, height: 1, role: "img", "aria-label": label });
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(values.length, 1);
  const most = Math.max(...Array.from(values, Math.abs), 1e-6);
  values.forEach((value, at) => {
    const colour = value > 0 ? [30, 120, 200] : [214, 110, 20];
    pixels.data.set([...colour, 255 * Math.abs(value / most) ** 0.8], 4 * at);
  });
  context.putImageData(pixels, 0, 0);
  canvas.style.opacity = Math.max(strength, 0.35); // still to be seen
  return canvas;
}
