// A figure, a formula or a live box's picture that is wider than a phone scrolls sideways. While it does, keys can scroll it, too, and a screen
// reader says what it is.
(() => {
  const FORMULA = { en: "formula", ko: "수식" };

  // "Fig. 3.1"; without a number, what the picture shows; of a formula its number.
  function nameOf(box) {
    if (box.matches(".formula")) {
      const number = box.parentElement.querySelector(".eqno")?.firstChild.textContent ?? "";
      return `${FORMULA[document.documentElement.lang] ?? FORMULA.en} ${number}`.trim();
    }
    const picture = box.querySelector("img, svg");
    const number = box.querySelector(".caption-number")?.textContent.trim();
    return number || picture?.alt || picture?.getAttribute("aria-label") || "";
  }

  const scrolls = (box) => box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === "auto";

  function tell(box, wide) {
    if (wide) {
      box.tabIndex = 0;
      box.role = box.matches("figure") ? "figure" : "group";
      box.ariaLabel = nameOf(box);
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  }

  const sizes = new ResizeObserver((changed) => {
    const measured = changed.map(({ target }) => [target, scrolls(target)]); // before anything is written
    measured.forEach(([box, wide]) => tell(box, wide));
  });
  document.querySelectorAll("figure, div.math > .formula, .live-scroll:not([role])").forEach((box) => sizes.observe(box));
})();
