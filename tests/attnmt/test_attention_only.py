"""attention_only.py: its parts are PyTorch's, and the model keeps the core's promises."""

import pytest
import torch
from conftest import batch_of
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from attnmt import beam_search, force_align, greedy
from attnmt.attention_only import (
    DecoderBlock,
    EncoderBlock,
    MultiHeadAttention,
    align_by_head,
    attention_only,
    causal_mask,
    look_up,
    positional_encoding,
)
from attnmt.batches import pad
from attnmt.decoder import Decoder

EXACT = {"rtol": 0, "atol": 1e-9}


@pytest.fixture(scope="module")
def tiny(corpus):
    return attention_only(corpus, hidden=16, heads=2).double().eval()


@pytest.fixture
def words():
    """Two sentences of five and three words with eight numbers each, and their mask (B, 1, S)."""
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(2, 5, 8, dtype=torch.float64, generator=generator)
    return x, pad([[1] * 5, [1] * 3]).mask[:, None]


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    """Give PyTorch's module our weights."""
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.W_Q.weight, ours.W_KV.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.W_Q.bias, ours.W_KV.bias]))
    theirs.out_proj.load_state_dict(ours.W_O.state_dict())


def copy_rest(ours: nn.Module, theirs: nn.Module) -> None:
    """The same for the other parts of a block."""
    theirs.linear1.load_state_dict(ours.feed[0].state_dict())
    theirs.linear2.load_state_dict(ours.feed[2].state_dict())
    for number, norm in enumerate(ours.norms, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(norm.state_dict())


# --- the parts


@pytest.mark.parametrize("scaled", [True, False])
def test_look_up_is_that_of_pytorch(words, scaled):
    x, mask = words
    answers, align = look_up(x, x, x, mask, scaled=scaled)
    scale = None if scaled else 1.0
    assert_close(answers, scaled_dot_product_attention(x, x, x, mask, scale=scale), **EXACT)
    assert_close(align.sum(-1), torch.ones(2, 5, dtype=torch.float64), **EXACT)
    assert float(align[1, :, 3:].abs().max()) == 0


def test_heads_are_those_of_pytorch(words):
    x, mask = words
    ours = MultiHeadAttention(8, heads=2).double()
    theirs = nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64)
    copy_attention(ours, theirs)
    y = torch.randn(2, 4, 8, dtype=torch.float64)
    out, align = ours(y, ours.W_KV(x), mask)
    expected, weights = theirs(y, x, x, key_padding_mask=~mask[:, 0])
    assert_close(out, expected, **EXACT)
    assert_close(align, weights, **EXACT)
    _, by_head = ours.by_head(y, ours.W_KV(x), mask)
    assert by_head.shape == (2, 2, 4, 5)
    assert_close(by_head.mean(1), align, **EXACT)


def pytorchs(layer, ours):
    """PyTorch's layer of the same shape, with the weights of what both kinds of block have."""
    shape = {"dim_feedforward": 32, "dropout": 0.0, "batch_first": True, "norm_first": True}
    theirs = layer(8, 2, **shape, dtype=torch.float64)
    copy_attention(ours.own, theirs.self_attn)
    copy_rest(ours, theirs)
    return theirs


def test_an_encoder_block_is_that_of_pytorch(words):
    x, mask = words
    ours = EncoderBlock(8, heads=2).double()
    theirs = pytorchs(nn.TransformerEncoderLayer, ours)
    expected = theirs(x, src_key_padding_mask=~mask[:, 0])
    real = mask[:, 0]
    assert_close(ours(x, mask)[real], expected[real], **EXACT)


def test_a_decoder_block_is_that_of_pytorch(words):
    memory, mask = words
    ours = DecoderBlock(8, heads=2).double()
    theirs = pytorchs(nn.TransformerDecoderLayer, ours)
    copy_attention(ours.cross, theirs.multihead_attn)
    x = torch.randn(2, 4, 8, dtype=torch.float64)
    causal = causal_mask(0, 4)
    found, past, align = ours(
        x, x.new_empty(2, 0, 16), causal, read=ours.cross.W_KV(memory), mask=mask
    )
    unseen = {"tgt_mask": ~causal[0], "memory_key_padding_mask": ~mask[:, 0]}
    assert_close(found, theirs(x, memory, **unseen), **EXACT)
    assert past.shape == (2, 4, 16)
    assert align.shape == (2, 4, 5)


