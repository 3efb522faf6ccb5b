"""book/_live/learn.mjs, score.mjs and tape.mjs, run by node: PyTorch's gradients, and a language.

The models are written here once more, with PyTorch's own operations; scores of the reader's as
lambdas beside their lines.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from parity import ask_node

from press.editions import catalogue

RUNNER = Path(__file__).with_name("learn.mjs")
LIVE = Path(__file__).resolve().parents[2] / "book" / "_live"
CLOSE = 1e-4  # of the largest number of its kind
SHARPNESS = 4.0
D = 2  # but where a spec says otherwise


def ask(*jobs: dict) -> list[dict]:
    """What the page's modules answer to some jobs: {"found"} or {"error", "at"} for each."""
    return ask_node(RUNNER, jobs)


def found(task: str, **job) -> object:
    (answer,) = ask({"task": task, **job})
    assert "error" not in answer, answer
    return answer["found"]


# ------------------------------------------------------------------------- PyTorch's gradients

ADDITIVE, DOT = "dot(v, tanh(W(q) + U(k)))", "dot(q, k)"
OWN_PAIRS = "\n".join(
    ["das Kind schläft = the child is asleep now", "ein Kind schläft = a child sleeps"] * 8
)

# A score's line -> the same for q (B, 1, n), k (B, S, n), weights p, places i and j (S,) from 1.
EXPRESSIONS = {
    ADDITIVE: lambda q, k, p, i, j: torch.tanh(q @ p["W"].T + k @ p["U"].T) @ p["v"][0],
    DOT: lambda q, k, p, i, j: (q * k).sum(-1),
    "dot(q, k) / sqrt(n)": lambda q, k, p, i, j: (q * k).sum(-1) / q.size(-1) ** 0.5,
    "dot(q, W(k))": lambda q, k, p, i, j: torch.einsum("bxn,nd,bsd->bs", q, p["W"], k),
    "W(q)[j]": lambda q, k, p, i, j: (q[:, 0] @ p["W"].T)[:, : k.size(1)],
    "dot(v, tanh(W([q; k])))": lambda q, k, p, i, j: (
        torch.tanh(torch.cat([q.expand_as(k), k], -1) @ p["W"].T) @ p["v"][0]
    ),
    "dot(relu(W(q)), sigmoid(U(k) - u)) - abs(i - j) / 2": lambda q, k, p, i, j: (
        (torch.relu(q @ p["W"].T) * torch.sigmoid(k @ p["U"].T - p["u"][0])).sum(-1)
        - (i - j).abs() / 2
    ),
    "-(a * dot(q - k, q - k) + b) / exp(dot(u, k) / n)": lambda q, k, p, i, j: (
        -(p["a"][0, 0] * ((q - k) ** 2).sum(-1) + p["b"][0, 0])
        / torch.exp((k @ p["u"][0]) / q.size(-1))
    ),
    "dot(1 - exp(-abs(q - k) / n), a * q + k)": lambda q, k, p, i, j: (
        (1 - torch.exp(-(q - k).abs() / q.size(-1))) * (p["a"][0, 0] * q + k)
    ).sum(-1),
    "3": lambda q, k, p, i, j: torch.full(k.shape[:2], 3.0, dtype=k.dtype),
}


def gru(x, h, U):
    """Cho et al. 2014, the reset gate after the product."""
    x_r, x_z, x_c = x.chunk(3, -1)
    h_r, h_z, h_c = (h @ U.T).chunk(3, -1)
    r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    return (1 - z) * h + z * torch.tanh(x_c + r * h_c)


def annotate(spec, p, x):
    """Annotations (B, S, n) and the final states (B, n) of words x (B, S)."""
    sides, finals = [], []
    for side in ("forward", "backward")[: spec.get("directions", 2)]:
        W, U, b = (p[f"{side}.{name}"] for name in "WUb")
        embedded = p["source"][x] @ W.T + b
        h, states = torch.zeros(len(x), U.size(1), dtype=U.dtype), []
        order = range(x.size(1)) if side == "forward" else reversed(range(x.size(1)))
        for s in order:
            h = gru(embedded[:, s], h, U)
            states.append(h)
        sides.append(torch.stack(states if side == "forward" else states[::-1], 1))
        finals.append(h)
    return torch.cat(sides, -1), torch.cat(finals, -1)


