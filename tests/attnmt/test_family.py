"""What holds for every model: each constructor, and each score x window x decoder.

Padding and batch size change nothing; two paths give one answer; nothing overflows. The models are
untrained but sharpened (conftest.py), so that a small mistake makes a large difference.
"""

import functools
import random
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
import torch
from conftest import FAMILY, PAIRWISE, batch_of, made_up_pair, sharpened

from attnmt import decoding as decoding_module
from attnmt import encoder as encoder_module
from attnmt import greedy
from attnmt.attention import FixedContext, Global, Monotonic, Predictive
from attnmt.batches import pad
from attnmt.decoder import Decoder, SutskeverDecoder
from attnmt.encoder import BidirectionalGRU, ForwardGRU, StackedLSTM
from attnmt.fast import SOONER, sooner
from attnmt.model import luong

COMPANY = [(4, 0), (6, 5)]  # sentences a batch, and extra columns of padding


kernels = pytest.mark.kernels  # on lesser processors, too
every_model = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[kernels] * (name in PAIRWISE)) for name in FAMILY]
)
some_models = pytest.mark.parametrize("name", PAIRWISE)


@pytest.fixture(scope="module")
def pairs(corpus):
    """Sources of 1 to 12 words, the shortest with the longest target.

    A target longer than its source takes a monotonic window past the end of the sentence.
    """
    found = {len(pair.source): pair for pair in corpus.test}
    ordered = [found[length] for length in (1, 2, 4, 6, 9, 12)]
    return [
        replace(pair, target=other.target, sure=None, possible=None)
        for pair, other in zip(ordered, reversed(ordered))
    ]


# ------------------------------------------- padding and batch size change nothing (design rule 2)


def read(model, pairs, size, extra):
    """Losses of the target tokens, and their weights over real words, in batches of a size."""
    losses, weights = [], []
    for start in range(0, len(pairs), size):
        chosen = pairs[start : start + size]
        batch = batch_of(model, chosen, extra)
        losses.append(model.token_losses(batch))
        _, align = model(batch)
        for row, pair in enumerate(chosen if model.attends else ()):
            real = align[row, : len(pair.target) + 1]
            assert (real[:, len(pair.source) :] == 0).all()
            weights.append(real[:, : len(pair.source)].flatten())
    return torch.cat(losses), torch.cat([torch.zeros(0), *weights])


def gradients(model, losses):
    """The gradient of the summed loss, of every parameter by its name."""
    names, parameters = zip(*model.named_parameters())
    return dict(zip(names, torch.autograd.grad(losses.sum(), parameters)))


def check_reading(model, pairs, monkeypatch):
    close = functools.partial(torch.testing.assert_close, rtol=0)
    losses, weights = read(model, pairs, 1, 0)
    assert torch.isfinite(losses).all() and losses.std() > 0.5  # the test has content
    if model.attends:
        last = weights[-len(pairs[-1].source) :]
        assert last.max() > 1.05 * last[last > 0].min()
    for size, extra in COMPANY:
        together, weights_here = read(model, pairs, size, extra)
        close(together, losses, atol=1e-9)
        close(weights_here, weights, atol=1e-9)
    torch.testing.assert_close(
        gradients(model, together), gradients(model, losses), rtol=1e-9, atol=1e-9
    )
    model.float()
    with torch.no_grad():
        alone = torch.cat([model.token_losses(batch_of(model, [pair])) for pair in pairs])
        close(model.token_losses(batch_of(model, pairs, extra=5)), alone, atol=1e-5)


def check_greedy(model, pairs, monkeypatch):
    sentences = [pair.source for pair in pairs]
    alone = [greedy(model, [sentence])[0] for sentence in sentences]
    assert len({tuple(translation.words) for translation in alone}) > 2  # the test has content
    for size, extra in COMPANY:
        monkeypatch.setattr(decoding_module, "pad", functools.partial(pad, extra=extra))
        together = greedy(model, sentences, batch_size=size)
        for one, other in zip(alone, together, strict=True):
            assert one.words == other.words
            assert one.score == pytest.approx(other.score, abs=1e-9)
            assert (one.alignment is not None) == model.attends
            if model.attends:
                assert one.alignment.dtype == np.float32
                np.testing.assert_allclose(one.alignment, other.alignment, rtol=0, atol=1e-6)


@every_model
def test_loss_alignment_and_gradient_do_not_depend_on_company_or_padding(
    name, corpus, pairs, monkeypatch
):
    check_reading(sharpened(FAMILY[name](corpus)), pairs, monkeypatch)