def test_positions_are_the_papers_and_compare_by_distance():
    encoded = positional_encoding(0, 60, 128)
    for p, i in ((0, 0), (7, 3), (59, 63)):
        angle = torch.tensor(p / 10_000 ** (2 * i / 128))
        both = torch.stack([angle.sin(), angle.cos()])
        assert_close(encoded[p, 2 * i : 2 * i + 2], both, rtol=0, atol=1e-5)
    assert_close(positional_encoding(40, 20, 128), encoded[40:])
    products = encoded @ encoded.T
    for distance in (1, 20):
        along = products.diagonal(distance)
        assert_close(along, along[:1].expand_as(along), rtol=0, atol=1e-3)


# --- the model


def test_the_models_encoder_knows_the_order(tiny):
    one, other = (tiny.encoder(pad([ids]))[0].annotations for ids in ([5, 6, 7], [7, 6, 5]))
    assert not torch.allclose(one, other.flip(1))


def test_step_by_step_is_the_whole_sentence(tiny, corpus):
    batch = batch_of(tiny, corpus.test[:5])
    with torch.no_grad():
        memory, final = tiny.encoder(batch.source)
        at_once, align = tiny.decoder(batch.target_in, memory, final)
        looped, looped_align = Decoder.forward(tiny.decoder, batch.target_in, memory, final)
    assert_close(looped, at_once, **EXACT)
    assert_close(looped_align, align, **EXACT)
    assert float(align.masked_select(~batch.source.mask[:, None]).abs().sum()) == 0


def test_padding_and_company_change_nothing(tiny, corpus):
    pairs = corpus.test[:5]
    batch = batch_of(tiny, pairs)
    with torch.no_grad():
        losses = tiny.token_losses(batch)
        assert_close(tiny.token_losses(batch_of(tiny, pairs, extra=4)), losses, **EXACT)
        alone = [tiny.token_losses(batch_of(tiny, [pair])) for pair in pairs]
    assert_close(torch.cat(alone), losses, **EXACT)
    sentences = [pair.source for pair in pairs]
    for search in (greedy, beam_search):
        for sentence, found in zip(sentences, search(tiny, sentences)):
            (single,) = search(tiny, [sentence])
            assert single.words == found.words
            assert single.score == pytest.approx(found.score, abs=1e-6)
            assert_close(single.alignment, found.alignment)
    assert force_align(tiny, pairs)[2] == force_align(tiny, pairs[2:3])[0]


def test_the_alignment_is_the_mean_of_the_last_blocks_heads(tiny, corpus):
    batch = batch_of(tiny, corpus.test[:4])
    by_head = align_by_head(tiny, batch)
    with torch.no_grad():
        _, align = tiny(batch)
    assert by_head.shape == (2, 4, 2, *align.shape[1:])
    assert_close(by_head[-1].mean(1), align, **EXACT)
    assert not torch.allclose(by_head[0].mean(1), align)
    assert not any(block.cross._forward_pre_hooks for block in tiny.decoder.blocks)


# --- dropout


@pytest.mark.parametrize(
    "wrong", [{"heads": 0}, {"hidden": -4}, {"hidden": "8"}, {"blocks": 0}, {"seed": None}]
)
def test_a_size_that_makes_no_sense_is_named(corpus, wrong):
    with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
        attention_only(corpus, **{"hidden": 16, "heads": 2} | wrong)


def test_dropout_keeps_words_and_positions_from_coming_in(corpus, monkeypatch):
    """With a dropout of 1 nothing gets through: not the words, not the positions, no part."""
    model = attention_only(corpus, hidden=16, heads=2, dropout=1.0)
    batch = batch_of(model, corpus.train[:3])
    memory, _ = model.encoder(batch.source)
    assert float(memory.annotations.detach().abs().max()) == 0  # a norm of zeros
    seen = []
    for block in [*model.encoder.blocks, *model.decoder.blocks]:
        block.register_forward_hook(lambda _, given, out: seen.append((given[0], out)))
    features, _ = model(batch)
    assert float(features.detach().abs().max()) == 0
    assert len(seen) == 4
    assert all(float(given.detach().abs().max()) == 0 for given, _ in seen)


def test_dropout_is_on_what_each_part_adds(words):
    """What comes in goes through; what the parts add does not."""
    x, mask = words
    kinds = EncoderBlock, DecoderBlock
    encoder, decoder = (kind(8, heads=2, dropout=1.0).double() for kind in kinds)
    assert torch.equal(encoder(x, mask), x)
    read = decoder.cross.W_KV(x)
    past = x.new_empty(2, 0, 16)
    out, _, _ = decoder(x, past, causal_mask(0, 5), read=read, mask=mask)
    assert torch.equal(out, x)