def attend(spec, p, q, k, i):
    """Weights (B, S) of the query q (B, n) at step i, counted from 0."""
    own = {name[6:]: value for name, value in p.items() if name.startswith("score.")}
    S = k.size(1)
    places = torch.arange(S)
    words = S - 1 if spec.get("mask", True) else S
    scores = EXPRESSIONS[spec["score"]](q[:, None], k, own, i + 1, places + 1)
    scores = scores * (SHARPNESS if spec.get("sharp", True) else 1)
    D = spec.get("D", 2)
    keep, gain = (places < words).expand(len(q), S), 1
    if spec.get("window") == "local-m":
        keep = keep & ((places - min(i, words - 1)).abs() <= D)
    elif spec.get("window") == "local-p":
        centre = words * torch.sigmoid(torch.tanh(q @ p["window.W"].T) @ p["window.v"].T)  # (B, 1)
        keep = keep & ((places - centre).abs() <= D)
        gain = torch.exp(-((places - centre) ** 2) / (2 * (D / 2) ** 2))
    return scores.masked_fill(~keep, -torch.inf).softmax(-1) * gain


def expected(spec, p, x, read, y):
    """Loss, and weights of each step."""
    k, whole = annotate(spec, p, x)
    attention, before = spec.get("attention", True), spec.get("asks") == "before"
    s = t = torch.zeros(len(x), 32, dtype=k.dtype)
    logits, aligned = [], []
    for i in range(read.size(1)):
        context = whole

        def look(query, i=i):
            aligned.append(attend(spec, p, query, k, i))
            return torch.einsum("bs,bsd->bd", aligned[-1], k)

        if attention and before:
            context = look(s)
        entering = p["target"][read[:, i]] @ p["decoder.W"].T + p["decoder.b"]
        if before or not attention:
            entering = entering + context @ p["decoder.C"].T
        if spec.get("feeding"):
            entering = entering + t @ p["decoder.F"].T
        s = gru(entering, s, p["decoder.U"])
        if attention and not before:
            context = look(s)
        t = torch.tanh(torch.cat([context, s], -1) @ p["output.W"].T)
        logits.append(t @ p["output.V"].T + p["output.b"])
    loss = torch.nn.functional.cross_entropy(
        torch.stack(logits, 1).flatten(0, 1), y.flatten(), ignore_index=-1
    )
    return loss, aligned


def specs() -> list[dict]:
    made = [
        {"score": line, "asks": asks, "enlarge": 2}
        for line, asks in zip(EXPRESSIONS, 5 * ["before", "after"], strict=True)
    ]
    made += [
        {"score": line, "window": window, "feeding": feeding, "task": "reverse"}
        for line, feeding in ((ADDITIVE, True), ("dot(q, W(k))", False))
        for window in ("global", "local-m", "local-p")
    ]
    made += [
        {"score": ADDITIVE, "asks": "before", "window": window, "mask": False, "feeding": True}
        for window in ("global", "local-m", "local-p")
    ]
    made += [{"attention": False, "score": DOT, "directions": n, "task": "copy"} for n in (1, 2)]
    made += [{"score": DOT, "directions": 1}, {"score": DOT, "sharp": False, "same": True}]
    made += [{"score": ADDITIVE, "zero": True}]
    made += [{"score": DOT, "window": window, "D": 3} for window in ("local-m", "local-p")]
    made += [{"score": DOT, "task": "own", "pairs": OWN_PAIRS}]
    return made