@kernels
@some_models
def test_greedy_output_does_not_depend_on_company_or_padding(name, corpus, pairs, monkeypatch):
    check_greedy(sharpened(FAMILY[name](corpus)), pairs, monkeypatch)


# What breaks the promise, and the part that it breaks. Each is a line that some tutorial lacks.


def with_mask(change):
    """What reads another mask than the batch's."""
    return lambda part: (
        lambda self, query, memory, time: part(
            self, query, replace(memory, mask=change(memory.mask)), time
        )
    )


sees_padding = takes_the_padded_length = with_mask(torch.ones_like)
walks_off_the_end = with_mask(lambda mask: torch.nn.functional.pad(mask, (0, 1_000), value=True))


def looks_at_padding(window):
    """The centre is right, but the words behind the end take part."""

    def forward(self, query, memory, time):
        p_t = self.centre(query, memory, time)
        everything = replace(memory, mask=torch.ones_like(memory.mask))
        with mock.patch.object(self, "centre", return_value=p_t):
            return window(self, query, everything, time)

    return forward


def reads_padding(encode):
    return lambda self, source: encode(
        self, replace(source, lengths=torch.full_like(source.lengths, source.ids.size(1)))
    )


def takes_the_last_column(context):
    return lambda self, query, memory, time: (
        memory.annotations[:, -1:].expand(-1, query.size(1), -1),
        None,
    )


def turns_padding_too(reversed_positions):
    return lambda source: torch.arange(source.ids.size(1)).flip(0).expand_as(source.ids)


def breaks():
    """Each part with each decoder, whatever the score."""
    for decoder in ("bahdanau", "luong"):
        yield f"{decoder} additive global", Global, "forward", sees_padding
        yield f"{decoder} general local-m", Monotonic, "forward", looks_at_padding
        yield f"{decoder} dot local-m", Monotonic, "centre", walks_off_the_end
        yield f"{decoder} concat local-p", Predictive, "forward", looks_at_padding
        yield f"{decoder} scaled-dot local-p", Predictive, "centre", takes_the_padded_length
    yield "luong dot global feeding", Global, "forward", sees_padding
    yield "rnnsearch", BidirectionalGRU, "forward", reads_padding
    yield "rnnencdec", ForwardGRU, "forward", reads_padding
    yield "rnnencdec", FixedContext, "forward", takes_the_last_column
    yield "sutskever", StackedLSTM, "forward", reads_padding
    yield "luong general local-m bidirectional", StackedLSTM, "forward", reads_padding
    yield "luong dot global reverse", encoder_module, "reversed_positions", turns_padding_too


@pytest.mark.parametrize("check", [check_reading, check_greedy])
@pytest.mark.parametrize(("name", "part", "method", "broken"), list(breaks()))
def test_without_mask_length_or_clamp_these_tests_would_fail(
    name, part, method, broken, check, corpus, pairs, monkeypatch
):
    model = sharpened(FAMILY[name](corpus))
    monkeypatch.setattr(part, method, broken(getattr(part, method)))
    with pytest.raises(AssertionError):
        check(model, pairs, monkeypatch)


def test_a_loss_over_padding_would_be_noticed(sharp, pairs):
    """The mean over all columns, as tutorials compute it, changes with padding; ours does not."""

    def careless(extra):
        batch = batch_of(sharp, pairs, extra)
        logits = sharp.decoder.readout(sharp(batch)[0])
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch.target_out.flatten())

    assert abs(float(careless(0)) - float(careless(30))) > 0.01


# ------------------------------------------------------------------------- two paths, one answer


@every_model
def test_the_whole_sentence_at_once_equals_step_by_step(name, corpus, pairs, monkeypatch):
    """Outputs and the gradient of every parameter; a model that feeds has one path only."""
    model = sharpened(FAMILY[name](corpus))
    batch = batch_of(model, pairs)

    def run(path):
        memory, final = model.encoder(batch.source)
        features, align = path(model.decoder, batch.target_in, memory, final)
        torch.manual_seed(0)  # any number that every output has a part in
        outputs = [part for part in (model.decoder.readout(features), align) if part is not None]
        summed = sum((part * torch.randn_like(part))[batch.target_mask].sum() for part in outputs)
        return outputs, gradients(model, summed)

    by_step = run(Decoder.forward)
    if isinstance(model.decoder, SutskeverDecoder) and "feeding" not in name:
        monkeypatch.setattr(type(model.decoder), "step", None)  # the other path takes no step
    at_once = run(type(model.decoder).forward)
    torch.testing.assert_close(at_once, by_step, rtol=1e-9, atol=1e-9)


