"""Each system's own model, loss, optimiser and search, behind three methods.

``prepare`` makes its own kind of batch of one of ours and is not timed; ``step`` learns from that
and returns the loss per token; ``search`` returns the word indices of each translation, of so many
words where ``length`` says so. Ours is first.

Sizes are matched: an LSTM encoder of both directions with hidden/2 units each, one LSTM layer of
``hidden`` units as decoder, a bilinear score, no dropout, and batches made by attnmt. For
Bahdanau's model the encoder is a GRU of ``hidden`` units in each direction. The optimiser is Adam
(fused in attnmt), and gradients are clipped to norm 1 (not in the Annotated Encoder-Decoder).

For search, the weights of one model of ours are copied into each system. JoeyNMT starts the
decoder's cell from the encoder's last h, and has no bias in the output layer. So that model is
trained like that, and OpenNMT-py's encoder is made to hand over (h, h), too.
"""

from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from attnmt import beam_search, decoding, greedy, luong, rnnsearch
from attnmt.batches import Batch, Source, batches
from attnmt.fast import sooner, without_denormals
from attnmt.model import Translator
from attnmt.recipes import OPTIMISERS
from attnmt.vocab import BOS, EOS, PAD, UNK
from benchmarks import peers

RATE, CLIP = 4e-3, 1.0
SEARCHED = {"hidden": 256, "embedding": 128}  # sizes of the model that searches
LONGEST = 60  # words of a translation
STEPS = 330  # of training, before a search


def whole_target(batch: Batch) -> Tensor:
    """<s> y_1 ... y_n </s>, padded: (B, T + 1)."""
    return torch.cat([batch.target_in[:, :1], batch.target_out], dim=1)


@without_denormals()
def learn(model: nn.Module, optimiser: torch.optim.Optimizer, batch: Batch) -> float:
    """One step of attnmt; the loss per token."""
    optimiser.zero_grad(set_to_none=True)
    loss = model.token_losses(batch).mean()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimiser.step()
    return float(loss.detach())