def test_gradients_of_every_model_are_pytorchs():
    jobs = [
        {
            "task": "gradients",
            "enlarge": spec.pop("enlarge", 1),
            "D": spec.get("D", 2),
            "spec": {"seed": 5, **spec},
        }
        for spec in specs()
    ]
    furthest = 0.0
    for job, answer in zip(jobs, ask(*jobs), strict=True):
        assert "found" in answer, (job, answer)
        ours, spec = answer["found"], job["spec"]
        p = {
            name: torch.tensor(value, dtype=torch.double, requires_grad=True)
            for name, value in ours["parameters"].items()
        }
        x, read, y = (torch.tensor(ours["batch"][name]).T for name in ("x", "read", "y"))
        loss, aligned = expected(spec, p, x, read, y)
        loss.backward()
        assert ours["loss"] == pytest.approx(loss.item(), rel=CLOSE), spec
        assert len(ours["aligned"]) == len(aligned), spec
        for mine, theirs in zip(ours["aligned"], aligned, strict=True):
            np.testing.assert_allclose(mine, theirs.detach(), atol=CLOSE, err_msg=str(spec))
            hidden = theirs.detach().numpy() == 0  # the source's end, and all outside a window
            assert not np.any(np.array(mine)[hidden]), spec
        for name, value in p.items():
            theirs = np.zeros(value.shape) if value.grad is None else value.grad.numpy()
            mine = np.array(ours["gradients"][name], dtype=float)
            apart = np.abs(mine - theirs).max() / max(np.abs(theirs).max(), 1e-3)
            furthest = max(furthest, apart)
            assert apart < CLOSE, (spec, name)
    print(f"{len(jobs)} models: gradients within {furthest:.1e} of the largest")


# ------------------------------------------------------------------------- the score's language

# A line | where it is wrong | what is said of it.
WRONG = """
 | 1 | for example dot(q, k)
dot(q, k | 9 | ) is missing before the end
dot(q, k)) | 10 | nothing can follow here, but ) does
dot(q, k) % 2 | 11 | the sign % is not known here
dot(q, h) | 8 | h is not known: q, k, u, v and w are vectors
q + dot(q, k) | 3 | a score is one number for each source word, and this is a vector of 4
dot(q, [q; k]) | 1 | the same size, not a vector of 4 numbers and a vector of 8 numbers
dot(v, W(q) + W([q; k])) | 15 | W is already a matrix of 4 x 4, and cannot be one of 4 x 8
dot(q) | 1 | dot takes two arguments, not 1
W(2) | 1 | W takes a vector, not a number
softmax(q) | 1 | the function softmax is not known: use dot, tanh
dot(q, constructor) | 8 | constructor is not known
dot(q, tanh) | 8 | tanh needs brackets, as in tanh(q)
W(k)[j] | 5 | no k or j inside
[2; q] | 2 | only vectors can be joined
+ dot(q, k) | 1 | something is missing before +
"""
LONG = [
    ["(" * 40 + "1", 22, "too many brackets in brackets"],
    ["-" * 40 + "1", 21, "too many signs"],
    ["1 + " * 40 + "1", 121, "at most 120 signs"],
]


def test_errors_say_where_and_which_shapes():
    table = [row.split(" | ") for row in WRONG.strip("\n").splitlines()] + LONG
    answers = ask(*({"task": "plan", "text": line, "n": 4, "d": 4} for line, *_ in table))
    for (line, column, words), answer in zip(table, answers, strict=True):
        assert answer["error"].startswith(f"column {column}: "), (line, answer)
        assert words in answer["error"], line
        assert answer["at"] == int(column) - 1, line


# ------------------------------------------------------------------------- tasks


@pytest.mark.parametrize("length", [4, 16])
@pytest.mark.parametrize("task", ["copy", "reverse", "german", "korean"])
def test_sentences_and_their_links(task, length):
    made = found("corpus", spec={"task": task, "length": length, "seed": 1, "same": False})
    assert len(made["heldOut"]) == 32
    assert len(made["train"]) > 500
    held = {" ".join(one["source"]) for one in made["heldOut"]}
    assert held.isdisjoint(" ".join(one["source"]) for one in made["train"])
    lengths = {len(one["source"]) for one in made["train"]}
    least = 5 if task == "korean" else 4
    assert (min(lengths), max(lengths)) == (least, max(least, length))
    meaning: dict[str, set[str]] = {}
    for one in made["train"]:
        source, target, links = one["source"], one["target"], one["links"]
        linked = [from_ for from_ in links if from_ is not None]
        alone = {"는", "를"} if task == "korean" else set()
        assert sorted(linked) == [s for s, word in enumerate(source) if word not in alone]  # once
        for word, from_ in zip(target, links, strict=True):
            assert (from_ is None) == (task == "korean" and word in {"a", "an"})
            if from_ is not None:
                meaning.setdefault(source[from_], set()).add(word)
    assert all(len(words) == 1 for words in meaning.values())
    if task == "copy":
        assert all(one["target"] == one["source"] for one in made["train"])
    elif task == "reverse":
        assert all(one["target"] == one["source"][::-1] for one in made["train"])
    elif task == "korean":  # the verb is last, and second in English; 에서 follows its noun
        for one in made["train"]:
            source, links = one["source"], one["links"]
            assert (source[1], source[-2], links[:2]) == ("는", "를", [0, len(source) - 1])
            if "에서" in source:
                at = links.index(source.index("에서"))
                assert links[at + 1] == links[at] - 1
    else:  # the participle is last, and comes after the auxiliary in English
        for one in made["train"]:
            last = one["links"].index(len(one["source"]) - 1)
            assert one["target"][last - 1] in {"has", "had"}


