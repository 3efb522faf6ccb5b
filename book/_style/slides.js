// Starts a deck: first the fonts, then every slide is made to fit, then reveal.js takes over.
// Speaker view: key S. To print: add ?print-pdf to the address.

// How far what stands on the slide reaches beyond its frame, in pixels.
function beyond(slide) {
  const box = slide.getBoundingClientRect();
  const style = getComputedStyle(slide);
  const right = box.right - parseFloat(style.paddingRight);
  const bottom = box.bottom - parseFloat(style.paddingBottom);
  const formulas = [...slide.querySelectorAll(".equation > div")].map((part) => {
    const [wide, number] = ["math > *", ".eqno"].map((name) => part.querySelector(name)?.getBoundingClientRect().width);
    return wide + 2 * (number ? number + 10 : 0) - part.clientWidth; // a formula stands in the middle
  });
  const boxes = [...slide.querySelectorAll(".item, .item pre > *, td, th, .back")]
    .filter((part) => !part.closest("aside"))
    .map((part) => part.getBoundingClientRect());
  const pictures = [...slide.querySelectorAll(".picture:not(.over)")].map((part) => 300 - part.clientHeight);
  return Math.max(0, ...pictures, ...formulas, ...boxes.flatMap((b) => [b.right - right, b.bottom - bottom]));
}

// The largest size that fits; beside a picture, which takes what is left, the usual one. A picture that is not wide stands
// beside its text; one that is a step lies on the one before.
function fit(slide) {
  const [picture, ...over] = slide.querySelectorAll(".picture");
  const { left, top } = slide.getBoundingClientRect();
  if (picture && slide.querySelector(".item:not(.picture)")) {
    const { width, height } = sizes(picture.firstElementChild);
    slide.classList.toggle("beside", width < 1.5 * height);
    const below = slide.querySelector("header").getBoundingClientRect().bottom - top + 8;
    if (width < 1.5 * height) picture.style.cssText = `left: 440px; right: 14px; bottom: 34px; top: ${below}px`;
  }
  search: for (const [lines, least] of [["pre", 0.9], ["pre-wrap", 0.78]]) { // an output's: whole, or not under 20 pixels
    slide.style.setProperty("--lines", lines);
    for (let size = picture ? 1 : 1.25; size > least; size -= 0.03) {
      slide.style.setProperty("--fit", size.toFixed(2));
      if (beyond(slide) <= 1) break search;
    }
  }
  for (const { style } of over) {
    const box = picture.getBoundingClientRect();
    style.cssText = `left: ${box.left - left}px; top: ${box.top - top}px; width: ${box.width}px; height: ${box.height}px`;
  }
}

const sizes = (picture) => picture.viewBox?.baseVal ?? { x: 0, y: 0, width: picture.naturalWidth, height: picture.naturalHeight };

// Of a picture that is too large for its letters, only the part that its cell names.
function cut(picture) {
  const [left, top, right, bottom] = picture.dataset.part.split(" ").map(Number);
  const { x, y, width, height } = sizes(picture);
  const [w, h] = [(right - left) * width, (bottom - top) * height];
  const svg = (of, inside = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    Object.entries(of).forEach(([name, value]) => made.setAttribute(name, value));
    made.innerHTML = inside;
    return made;
  };
  const frame = svg({ viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": picture.alt ?? picture.getAttribute("aria-label") });
  picture.replaceWith(frame);
  if (!picture.viewBox) picture = svg({}, `<image href="${picture.src}" width="${width}" height="${height}"/>`);
  frame.append(picture); // an svg in an svg shows nothing beyond its box
  picture.removeAttribute("role");
  picture.removeAttribute("aria-label");
  picture.setAttribute("viewBox", `${x + left * width} ${y + top * height} ${w} ${h}`);
  picture.setAttribute("width", w);
  picture.setAttribute("height", h);
}

// Whether a control on the slide needs this key itself; all others lead through the slides.
function ownKey({ target, key }) {
  if (target.closest(".live select")) return true;
  return target.closest(".live button, .live summary, .live a") && [" ", "Enter"].includes(key);
}

async function startSlides() {
  await Promise.allSettled([...document.fonts].map((font) => font.load()));
  await Promise.allSettled([...document.images].map((image) => image.decode()));
  const reveal = document.querySelector(".reveal");
  reveal.querySelectorAll("[data-part]").forEach(cut);
  reveal.classList.add("fitting");
  reveal.querySelectorAll("section").forEach(fit);
  reveal.classList.remove("fitting");
  await Reveal.initialize({
    width: 1280,
    height: 720,
    margin: 0,
    center: false,
    display: "flex",
    controls: false,
    slideNumber: "c/t",
    hash: true,
    transition: "none",
    backgroundTransition: "none",
    pdfMaxPagesPerSlide: 1,
    pdfSeparateFragments: false,
    plugins: [RevealNotes],
    keyboardCondition: (event) => !ownKey(event),
  });
  // A control that a pointer has used gives the keys back to the slides.
  reveal.addEventListener("change", ({ target }) => target.matches(":focus-visible") || target.blur());
  document.body.classList.add("ready");
}
