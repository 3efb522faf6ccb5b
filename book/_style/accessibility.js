// What the theme and its companions leave out for those who hear a page, go by keys, search or print. In an edition in another language
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
  // What is folded, and the search, are named by their words, and an empty head of a column is no head.
  const named = ".bd-article-container summary[aria-label], .search-button-field";
  document.querySelectorAll(named).forEach((one) => one.removeAttribute("aria-label"));
  for (const head of document.querySelectorAll("th.head")) {
    if (!head.textContent.trim()) head.replaceWith(document.createElement("td"));
  }
  // On a phone a row of a broad table is a card: its cells bear their columns' names.
  for (const cell of document.querySelectorAll(":is(.full-width, .verdicts) td:not(:first-child)")) {
    cell.dataset.label = cell.closest("table").rows[0].cells[cell.cellIndex].textContent;
  }
  // Paper is light, and has the tables of verdicts whole.
  const page = document.documentElement;
  let theme;
  window.addEventListener("beforeprint", () => {
    theme = page.dataset.theme;
    page.dataset.theme = "light";
    document.querySelectorAll("details:has(.verdicts)").forEach((one) => (one.open = true));
  });
  window.addEventListener("afterprint", () => (page.dataset.theme = theme));
  // Below a page that was found stands a sentence with the word, not the code of a cell.
  if (typeof Search !== "undefined") {
    Search.makeSearchSummary = (html, words, anchor) => {
      const found = new DOMParser().parseFromString(html, "text/html").querySelector("[role=main]");
      found?.querySelectorAll(".headerlink, annotation, details.run-chapter, nav, table").forEach((one) => one.remove());
      const part = (anchor && found?.querySelector(anchor)) || found;
      const texts = [...(part?.querySelectorAll("p, dd:not(:has(p)), li:not(:has(p))") ?? [])].map((one) => one.textContent);
      const sentences = texts.flatMap((text) => text.replace(/\s+/g, " ").split(/(?<=[.?!:]) /));
      const hits = sentences.map((text) => [...words].filter((word) => text.toLowerCase().includes(word.toLowerCase())).length);
      const shown = sentences.slice(hits.indexOf(Math.max(...hits))).join(" ");
      const summary = document.createElement("p");
      summary.className = "context";
      summary.textContent = shown.length > 240 ? shown.slice(0, shown.lastIndexOf(" ", 240)) + " …" : shown;
      return summary;
    };
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
