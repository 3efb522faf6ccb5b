// Opens what is folded, moves the solutions, and returns what cannot be shown.
async () => {
  document.querySelectorAll("details").forEach((one) => (one.open = true));
  for (const place of document.querySelectorAll("[data-solutions-of]")) {
    const from = document.getElementById(place.dataset.solutionsOf);
    place.append(...from.querySelectorAll(".solution"));
  }
  document.querySelectorAll("img").forEach((one) => (one.loading = "eager"));
  const broken = [];
  const decoded = (one) => one.decode().catch(() => broken.push(one.src));
  await Promise.all([...document.images].map(decoded));
  await document.fonts.ready;
  const unset = [...document.querySelectorAll(".math:not(:has(math)), math merror")];
  return [...broken, ...unset.map((one) => one.textContent.trim())];
}
