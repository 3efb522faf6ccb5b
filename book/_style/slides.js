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
  const pictures = [...slide.querySelectorAll(".picture")].map((part) => 300 - part.clientHeight);
  return Math.max(0, ...pictures, ...formulas, ...boxes.flatMap((b) => [b.right - right, b.bottom - bottom]));
}

// The largest size that fits; beside a picture, which takes what is left, the usual one.
function fit(slide) {
  const picture = slide.querySelector(".picture img, .picture svg");
  if (picture) {
    const box = picture.viewBox?.baseVal ?? { width: picture.naturalWidth, height: picture.naturalHeight };
    picture.parentElement.classList.toggle("tall", box.width < 1.7 * box.height);
  }
  for (let size = picture ? 1 : 1.25; size > 0.78; size -= 0.03) {
    slide.style.setProperty("--fit", size.toFixed(2));
    if (beyond(slide) <= 1) return;
  }
  // Wide letters, as where DejaVu is the only font: the words stand beside the picture after all.
  if (picture && picture.parentElement.clientHeight < 400 && picture.clientHeight < 260)
    picture.parentElement.classList.add("tall");
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
