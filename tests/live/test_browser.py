"""book/_live/translator.mjs in a real browser, with the weights that the package holds."""

from pathlib import Path

import pytest
from parity import SENTENCES, check

from attnmt import grammar_corpus
from attnmt.book.live.weights import FOLDER
from press.browser import served

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
TRANSLATE = """async ({weights, sentences}) => {
    const {load} = await import("/book/_live/translator.mjs");
    const bytes = await (await fetch(weights)).arrayBuffer();
    const fetched = performance.now();
    const model = load(bytes);
    const loaded = performance.now();
    const run = model.begin(sentences[0]);
    run.step();
    const first = performance.now();
    const answers = sentences.map((words) => {
        const found = {words: [], align: model.attends ? [] : null, score: 0};
        for (const run = model.begin(words); !run.done;) {
            const {word, align, logP} = run.step();
            found.score += logP;
            if (word === "</s>") break;
            found.words.push(word);
            found.align?.push([...align]);
        }
        return found;
    });
    const spent = {load: loaded - fetched, first: first - loaded,
        each: (performance.now() - first) / sentences.length};
    return {spent, answers};
}"""


@pytest.fixture(scope="module")
def repository():
    """The repository's files, served on this machine."""
    with served(ROOT) as address:
        yield address


@pytest.fixture(scope="module")
def sentences():
    return [pair.source for pair in grammar_corpus(train=2_000, test=SENTENCES).test]


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("name", ["rnnsearch", "luong-local-p-feeding"])
def test_500_test_sentences_in_a_browser(name, sentences, browser, repository):
    path = FOLDER / f"{name}.safetensors"
    page = browser.new_page()
    page.set_default_timeout(300_000)
    page.goto(repository + "book/_live/sentences.json")
    weights = f"/{path.relative_to(ROOT).as_posix()}"
    found = page.evaluate(TRANSLATE, {"weights": weights, "sentences": sentences})
    page.close()
    print(name, {what: f"{ms:.0f} ms" for what, ms in found["spent"].items()})
    check(path, sentences, found["answers"])
