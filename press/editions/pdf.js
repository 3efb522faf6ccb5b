// Waits for pictures and fonts, and returns what cannot be shown.
async () => {
  const broken = [];
  const decoded = (one) => one.decode().catch(() => broken.push(one.src));
  await Promise.all([...document.images].map(decoded));
  await document.fonts.ready;
  const unset = [...document.querySelectorAll(".math:not(:has(math)), math merror")];
  return [...broken, ...unset.map((one) => one.textContent.trim())];
}
