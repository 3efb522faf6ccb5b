"""What several test files share: a made-up corpus, the whole family of models, a browser."""

import os
import random
import signal
from pathlib import Path

import matplotlib
import pytest
import torch
from hypothesis import HealthCheck, settings

from attnmt import Corpus, Pair, Translator
from attnmt.attention import SCORES, WINDOWS, Attention
from attnmt.batches import Batch, make_batch
from attnmt.decoder import BahdanauDecoder
from attnmt.encoder import BidirectionalGRU, ForwardGRU, Memory
from attnmt.model import luong, rnnencdec, rnnsearch, sutskever
from press.browser import chromium, served

torch.set_num_threads(1)
matplotlib.use("agg")  # no window, whatever the machine
# The same examples every time, however slow the machine.
settings.register_profile(
    "book",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("book")


def made_up_pair(rng: random.Random, length: int) -> Pair:
    """A source of words w0...w19, and the same words in reverse as a target of words v0...v19."""
    numbers = [rng.randrange(20) for _ in range(length)]
    source = tuple(f"w{number}" for number in numbers)
    target = tuple(f"v{number}" for number in reversed(numbers))
    links = frozenset((s, length - 1 - s) for s in range(length))
    return Pair(source, target, " ".join(source), " ".join(target), links, links)


def made_up_corpus(train: int = 300, seed: int = 0) -> Corpus:
    rng = random.Random(seed)
    parts = [
        [made_up_pair(rng, 1 + rng.randrange(12)) for _ in range(size)] for size in (train, 20, 50)
    ]
    return Corpus("made-up", "de", "en", *parts, vocabulary_size=20)


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    return made_up_corpus()


def sharpened(model: Translator) -> Translator:
    """Untrained weights are small, and every output much alike. Enlarge them: it is decided."""
    model = model.double().eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(3)
    return model


def batch_of(model: Translator, pairs: list[Pair], extra: int = 0) -> Batch:
    """A batch for a model, perhaps with more columns of padding than it needs."""
    return make_batch(pairs, model.source_vocabulary, model.target_vocabulary, extra)


@pytest.fixture
def sharp(corpus):
    """An untrained RNNsearch in double precision, its weights enlarged so that it is decided."""
    return sharpened(rnnsearch(corpus, hidden=12, seed=3)).requires_grad_(False)


# ------------------------------------------------------------------------------------ the family

# Any score with any window, but a score that knows only positions speaks of the whole sentence.
ATTENTIONS = [(s, w) for s in SCORES for w in WINDOWS if SCORES[s].reads_contents or w == "global"]


def make_attention(score, window, query_size, annotation_size, D=1, max_length=50) -> Attention:
    """An attention by its two names, always with the same weights."""
    torch.manual_seed(3)
    return Attention(
        SCORES[score].of(query_size, annotation_size, max_length), WINDOWS[window](query_size, D)
    )


def make_memory(lengths, S, d, seed=1) -> Memory:
    """Annotations drawn at random, on padding too, where they must not matter."""
    torch.manual_seed(seed)
    annotations = torch.randn(len(lengths), S, d, dtype=torch.double)
    lengths = torch.tensor(lengths)
    return Memory(annotations, torch.arange(S) < lengths[:, None])


def bahdanau(corpus, score, window, hidden=8) -> Translator:
    """Bahdanau's decoder with any score and window, put together by hand.

    A score that needs annotations of the state's size gets those of a forward encoder.
    """
    torch.manual_seed(3)
    encode = ForwardGRU if SCORES[score].equal_sizes else BidirectionalGRU
    encoder = encode(len(corpus.source_vocabulary), 6, hidden)
    d = encoder.annotation_size
    attention = make_attention(score, window, hidden, d, D=2)
    decoder = BahdanauDecoder(len(corpus.target_vocabulary), 6, hidden, attention, d, maxout_size=5)
    return Translator(encoder, decoder, corpus)


def _family():
    """Every constructor, every score x window x decoder, and the options of the rest."""
    size = {"hidden": 8, "embedding": 6, "seed": 3}
    found = {
        "rnnencdec": lambda corpus: rnnencdec(corpus, **size),
        "rnnencdec previous": lambda corpus: rnnencdec(corpus, output_state="previous", **size),
        "rnnsearch": lambda corpus: rnnsearch(corpus, **size),
        "rnnsearch current": lambda corpus: rnnsearch(corpus, output_state="current", **size),
        "sutskever": lambda corpus: sutskever(corpus, **size),
        "sutskever forwards layers": lambda corpus: sutskever(
            corpus, reverse=False, layers=2, **size
        ),
    }

    def add(score, window, *options):
        chosen = dict.fromkeys(options, True) | ({"layers": 2} if "layers" in options else {})
        found[" ".join(["luong", score, window, *options])] = lambda corpus: luong(
            corpus, score, window, D=2, max_length=9, **chosen, **size
        )

    for kind in ATTENTIONS:
        found[" ".join(["bahdanau", *kind])] = lambda corpus, kind=kind: bahdanau(corpus, *kind)
        add(*kind)
        add(*kind, "feeding")
    for kind in [("dot", "global"), ("general", "local-m"), ("concat", "local-p")]:
        for option in ("bidirectional", "reverse", "layers"):
            add(*kind, option)
        add(*kind, "bidirectional", "reverse", "layers", "feeding")
    return found


FAMILY = _family()
# Every constructor, each score with each decoder, each window and option: where a model's parts
# matter, and not how they meet.
PAIRWISE = [name for number, name in enumerate(FAMILY) if number < 6 or number % 4 == 1]


# ----------------------------------------------------------------------- the site in a browser

SITE = Path(__file__).resolve().parents[1] / "_build" / "strict" / "_build" / "html"
OPTIONS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
SECONDS = 120  # that a page may need on a busy machine


def missing(what: str):
    """Skip a test for want of a browser, or of node; fail where the environment requires them."""
    if os.environ.get("ATTNMT_BROWSER") == "required":
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def address():
    """The site, served on this machine."""
    if not (SITE / "index.html").is_file():
        missing("there is no built site: run `make strict` first")
    with served(SITE) as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    """A Chromium that finds no other machine's name."""
    from playwright.sync_api import sync_playwright  # it takes its time

    try:
        path = chromium()
    except FileNotFoundError as error:
        missing(str(error))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=OPTIONS)
        yield browser
        browser.close()


def wait_until(page, expression: str) -> None:
    """Return when an expression is true on the page, or fail."""
    page.wait_for_function(expression, timeout=1_000 * SECONDS)


def go(page, address: str) -> None:
    """Open an address; return when all has loaded, also fonts."""
    page.context.set_default_timeout(1_000 * SECONDS)
    page.goto(address)
    wait_until(page, "document.fonts.ready.then(() => true)")


@pytest.fixture
def fresh(browser):
    """A function that opens a page of its own, to be changed freely."""
    from built import visit  # here, since it reads the list of pages

    pages = []

    def open_page(address: str, **options):
        pages.append(visit(browser, address, **options))
        return pages[-1]

    yield open_page
    for page in pages:
        page.close()


@pytest.fixture
def ctrl_c_is_heard():
    """Python's own handler, also where the tests run in the background and Ctrl-C is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def no_proxy(monkeypatch):
    """This machine is asked directly, whatever proxy there is."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def close_figures():
    """Afterwards no figure is open."""
    import matplotlib.pyplot as plt  # here, since few tests draw

    yield
    plt.close("all")
