// On a page of the book: what stands in a box `.live` comes to life when it is first touched.
import { render } from "./see.mjs";

function enliven(box) {
  const options = JSON.parse(box.querySelector(":scope > .live-options").textContent);
  const start = () => {
    box.removeEventListener("click", touched);
    button.setAttribute("aria-disabled", "true"); // not disabled: it keeps the focus until then
    box.classList.add("live-busy");
    render({ model: { get: (name) => options[name] }, el: box }).then(() => {
      box.classList.remove("live-busy");
      const { top, bottom } = box.getBoundingClientRect(); // as much of it in sight as fits
      if (top < 0 || bottom > innerHeight) box.scrollIntoView({ block: "start" });
    });
  };
  const touched = (event) => {
    if (!event.target.closest("a, summary, .live-status")) start();
  };
  const button = document.createElement("button");
  button.type = "button";
  button.className = "live-start";
  button.innerHTML = `<b>Try it</b> <small>${options.size}</small>`;
  (box.querySelector(".live-still .live-chooser") ?? box).append(button);
  box.addEventListener("click", touched);
}

document.querySelectorAll(".live[data-mode]:not(.live-on)").forEach(enliven);
