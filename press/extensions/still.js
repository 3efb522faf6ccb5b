// What the reader can do nothing with before the component is there goes; pixels become pictures.
async ({ options, unused, language }) => {
  document.documentElement.lang = language;
  const { render } = await import("./see.mjs");
  const el = document.createElement("div");
  document.body.replaceChildren(el);
  await render({ model: { get: (name) => options[name] }, el });
  const view = el.firstElementChild;
  const replace = (old, tag, keep = []) => {
    const fresh = document.createElement(tag);
    for (const name of ["class", "lang", "style", ...keep])
      if (old.hasAttribute(name)) fresh.setAttribute(name, old.getAttribute(name));
    fresh.append(...old.childNodes);
    old.replaceWith(fresh);
    return fresh;
  };
  for (const canvas of view.querySelectorAll("canvas")) {
    const picture = document.createElement("img");
    picture.src = canvas.toDataURL();
    picture.alt = canvas.getAttribute("aria-label");
    picture.className = canvas.className;
    picture.style.cssText = canvas.style.cssText;
    canvas.replaceWith(picture);
  }
  const field = view.querySelector("textarea");
  const written = { lang: "de", className: "live-field", textContent: field.value };
  field.replaceWith(Object.assign(document.createElement("p"), written));
  for (const part of view.querySelectorAll(unused)) part.remove();
  view.querySelectorAll("button").forEach((button) => replace(button, "span"));
  for (const part of [view, ...view.querySelectorAll("[tabindex], [aria-live]")])
    for (const name of ["tabindex", "aria-live", "data-done"]) part.removeAttribute(name);
  view.querySelectorAll(".live-words").forEach((words) => words.removeAttribute("role"));
  return view.outerHTML;
}