def our_model(corpus: Any, kind: str, **sizes: int) -> Translator:
    """The model of a kind. RNNsearch has l = n/2 maxout units, as the paper's (1000 and 500)."""
    if kind == "rnnsearch":
        return rnnsearch(corpus, **sizes, maxout=sizes["hidden"] // 2, seed=1)
    luongs = {"score": "general", "bidirectional": True, "feeding": kind == "feeding"}
    return luong(corpus, **luongs, **sizes, seed=1)


@without_denormals()
def trained(corpus: Any, kind: str, cache: Path) -> Translator:
    """A model that all three systems can compute, after ``STEPS`` batches: h for c, no output bias.

    It takes two minutes the first time.
    """
    model = our_model(corpus, kind, **SEARCHED)
    inner = model.encoder.forward

    def forward(source: Source) -> tuple:
        memory, (h, _) = inner(source)
        return memory, (h, h)

    model.encoder.forward = forward
    nn.init.zeros_(model.decoder.W_out.bias).requires_grad_(False)
    path = cache / f"{kind.replace(' ', '-')}.pt"
    if not path.exists():
        adam = OPTIMISERS["adam"]([w for w in model.parameters() if w.requires_grad], lr=3e-3)
        vocabularies = (corpus.source_vocabulary, corpus.target_vocabulary)
        with sooner(model):
            for batch in islice(batches(corpus.train, *vocabularies, 64, seed=1), STEPS):
                learn(model, adam, batch)
        cache.mkdir(parents=True, exist_ok=True)
        torch.save(model.state_dict(), path)
    model.load_state_dict(torch.load(path, weights_only=True))
    return model.eval()


class Attnmt:
    """attnmt, as :func:`attnmt.training.fit` takes a step."""

    def __init__(self, corpus: Any, kind: str, model: Translator | None = None, **sizes: int):
        self.model = model or our_model(corpus, kind, **sizes).train()
        self.adam = OPTIMISERS["adam"](self.model.parameters(), lr=RATE)
        self.encode = corpus.target_vocabulary.encode

    def prepare(self, batch: Batch) -> Batch:
        return batch

    def step(self, batch: Batch) -> float:
        with sooner(self.model):
            return learn(self.model, self.adam, batch)

    def search(self, sentences: list, source: Source, beam: int, length: int | None) -> list:
        decoding.MAX_LENGTH = (0, length or LONGEST)  # attnmt's own limit is 2 S + 10
        decoding.FORBIDDEN[True] = [PAD, BOS] + ([EOS] if length else [])
        wide = beam > 1
        found = beam_search(self.model, sentences, beam) if wide else greedy(self.model, sentences)
        return [self.encode(one.words) for one in found]


class JoeyVocabulary(list):
    """As much of a vocabulary as JoeyNMT's models ask for."""

    pad_index, unk_index, bos_index, eos_index, sep_index = PAD, UNK, BOS, EOS, None
    specials = lang_tags = ()


class Joey:
    """JoeyNMT, by the steps of its ``TrainManager``. Its decoder starts from the last state."""

    def __init__(self, corpus: Any, kind: str, model: Translator | None = None, **sizes: int):
        from joeynmt.builders import build_gradient_clipper, build_optimizer
        from joeynmt.model import build_model

        hidden, embedding, gru = sizes["hidden"], sizes["embedding"], kind == "rnnsearch"
        both = {"type": "recurrent", "rnn_type": "gru" if gru else "lstm", "num_layers": 1}
        both |= {"embeddings": {"embedding_dim": embedding}, "dropout": 0.0}
        encoder = {"hidden_size": hidden if gru else hidden // 2, "bidirectional": True}
        decoder = {"hidden_size": hidden, "hidden_dropout": 0.0}
        decoder |= {"input_feeding": kind != "no feeding"}
        decoder |= {"init_hidden": "bridge" if gru else "last"}
        decoder |= {"attention": "bahdanau" if gru else "luong"}
        sides = (corpus.source_vocabulary, corpus.target_vocabulary)
        words = (JoeyVocabulary(range(len(side))) for side in sides)
        self.model = build_model({"encoder": both | encoder, "decoder": both | decoder}, *words)
        self.model.loss_function = ("crossentropy", 0.0)
        if model:
            self.copy(model)
        adam = {"optimizer": "adam", "learning_rate": RATE}
        self.optimizer = build_optimizer(adam, self.model.parameters())
        self.clip = build_gradient_clipper({"clip_grad_val": None, "clip_grad_norm": CLIP})

    def copy(self, model: Translator) -> None:
        own = model.state_dict()
        there = self.model.state_dict()
        there["src_embed.lut.weight"] = own["encoder.embedding.weight"]
        there["trg_embed.lut.weight"] = own["decoder.embedding.weight"]
        there |= {name: own[name] for name in own if ".rnn." in name}
        there["decoder.attention.key_layer.weight"] = own["decoder.attention.score.W_a.weight"]
        W = own["decoder.W_c.weight"]  # on [c; h]; JoeyNMT's is on [h; c]
        n = len(W)
        there["decoder.att_vector_layer.weight"] = torch.cat([W[:, -n:], W[:, :-n]], 1)
        there["decoder.att_vector_layer.bias"] = torch.zeros(n)
        there["decoder.output_layer.weight"] = own["decoder.W_out.weight"]
        self.model.load_state_dict(there)
        self.model.eval()

    def prepare(self, batch: Batch) -> Any:
        from joeynmt.batch import Batch as Joeys

        rows = torch.arange(len(batch.target_in))
        read = (batch.source.ids, batch.source.lengths, None, whole_target(batch), None, rows)
        return Joeys(*read, torch.device("cpu"), PAD, EOS)

    def step(self, batch: Any) -> float:
        self.model.train()
        batch.sort_by_src_length()
        loss, _, _, correct = self.model(return_type="loss", **vars(batch))
        loss = batch.normalize(loss, normalization="tokens")
        loss.backward()
        seen = loss.item()
        _ = correct.item()
        self.clip(parameters=self.model.parameters())
        self.optimizer.step()
        self.model.zero_grad()
        return seen

    @torch.no_grad()
    def search(self, sentences: list, source: Source, beam: int, length: int | None) -> list:
        from joeynmt import search

        mask = (source.ids != PAD)[:, None]
        read = {"src": source.ids, "src_length": source.lengths, "src_mask": mask}
        out, hidden, _, _ = self.model(return_type="encode", **read)
        least = {"min_output_length": length or 1}
        most = length or LONGEST
        if beam == 1:
            found, _, _ = search.greedy(mask, most, self.model, out, hidden, **least)
        else:
            how = (self.model, beam, out, hidden, mask, most, 0.0)
            found, _, _ = search.beam_search(*how, **least)
        rows = [list(map(int, row)) for row in found]
        rows = [row[: row.index(EOS)] if EOS in row else row for row in rows]
        return [[word for word in row if word != PAD] for row in rows]


class Onmt:
    """OpenNMT-py, by the steps of its ``Trainer``. Its greedy search is its beam of one."""

    def __init__(self, corpus: Any, kind: str, model: Translator | None = None, **sizes: int):
        import onmt  # noqa: F401
        from onmt.decoders.decoder import InputFeedRNNDecoder, StdRNNDecoder
        from onmt.encoders.rnn_encoder import RNNEncoder
        from onmt.models.model import NMTModel
        from onmt.modules import Embeddings
        from onmt.translate import GNMTGlobalScorer, Translator
        from onmt.utils.loss import LossCompute
        from onmt.utils.optimizers import Optimizer

        hidden = sizes["hidden"]
        sides = [len(side) for side in (corpus.source_vocabulary, corpus.target_vocabulary)]
        sizes = {"word_vec_size": sizes["embedding"], "word_padding_idx": PAD}
        words = [Embeddings(word_vocab_size=side, **sizes) for side in sides]
        encoder = RNNEncoder("LSTM", True, 1, hidden, 0.0, words[0])
        decoder = InputFeedRNNDecoder if kind == "feeding" else StdRNNDecoder
        decoder = decoder("LSTM", True, 1, hidden, attn_type="general", embeddings=words[1])
        self.model = NMTModel(encoder=encoder, decoder=decoder)
        self.model.generator = nn.Linear(hidden, sides[1])
        for weights in self.model.parameters():
            nn.init.uniform_(weights, -0.1, 0.1)  # its param_init
        self.model.train()
        if model:
            self.copy(model)
        criterion = nn.CrossEntropyLoss(ignore_index=PAD, reduction="sum", label_smoothing=0.0)
        self.loss = LossCompute(criterion, self.model.generator)
        adam = torch.optim.Adam(self.model.parameters(), lr=RATE, betas=[0.9, 0.999], eps=1e-9)
        self.optim = Optimizer(adam, RATE, max_grad_norm=CLIP)
        plain = {"length_penalty": "none", "coverage_penalty": "none"}
        self.scorer = GNMTGlobalScorer(alpha=0.0, beta=0.0, **plain)
        translator = Translator.__new__(Translator)  # as much of it as its translation loop uses
        translator.model = self.model
        translator.copy_attn = translator.tgt_file_prefix = False
        translator.global_scorer = self.scorer
        translator._gold_score = lambda batch, *rest: ([0] * len(batch["srclen"]), None)
        translator.report_results = lambda gold, _, batch, size, strategy: strategy
        self.translator = translator

    def copy(self, model: Translator) -> None:
        """Take the weights of ours, and start the decoder's cell from h."""
        own = model.state_dict()
        same = {
            "encoder.embeddings.make_embedding.emb_luts.0.weight": "encoder.embedding.weight",
            "decoder.embeddings.make_embedding.emb_luts.0.weight": "decoder.embedding.weight",
            "decoder.attn.linear_out.weight": "decoder.W_c.weight",
            "generator.weight": "decoder.W_out.weight",
            "generator.bias": "decoder.W_out.bias",
        }
        with torch.no_grad():
            for name, weights in self.model.named_parameters():
                if name == "decoder.attn.linear_in.weight":  # it turns h_t, where ours turns hbar_s
                    weights.copy_(own["decoder.attention.score.W_a.weight"].T)
                elif name.startswith("decoder.rnn."):
                    part = name.split(".")[-1].removesuffix("_l0")
                    weights.copy_(own[f"decoder.rnn.{part}_l0"])
                else:
                    weights.copy_(own[same.get(name, name)])
        inner = self.model.encoder.forward

        def forward(src: Tensor, src_len: Tensor | None = None) -> tuple:
            out, (h, _), lengths = inner(src, src_len)
            return out, (h, h), lengths

        self.model.encoder.forward = forward
        self.model.eval()

    def prepare(self, batch: Batch) -> dict:
        source = {"src": batch.source.ids[..., None], "srclen": batch.source.lengths}
        target = {"tgt": whole_target(batch)[..., None], "tokens": int(batch.target_mask.sum())}
        return source | target

    def step(self, batch: dict) -> float:
        size = batch["tgt"].size(1)
        self.optim.zero_grad(set_to_none=True)
        read = (batch["src"], batch["tgt"], batch["srclen"])
        out, attns = self.model(*read, bptt=False, with_align=False)
        loss, _ = self.loss(batch, out, attns, trunc_start=0, trunc_size=size)
        loss /= batch["tokens"]
        self.optim.backward(loss)
        self.model.decoder.detach_state()
        self.optim.step()
        return float(loss)

    @torch.no_grad()
    def search(self, sentences: list, source: Source, beam: int, length: int | None) -> list:
        from onmt.translate import BeamSearch

        how = {"pad": PAD, "bos": BOS, "eos": EOS, "unk": UNK, "start": BOS, "n_best": 1}
        how |= {"min_length": length or 0, "max_length": length or LONGEST, "ratio": -0.0}
        how |= {"global_scorer": self.scorer, "return_attention": False, "ban_unk_token": False}
        how |= {"block_ngram_repeat": 0, "exclusion_tokens": set(), "stepwise_penalty": None}
        strategy = BeamSearch(beam, batch_size=len(source.ids), **how)
        batch = {"src": source.ids[..., None], "srclen": source.lengths}
        done = self.translator._translate_batch_with_strategy(batch, strategy)
        rows = [list(map(int, best[0])) for best in done.predictions]
        return [[word for word in row if word not in (PAD, EOS)] for row in rows]


class Annotated:
    """The Annotated Encoder-Decoder, by its ``run_epoch``."""

    def __init__(self, corpus: Any, kind: str, hidden: int, embedding: int):
        self.code = peers.annotated()
        words = (len(corpus.source_vocabulary), len(corpus.target_vocabulary))
        sizes = {"emb_size": embedding, "hidden_size": hidden, "num_layers": 1, "dropout": 0.0}
        self.model = self.code.make_model(*words, **sizes)
        criterion = nn.NLLLoss(reduction="sum", ignore_index=PAD)
        adam = torch.optim.Adam(self.model.parameters(), lr=RATE)
        self.compute = self.code.SimpleLossCompute(self.model.generator, criterion, adam)
        self.model.train()

    def prepare(self, batch: Batch) -> Any:  # sorted by the source's length
        order = batch.source.lengths.argsort(descending=True)
        target = whole_target(batch)[order]
        source = (batch.source.ids[order], batch.source.lengths[order].tolist())
        return self.code.Batch(source, (target, (target != PAD).sum(1).tolist()), pad_index=PAD)

    def step(self, batch: Any) -> float:
        masks = (batch.src_mask, batch.trg_mask, batch.src_lengths, batch.trg_lengths)
        _, _, before = self.model.forward(batch.src, batch.trg, *masks)
        return float(self.compute(before, batch.trg_y, batch.nseqs) / batch.ntokens)


SEARCHERS = {"attnmt": Attnmt, "JoeyNMT": Joey, "OpenNMT-py": Onmt}
SYSTEMS = {  # by kind of model
    "no feeding": SEARCHERS,
    "feeding": SEARCHERS,
    "rnnsearch": {"attnmt": Attnmt, "JoeyNMT": Joey, "Annotated E-D": Annotated},
}