UNREADABLE = {
    "": "paste at least 8 lines, source = target; these are 0",
    "a = b\n\nc d\n": "line 3: write source = target",
    "a = b = c\n": "line 1: write source = target",
    "a = " + "b " * 21: "line 1: 21 words and signs, and at most 20 are read",
    "a = b\n" * 401: "these are 401 lines, and at most 400",
}


def test_the_readers_own_pairs_are_read_or_their_line_is_named():
    pairs = "das Haus = the house\n\nDer Hund schläft.\tThe dog sleeps.\n" + "a | b\n" * 6
    made = found("pairs", text=pairs)
    assert [one["source"] for one in made[:3]] == [
        ["das", "Haus"],
        ["Der", "Hund", "schläft", "."],
        ["a"],
    ]
    assert made[1]["target"] == ["The", "dog", "sleeps", "."]
    answers = ask(*({"task": "pairs", "text": text} for text in UNREADABLE))
    for message, answer in zip(UNREADABLE.values(), answers, strict=True):
        assert message in answer["error"]


# ------------------------------------------------------------------------- training


def test_the_same_seed_trains_the_same_and_another_another():
    spec = {"task": "reverse", "score": DOT}
    jobs = [{"task": "train", "updates": 20, "spec": {**spec, "seed": n}} for n in (3, 3, 4)]
    one, again, other = (answer["found"]["looks"] for answer in ask(*jobs))
    assert one == again
    assert one[0]["loss"] != other[0]["loss"]
    assert [look["updates"] for look in one] == [0, 10, 20]


@pytest.mark.parametrize(
    ("score", "at"),
    [("dot(q, k) / 0", 0), ("sqrt(dot(q, k) - 100)", 0), ("exp(exp(9 * n)) - j", 0)],
)
def test_it_stops_where_numbers_cease_to_be_numbers_and_says_so(score, at):
    trained = found("train", updates=30, spec={"task": "copy", "score": score})
    assert trained["updates"] == at
    assert "was no longer a number" in trained["trouble"]
    assert "Change the score" in trained["trouble"]


# ------------------------------------------------------------------------- recorded trainings

STORE = json.loads((LIVE.parents[1] / "results" / "studies" / "watch_it_learn.json").read_text())
BROKEN = {(one["name"].removeprefix("break: "), one["seed"]): one for one in STORE["broken"]}


def test_it_locks_on_where_it_did():
    """A language, as it was recorded; German with dot: test_learn_browser.py."""
    chosen = {"task": "korean", "score": "dot", "seed": 1}
    (recorded,) = (one for one in STORE["locked"] if chosen.items() <= one.items())
    trained = found("train", updates=400, until=0.9, spec={"task": "korean", "seed": 1})
    assert trained["updates"] == recorded["locked"], "python -m benchmarks.watch_it_learn"


