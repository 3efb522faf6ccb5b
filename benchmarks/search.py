"""Beam search: one trained model whose weights are copied into each system, so that all find alike.

JoeyNMT starts the decoder's cell from the encoder's last h, and has no bias in the output layer.
So the model is trained like that, and OpenNMT-py's encoder is made to hand over (h, h), too.
"""

from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn

from attnmt import beam_search, decoding, greedy, luong
from attnmt.batches import Source, batches
from attnmt.fast import sooner, without_denormals
from attnmt.model import Translator
from attnmt.vocab import BOS, EOS, PAD, UNK
from benchmarks.systems import joey_model, onmt_model

HIDDEN = 256
EMBEDDING = 128
LONGEST = 60  # words of a translation
STEPS = 330  # of training


def shared(corpus, kind: str) -> Translator:
    """A model that all three systems can compute: h for c, and no output bias."""
    model = luong(
        corpus,
        score="general",
        hidden=HIDDEN,
        embedding=EMBEDDING,
        bidirectional=True,
        feeding=kind == "feeding",
        seed=1,
    )
    inner = model.encoder.forward

    def forward(source: Source) -> tuple:
        memory, (h, _) = inner(source)
        return memory, (h, h)

    model.encoder.forward = forward
    with torch.no_grad():
        model.decoder.W_out.bias.zero_()
    model.decoder.W_out.bias.requires_grad_(False)
    return model


@without_denormals()
def trained(corpus, kind: str, cache: Path) -> Translator:
    """That model after ``STEPS`` batches, which takes two minutes the first time."""
    model = shared(corpus, kind)
    path = cache / f"{kind.replace(' ', '-')}.pt"
    if not path.exists():
        weights = [w for w in model.parameters() if w.requires_grad]
        adam = torch.optim.Adam(weights, lr=3e-3, fused=True)
        vocabularies = (corpus.source_vocabulary, corpus.target_vocabulary)
        order = batches(corpus.train, *vocabularies, 64, seed=1)
        for batch in islice(order, STEPS):
            adam.zero_grad()
            with sooner(model):
                model.token_losses(batch).mean().backward()
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            adam.step()
        cache.mkdir(parents=True, exist_ok=True)
        torch.save(model.state_dict(), path)
    model.load_state_dict(torch.load(path, weights_only=True))
    return model.eval()


def to_joey(model: Translator, joey: nn.Module) -> nn.Module:
    """JoeyNMT's model with the weights of ours."""
    own = model.state_dict()
    there = joey.state_dict()
    there["src_embed.lut.weight"] = own["encoder.embedding.weight"]
    there["trg_embed.lut.weight"] = own["decoder.embedding.weight"]
    there |= {name: own[name] for name in own if ".rnn." in name}
    there["decoder.attention.key_layer.weight"] = own["decoder.attention.score.W_a.weight"]
    W = own["decoder.W_c.weight"]  # on [c; h]; JoeyNMT's is on [h; c]
    there["decoder.att_vector_layer.weight"] = torch.cat([W[:, -HIDDEN:], W[:, :-HIDDEN]], 1)
    there["decoder.att_vector_layer.bias"] = torch.zeros(HIDDEN)
    there["decoder.output_layer.weight"] = own["decoder.W_out.weight"]
    joey.load_state_dict(there)
    return joey.eval()


def to_onmt(model: Translator, onmt: nn.Module) -> nn.Module:
    """OpenNMT-py's model with the weights of ours."""
    own = model.state_dict()
    same = {
        "encoder.embeddings.make_embedding.emb_luts.0.weight": "encoder.embedding.weight",
        "decoder.embeddings.make_embedding.emb_luts.0.weight": "decoder.embedding.weight",
        "decoder.attn.linear_out.weight": "decoder.W_c.weight",
        "generator.weight": "decoder.W_out.weight",
        "generator.bias": "decoder.W_out.bias",
    }
    with torch.no_grad():
        for name, weights in onmt.named_parameters():
            if name == "decoder.attn.linear_in.weight":  # it turns h_t, where ours turns hbar_s
                weights.copy_(own["decoder.attention.score.W_a.weight"].T)
            elif name.startswith("decoder.rnn."):
                part = name.split(".")[-1].removesuffix("_l0")
                weights.copy_(own[f"decoder.rnn.{part}_l0"])
            else:
                weights.copy_(own[same.get(name, name)])
    inner = onmt.encoder.forward

    def forward(src: Tensor, src_len: Tensor | None = None) -> tuple:
        out, (h, _), lengths = inner(src, src_len)
        return out, (h, h), lengths

    onmt.encoder.forward = forward
    return onmt.eval()


