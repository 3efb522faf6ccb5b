"""Sphinx extension: what an edition in another language needs on its pages.

- A button on each page that leads to the same place of the same page in the language beside it,
  and `hreflang` in the page's head. `language_beside` in `_config.yml` says which language that
  is and where its pages lie, from this site's root: `{code: en, name: English, path: ../}`.
  With a folder of `texts`, as the book itself has, that edition is made from them: a page without a
  catalogue there has no twin, and its button leads to the edition's first page. Until the edition
  is built, no page has a button.
- Headings of translated pages answer to their English addresses, as `_edition.json` lists them, so
  that a link to a section holds in every language.
- `site_words` in `_config.yml` has what Sphinx, the theme, the book's buttons and live boxes say,
  in the edition's language: `{Back to top: 맨 위로}`. What is not there stays as it is.
- A list that the build makes says its words by `site_words`, too, on a translated page.
- A page that is wholly English says so to browsers and screen readers.
- In Korean a particle stays in the line of what it belongs to, also behind a formula, code, a link
  or a bracket, where browsers would break the line.
"""

import json
import re
from gettext import NullTranslations
from html import escape
from pathlib import Path
from urllib.parse import urljoin

from docutils import nodes
from sphinx import locale
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from press.colab.cell import site_address
from press.extensions.book_pages import add_button
from press.phrases import Dictionary

FACTS = "_edition.json"  # written by `press.editions.korean`
DOMAINS = ("sphinx", "booktheme", "exercise")  # where Sphinx keeps words of its pages

# A tag, or what is no letter; and whether Hangul follows at once.
BEFORE_PARTICLE = re.compile(r"(?:(<[^>]*>)|[)\]%’”])(?=([가-힣])?)")
INLINE = re.compile(r"</(?:a|cite|code|em|math|q|span|strong)>")
# A formula is a box, beside which browsers break the line in spite of a joiner.
FORMULA = re.compile(
    r'(<span class="math[^"]*">(?:(?!</span>).)*</span>[)\]’”]*)([가-힣]+)', re.DOTALL
)

logger = logging.getLogger(__name__)

SAME_PLACE = """<script>
for (const button of document.querySelectorAll("a.btn-language")) {
  button.removeAttribute("target");
  button.hreflang = CODE;
  button.addEventListener("click", () => { button.hash = location.hash; });
}
</script>"""


def facts(source: Path | str) -> dict:
    """What is known of an edition, from the folder of its pages; of the book itself nothing."""
    path = Path(source, FACTS)
    return json.loads(path.read_text(encoding="utf8")) if path.is_file() else {}


def words_on(page: str, config: Config, source: Path | str) -> Dictionary:
    """The words of the lists on a page; none on a page that is English."""
    return {} if page in facts(source).get("english", ()) else config.site_words


class EnglishAddresses(SphinxTransform):
    """Let each section answer to the address of its English heading, before links are resolved."""

    default_priority = 870  # before myst_parser's ResolveAnchorIds, 879

    def apply(self, **kwargs: object) -> None:
        from myst_parser.mdit_to_docutils.base import default_slugify

        names = facts(self.app.srcdir).get("headings", {}).get(self.env.docname)
        if names is None:
            return
        sections = [  # one without a heading holds what is in an exercise or a solution
            section
            for section in self.document.findall(nodes.section)
            if section.children and isinstance(section[0], nodes.title)
        ]
        if len(sections) != len(names):
            message = "%d headings here, %d on the English page"
            logger.warning(message, len(sections), len(names), location=self.env.docname)
            return
        slugs: dict[str, tuple[int | None, str, str]] = {}
        for section, name in zip(sections, names, strict=True):
            address = nodes.make_id(name)
            if address and address not in self.document.ids:
                section["ids"].insert(0, address)
                self.document.ids[address] = section
            slug = default_slugify(name)
            while slug in slugs:
                slug = f"{slug}-1"
            slugs[slug] = (section.line, section["ids"][0], section[0].astext())
        self.document.myst_slugs = slugs
        self.env.metadata[self.env.docname]["myst_slugs"] = slugs


def drop_unbuilt(app: Sphinx, config: Config) -> None:
    """No language beside, where its pages are not in the site."""
    beside = config.language_beside
    if "texts" in beside and not Path(app.outdir, beside["path"], "index.html").is_file():
        config.language_beside = {}


def add_switch(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """The button, and what search engines read."""
    beside = app.config.language_beside
    if not beside or doctree is None:
        return
    up = "../" * pagename.count("/")
    texts = beside.get("texts")
    twin = texts is None or Path(app.srcdir, texts, f"{Path(pagename).name}.po").is_file()
    address = f"{up}{beside['path']}{pagename if twin else app.config.root_doc}.html"
    add_button(context, "language", "fas fa-language", address, beside["name"])
    context["body"] += SAME_PLACE.replace("CODE", json.dumps(beside["code"]))
    site = site_address(app.config.html_baseurl, Path(app.srcdir))
    if not twin or not site:  # search engines want whole addresses
        return
    page = f"{site}{pagename}.html"
    places = {app.config.language: page, beside["code"]: urljoin(page, address)}
    tags = [
        f'<link rel="alternate" hreflang="{code}" href="{escape(where)}">'
        for code, where in places.items()
    ]
    context["metatags"] = "\n".join([context.get("metatags", ""), *tags])


class SiteWords(NullTranslations):
    """Some words; Sphinx or the theme has the others."""

    def __init__(self, words: Dictionary, others: NullTranslations) -> None:
        super().__init__()
        self.words = words
        self.add_fallback(others)

    def gettext(self, message: str) -> str:
        return self.words.get(message) or super().gettext(message)


def replace_words(app: Sphinx, config: Config) -> None:
    """Let Sphinx and the theme say `site_words`, before they make their templates."""
    if not config.site_words:
        return
    for domain in DOMAINS:
        others = locale.get_translator(domain)
        locale.translators["general", domain] = SiteWords(config.site_words, others)
    app.translator = locale.get_translator()


def in_its_language(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """An English page says so, and of its title and the note below it that they are not.

    Korean keeps its particles.
    """
    if doctree is None:
        return
    body = context["body"]
    language = app.config.language
    if pagename in facts(app.srcdir).get("english", []):
        body = body.replace("<section ", '<section lang="en" ', 1)
        body = re.sub(r"<h1>(?=[^<]*[가-힣])", f'<h1 lang="{language}">', body, count=1)
        note = '<div class="admonition note">'
        body = body.replace(note, note.replace("<div", f'<div lang="{language}"'), 1)
    context["body"] = with_particles(body) if language == "ko" else body


def with_particles(body: str) -> str:
    """Korean HTML with each particle joined to what is before it, where that is no letter."""

    def joined(found: re.Match) -> str:
        tag, after = found.groups()
        return found[0] + "\u2060" if after and (tag is None or INLINE.match(tag)) else found[0]

    return BEFORE_PARTICLE.sub(joined, FORMULA.sub(r'<span class="unbroken">\1\2</span>', body))


def setup(app: Sphinx) -> dict:
    app.add_config_value("language_beside", {}, "html", [dict])
    app.add_config_value("site_words", {}, "html", [dict])
    app.add_transform(EnglishAddresses)
    app.connect("config-inited", drop_unbuilt)
    app.connect("config-inited", replace_words)
    app.connect("html-page-context", add_switch, priority=900)
    app.connect("html-page-context", in_its_language)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
