// What the theme and its companions leave out for those who hear a page or go by keys. In an edition in another language
// also the words that they have in English alone: `siteWords`, from `site_words` in _config.yml.
(() => {
  const words = window.siteWords ?? {};
  const ATTRIBUTES = {
    ".bd-sidebar-primary": { role: "region", "aria-label": "The book" },
    "div.citation": { role: "listitem" },
    'i[class*="fa-"]': { "aria-hidden": "true" },
    ".pst-scrollable-table-container": { tabindex: "0" }, // keys must be able to scroll it
  };
  for (const [selector, attributes] of Object.entries(ATTRIBUTES)) {
    for (const part of document.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
    }
  }
  // What is folded is named by its words, and an empty head of a column is no head.
  document.querySelectorAll(".bd-article-container summary[aria-label]").forEach((one) => one.removeAttribute("aria-label"));
  for (const head of document.querySelectorAll("th.head")) {
    if (!head.textContent.trim()) head.replaceWith(document.createElement("td"));
  }

  const rename = () => {
    for (const name of ["title", "aria-label", "placeholder"]) {
      for (const part of document.querySelectorAll(`[${name}]`)) {
        const ours = words[part.getAttribute(name)];
        if (ours) part.setAttribute(name, ours);
      }
    }
  };
  rename();
  window.addEventListener("load", rename); // sphinx-togglebutton writes its buttons when the page is read
  // sphinx-copybutton writes its buttons later, with its own words.
  const copying = typeof messages === "undefined" ? {} : messages.en;
  for (const [name, text] of Object.entries(copying)) copying[name] = words[text] ?? text;
  document.addEventListener("DOMContentLoaded", () => {
    const titles = document.querySelectorAll(".copybtn title"); // of their icons
    for (const title of titles) title.textContent = words[title.textContent] ?? title.textContent;
  });
})();