class Ours:
    """attnmt's search."""

    def __init__(self, corpus, kind: str, model: Translator):
        self.model = model
        self.encode = corpus.target_vocabulary.encode

    def search(self, sentences: list, source: Source, beam: int, length: int | None) -> list:
        """Word indices of each translation; ``length`` forces that many words."""
        decoding.MAX_LENGTH = (0, length or LONGEST)  # attnmt's own limit is 2 S + 10
        decoding.FORBIDDEN[True] = [PAD, BOS] + ([EOS] if length else [])
        if beam == 1:
            found = greedy(self.model, sentences)
        else:
            found = beam_search(self.model, sentences, beam)
        return [self.encode(translation.words) for translation in found]


class Joey:
    """JoeyNMT's search."""

    def __init__(self, corpus, kind: str, model: Translator):
        self.model = to_joey(model, joey_model(corpus, kind, HIDDEN, embedding=EMBEDDING))

    @torch.no_grad()
    def search(self, sentences: list, source: Source, beam: int, length: int | None) -> list:
        """Word indices of each translation."""
        from joeynmt.search import beam_search as of_joey
        from joeynmt.search import greedy as greedy_of_joey

        mask = (source.ids != PAD)[:, None]
        read = {"src": source.ids, "src_length": source.lengths, "src_mask": mask}
        out, hidden, _, _ = self.model(return_type="encode", **read)
        least = {"min_output_length": length or 1}
        if beam == 1:
            found, _, _ = greedy_of_joey(mask, length or LONGEST, self.model, out, hidden, **least)
        else:
            found, _, _ = of_joey(
                self.model, beam, out, hidden, mask, length or LONGEST, 0.0, **least
            )
        rows = [list(map(int, row)) for row in found]
        rows = [row[: row.index(EOS)] if EOS in row else row for row in rows]
        return [[word for word in row if word != PAD] for row in rows]


class Onmt:
    """OpenNMT-py's search; greedy is its beam of one."""

    def __init__(self, corpus, kind: str, model: Translator):
        from onmt.translate import GNMTGlobalScorer, Translator

        self.model = to_onmt(model, onmt_model(corpus, kind, HIDDEN, embedding=EMBEDDING))
        self.scorer = GNMTGlobalScorer(
            alpha=0.0, beta=0.0, length_penalty="none", coverage_penalty="none"
        )
        translator = Translator.__new__(Translator)  # as much of it as its translation loop uses
        translator.model = self.model
        translator.copy_attn = translator.tgt_file_prefix = False
        translator.global_scorer = self.scorer
        translator._gold_score = lambda batch, *rest: ([0] * len(batch["srclen"]), None)
        translator.report_results = lambda gold, _, batch, size, strategy: strategy
        self.translator = translator

    @torch.no_grad()
    def search(self, sentences: list, source: Source, beam: int, length: int | None) -> list:
        """Word indices of each translation."""
        from onmt.translate import BeamSearch

        symbols = {"pad": PAD, "bos": BOS, "eos": EOS, "unk": UNK, "start": BOS}
        lengths = {"min_length": length or 0, "max_length": length or LONGEST}
        strategy = BeamSearch(
            beam,
            batch_size=len(source.ids),
            n_best=1,
            global_scorer=self.scorer,
            return_attention=False,
            block_ngram_repeat=0,
            exclusion_tokens=set(),
            stepwise_penalty=None,
            ratio=-0.0,
            ban_unk_token=False,
            **symbols,
            **lengths,
        )
        batch = {"src": source.ids[..., None], "srclen": source.lengths}
        done = self.translator._translate_batch_with_strategy(batch, strategy)
        rows = [list(map(int, best[0])) for best in done.predictions]
        return [[word for word in row if word not in (PAD, EOS)] for row in rows]


SEARCHERS = {"attnmt": Ours, "JoeyNMT": Joey, "OpenNMT-py": Onmt}
