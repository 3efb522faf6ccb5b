// On a page: what stands in a box `.live` comes to life, a translation when it is first touched, a
// training or the steps of a figure as soon as they are scrolled into sight.

const beside = (name) => new URL(name, import.meta.url);
function enliven(box) {
  const options = JSON.parse(box.querySelector(":scope > .live-options").textContent);
  const start = async () => {
    box.removeEventListener("click", touched);
    button.setAttribute("aria-disabled", "true"); // not disabled: it keeps the focus until then
    box.classList.add("live-busy");
    const { render } = await import("./see.mjs");
    await render(box, options);
    box.classList.remove("live-busy");
    const { top, bottom } = box.getBoundingClientRect(); // as much of it in sight as fits
    if (top < 0 || bottom > innerHeight) box.scrollIntoView({ block: "start" });
  };
  const touched = (event) => {
    if (!event.target.closest("a, summary, .live-status")) start();
  };
  const button = document.createElement("button");
  button.type = "button";
  button.className = "live-start";
  button.innerHTML = `<b>${box.dataset.start}</b> <small>${options.size}</small>`;
  (box.querySelector(".live-still .live-chooser") ?? box).append(button);
  box.addEventListener("click", touched);
}

document.querySelectorAll(".live[data-mode]:not(.live-on)").forEach(enliven);

function style(name) {
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: beside(name) });
  return new Promise((done) => {
    link.onload = link.onerror = done;
    document.head.append(link);
  });
}

// A page's first box stands in its address, but on slides, whose address counts them.
function train(box, which) {
  const spec = JSON.parse(box.querySelector(".learn-options")?.textContent ?? "{}");
  const share = which === 0 && !box.closest(".reveal");
  const start = async () => {
    const [{ render }] = await Promise.all([import("./learn_view.mjs"), style("learn.css")]);
    await render(box, { spec, share });
  };
  if (share && location.hash.startsWith("#learn")) return start().then(() => box.scrollIntoView());
  whenSeen(box, start);
}

function whenSeen(box, start) {
  const watch = new IntersectionObserver((seen) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    watch.disconnect();
    start();
  });
  watch.observe(box);
}

const printed = new URLSearchParams(location.search).has("print-pdf"); // slides on paper
if (!printed) document.querySelectorAll(".live.learn:not(.learn-on)").forEach(train);
document.querySelectorAll(".live-steps.stepped").forEach((box) => whenSeen(box, async () => (await import("./steps.mjs")).render(box)));
