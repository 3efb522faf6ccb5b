// What is wider than a phone scrolls sideways, and fades where it goes on. While it does, keys can scroll it, too, and a
// screen reader says what it is.
(() => {
  const THEIRS = "pre, .pst-scrollable-table-container"; // the theme lets keys reach them

  // "Fig. 3.1"; without a number, what the picture shows; of a formula its number.
  function nameOf(box) {
    if (box.matches(".formula")) {
      const number = box.parentElement.querySelector(".eqno")?.firstChild.textContent ?? "";
      return `${window.siteWords?.formula ?? "formula"} ${number}`.trim();
    }
    const picture = box.querySelector("img, svg");
    const number = box.querySelector(".caption-number")?.textContent.trim();
    return number || picture?.alt || picture?.getAttribute("aria-label") || "";
  }

  const scrolls = (box) => box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === "auto";

  const goesOn = ({ target: box }) =>
    box.toggleAttribute("data-more", scrolls(box) && box.scrollLeft + box.clientWidth < box.scrollWidth - 1);

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
    for (const [box, wide] of measured) {
      goesOn({ target: box });
      if (!box.matches(THEIRS)) tell(box, wide);
    }
  });
  const OURS = "figure, div.math > .formula, .live-scroll:not([role])";
  for (const box of document.querySelectorAll(`${OURS}, ${THEIRS}`)) {
    sizes.observe(box);
    box.addEventListener("scroll", goesOn, { passive: true });
  }
})();