@kernels
@pytest.mark.parametrize(
    ("precision", "close"), [(torch.float64, 1e-9), (torch.float32, 2e-4)], ids=str
)
@some_models
def test_sooner_gives_the_same_losses_alignments_and_gradients(
    name, precision, close, corpus, pairs
):
    """All tricks of fast.py at once, against the plain code, on a padded batch."""
    model = FAMILY[name](corpus).to(precision)
    batch = batch_of(model, pairs, extra=3)

    def run():
        losses = model.token_losses(batch)
        _, align = model(batch)
        annotations = model.encoder(batch.source)[0].annotations.detach()  # of padding: zero
        return losses.detach(), align, annotations, gradients(model, losses)

    plain = run()
    classes = [type(part) for part in model.modules()]
    with sooner(model):
        assert not {type(part) for part in model.modules()} & SOONER.keys()
        fast = run()
    assert [type(part) for part in model.modules()] == classes
    torch.testing.assert_close(fast, plain, rtol=close, atol=close / 10)


@kernels
@some_models
def test_a_search_finds_the_same_sooner(name, corpus, pairs):
    """Step by step, as a search goes: log p, alignments and states."""
    model = sharpened(FAMILY[name](corpus))

    @torch.no_grad()
    def run():
        memory, state = model.start(batch_of(model, pairs).source)
        found = []
        for y in (2, 5, 4):
            log_p, align, state = model.step(torch.full((6,), y), state, memory)
            found += [log_p, align, state[0]]
        return found

    plain = run()
    with sooner(model):
        fast = run()
    torch.testing.assert_close(fast, plain, rtol=1e-9, atol=1e-9)


@some_models
def test_selected_rows_go_on_as_they_would_have(name, corpus, pairs):
    """What a beam does: repeat and reorder hypotheses, state and memory."""
    model = sharpened(FAMILY[name](corpus))
    with torch.no_grad():
        memory, state = model.start(batch_of(model, pairs).source)
        _, _, state = model.step(torch.full((6,), 2), state, memory)
        rows, y = torch.tensor([4, 0, 4, 5]), torch.arange(6) + 4
        log_p, align, _ = model.step(y, state, memory)
        taken = model.step(y[rows], state.select(rows), memory.select(rows))
    torch.testing.assert_close(taken[0], log_p[rows])
    if model.attends:
        torch.testing.assert_close(taken[1], align[rows])


# ----------------------------------------------------------------------- very short and very long


@some_models
def test_no_nan_on_sources_of_1_and_500_words(name, corpus):
    """In single precision, as in training; every parameter gets a gradient, and a finite one."""
    rng, model = random.Random(0), FAMILY[name](corpus)
    target = made_up_pair(rng, 15).target
    short, long = (replace(made_up_pair(rng, length), target=target) for length in (1, 500))
    for pairs in ([short], [long, short]):
        losses = model.token_losses(batch_of(model, pairs))
        assert torch.isfinite(losses).all()
        for parameter, gradient in gradients(model, losses).items():
            assert torch.isfinite(gradient).all(), parameter


# ---------------------------------------------------------------------------- sources turned round


@pytest.mark.parametrize("bidirectional", [False, True])
def test_reversal_only_turns_the_source(bidirectional, corpus, pairs):
    """A model that reads backwards is the same model over the sentence written backwards.

    Its weights speak of the words as they were written: column j is word j.
    """
    options = {"hidden": 8, "layers": 2, "bidirectional": bidirectional}
    backwards = sharpened(luong(corpus, "general", reverse=True, **options))
    forwards = sharpened(luong(corpus, "general", reverse=False, **options))
    turned = [replace(pair, source=pair.source[::-1]) for pair in pairs]
    with torch.no_grad():
        losses, losses_turned = (
            model.token_losses(batch_of(model, some))
            for model, some in [(backwards, pairs), (forwards, turned)]
        )
        _, align = backwards(batch_of(backwards, pairs))
        _, align_turned = forwards(batch_of(forwards, turned))
    torch.testing.assert_close(losses, losses_turned)
    for row, pair in enumerate(pairs):
        S = len(pair.source)
        torch.testing.assert_close(align[row, :, :S], align_turned[row, :, :S].flip(-1))
    assert not torch.allclose(align, align_turned)
    for one, other in zip(
        greedy(backwards, [p.source for p in pairs]), greedy(forwards, [p.source for p in turned])
    ):
        assert one.words == other.words
        np.testing.assert_allclose(one.alignment, other.alignment[:, ::-1], rtol=0, atol=1e-6)
