// A figure or a formula that is wider than a phone scrolls sideways. While it does, keys can scroll it, too, and a screen
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

  function look(box) {
    if (box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === "auto") {
      box.tabIndex = 0;
      box.role = box.matches("figure") ? "figure" : "group";
      box.ariaLabel = nameOf(box);
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  }

  const sizes = new ResizeObserver((changed) => changed.forEach(({ target }) => look(target)));
  document.querySelectorAll("figure, div.math > .formula").forEach((box) => sizes.observe(box));
})();