def test_what_is_said_of_a_break_is_what_was_recorded():
    """By `python -m benchmarks.watch_it_learn`, in the module of the page; of each its sentence."""
    breaks = found("breaks")
    jobs = [
        {"task": "train", "updates": 0, "spec": {"seed": 1, **spec}} for spec in breaks.values()
    ]
    seen = {}
    for (name, spec), answer in zip(breaks.items(), ask(*jobs), strict=True):
        begun = {"rows": answer["found"]["rows"]}
        one = seen[name] = BROKEN[name, spec.get("seed", 1)] | begun
        assert answer["found"]["about"]["links"] == one["links"]  # of the same sentence
        assert one["updates"] == 300

    # with its seed the verb looks at the mark, with another at the verb
    for seed in (1, 2):
        links, looks = (BROKEN["mask", seed][key] for key in ("links", "looks"))
        verb = max(links)
        assert looks[links.index(verb)] == verb + (seed == breaks["mask"]["seed"])

    # rows look a place too far, and letters are right
    one = seen["directions"]
    assert one["right"] > 0.8 and one["top"] < 0.6
    steps = [at - link for at, link in zip(one["looks"], one["links"], strict=True)]
    assert steps.count(1) > len(steps) / 4
    assert steps.count(1) > 2 * (len(steps) - steps.count(0) - steps.count(1))

    # most rows are pale, and many letters wrong
    assert seen["sharp"]["mass"] < 0.5 < seen["sharp"]["top"]
    assert seen["sharp"]["right"] < 0.9

    # every word begins with the same weight, and it locks on nevertheless
    assert {len(set(row["weights"][:-1])) for row in seen["zero"]["rows"]} == {1}
    assert seen["zero"]["locked"]

    # words are right, and "the" looks elsewhere
    one = seen["same"]
    assert one["right"] > 0.98 and one["top"] < 0.75
    places = zip(one["rows"], one["looks"], one["links"])
    assert "the" in [row["word"] for row, at, link in places if at != link]


# ------------------------------------------------------------------------- in two languages


@pytest.mark.parametrize("box", ["learn", "see"])
def test_the_catalogue_has_every_phrase_in_korean_with_its_places(box):
    korean = catalogue.table()
    for english in found("words")[box].values():
        here, there = (re.findall(r"\{\w+\}", text) for text in (english, korean[english]))
        assert sorted(here) == sorted(there) and korean[english].strip(), english


@pytest.mark.parametrize("box", ["learn", "see"])
def test_every_word_that_a_box_says_is_in_its_table(box):
    own = {path.stem for path in LIVE.glob("learn*.mjs")} | {"score"}
    names = {path.stem for path in LIVE.glob("*.mjs")} - {"speaker"}
    text = "".join(
        (LIVE / f"{n}.mjs").read_text("utf8") for n in names if (n in own) == (box == "learn")
    )
    spoken = set(re.findall(r'\b(?:say(?:\.parts)?|Refusal)\("([\w-]+)"', text))
    assert len(spoken) > 30
    assert spoken <= set(found("words")[box]) | {"a_number", "a_vector"}


# ------------------------------------------------------------------------- what the page says

PAGE = (LIVE.parent / "watch_it_learn.md").read_text(encoding="utf8")


def test_numbers_of_the_page_are_recorded_ones():
    def right(length: int, what: str) -> list[float]:
        return [
            one["right"] for one in STORE["broken"] if one["name"] == f"length {length}, {what}"
        ]

    shares = [np.mean(right(length, "one vector")) for length in (4, 8, 16)]
    text = " ".join(PAGE.split())
    assert (
        f"Without attention, {shares[0]:.0%} of the letters were right when sentences had at most"
        f" 4 letters, {shares[1]:.0%} when they had at most 8, and {shares[2]:.0%} when they had at"
        " most 16." in text
    )
    least = min(share for length in (4, 8, 16) for share in right(length, "attention"))
    assert f"at least {least:.0%} were right in every run" in text


def test_recorded_trainings_locked_on():
    """But a scaled dot, whose softmax stays soft where neighbours are much alike: letters; and a
    score of places where these depend on the length. In Korean, where a particle's vector holds
    its noun, the two dots are sure to."""
    for one in STORE["locked"]:
        kind = (one["score"], one["task"])
        if one["task"] == "korean":
            assert one["locked"] or one["score"] not in ("dot", "scaled"), kind
            continue
        soft = one["score"] == "scaled" and one["task"] != "german"
        blind = one["score"] == "location" and one["task"] != "copy"
        assert (one["locked"] is None) == (soft or blind), kind
    assert len(STORE["locked"]) == 60
