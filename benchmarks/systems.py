"""Each system's own model, loss and optimiser, behind ``prepare`` (not timed) and ``step`` (timed).

Sizes are matched: an LSTM encoder of both directions with hidden/2 units each, one LSTM layer of
``hidden`` units as decoder, a bilinear score, no dropout, and batches made by attnmt. For
Bahdanau's model the encoder is a GRU of ``hidden`` units in each direction. The optimiser is Adam,
and gradients are clipped to norm 1 (not in the Annotated Encoder-Decoder, which does not clip).
"""

from typing import Any

import torch
from torch import Tensor, nn

from attnmt import luong, rnnsearch
from attnmt.batches import Batch
from attnmt.fast import sooner, without_denormals
from attnmt.recipes import OPTIMISERS
from attnmt.vocab import BOS, EOS, PAD, UNK
from benchmarks import peers

RATE = 4e-3
CLIP = 1.0


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


class Attnmt:
    """attnmt, as :func:`attnmt.training.fit` takes a step."""

    def __init__(self, corpus, kind: str, hidden: int, embedding: int):
        sizes = {"hidden": hidden, "embedding": embedding, "seed": 1}
        if kind == "rnnsearch":
            self.model = rnnsearch(corpus, **sizes)
        else:
            luongs = {"score": "general", "bidirectional": True, "feeding": kind == "feeding"}
            self.model = luong(corpus, **luongs, **sizes)
        self.model.train()
        self.adam = OPTIMISERS["adam"](self.model.parameters(), lr=RATE)

    def prepare(self, batch: Batch) -> Batch:
        """As it is."""
        return batch

    def step(self, batch: Batch) -> float:
        """Learn from a batch; the loss per token."""
        with sooner(self.model):
            return learn(self.model, self.adam, batch)


class JoeyVocabulary:
    """As much of a vocabulary as JoeyNMT's models ask for."""

    pad_index = PAD
    unk_index = UNK
    bos_index = BOS
    eos_index = EOS
    sep_index = None
    specials = ()
    lang_tags = ()

    def __init__(self, size: int):
        self.size = size

    def __len__(self) -> int:
        return self.size


def joey_model(corpus, kind: str, hidden: int, embedding: int) -> nn.Module:
    """JoeyNMT's recurrent model. Its decoder starts from the encoder's last state."""
    from joeynmt.model import build_model

    gru = kind == "rnnsearch"
    both = {"type": "recurrent", "rnn_type": "gru" if gru else "lstm", "num_layers": 1}
    both |= {"embeddings": {"embedding_dim": embedding}, "dropout": 0.0}
    encoder = {"hidden_size": hidden if gru else hidden // 2, "bidirectional": True}
    decoder = {"hidden_size": hidden, "hidden_dropout": 0.0, "input_feeding": kind != "no feeding"}
    decoder |= {"init_hidden": "bridge" if gru else "last"}
    decoder |= {"attention": "bahdanau" if gru else "luong"}
    words = (JoeyVocabulary(len(v)) for v in (corpus.source_vocabulary, corpus.target_vocabulary))
    model = build_model({"encoder": both | encoder, "decoder": both | decoder}, *words)
    model.loss_function = ("crossentropy", 0.0)
    return model


class Joey:
    """JoeyNMT, by the steps of its ``TrainManager``."""

    def __init__(self, corpus, kind: str, hidden: int, embedding: int):
        from joeynmt.builders import build_gradient_clipper, build_optimizer

        self.model = joey_model(corpus, kind, hidden, embedding=embedding)
        adam = {"optimizer": "adam", "learning_rate": RATE}
        self.optimizer = build_optimizer(adam, self.model.parameters())
        self.clip = build_gradient_clipper({"clip_grad_val": None, "clip_grad_norm": CLIP})

    def prepare(self, batch: Batch) -> Any:
        """JoeyNMT's own kind of batch."""
        from joeynmt.batch import Batch as Joeys

        rows = torch.arange(len(batch.target_in))
        source = batch.source
        whole = whole_target(batch)
        return Joeys(
            source.ids, source.lengths, None, whole, None, rows, torch.device("cpu"), PAD, EOS
        )

    def step(self, batch) -> float:
        """Learn from a batch; the loss per token."""
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


def onmt_model(corpus, kind: str, hidden: int, embedding: int) -> nn.Module:
    """OpenNMT-py's recurrent model."""
    import onmt  # noqa: F401
    from onmt.decoders.decoder import InputFeedRNNDecoder, StdRNNDecoder
    from onmt.encoders.rnn_encoder import RNNEncoder
    from onmt.models.model import NMTModel
    from onmt.modules import Embeddings

    words = [
        Embeddings(word_vec_size=embedding, word_padding_idx=PAD, word_vocab_size=len(v))
        for v in (corpus.source_vocabulary, corpus.target_vocabulary)
    ]
    encoder = RNNEncoder("LSTM", True, 1, hidden, 0.0, words[0])
    decoder = InputFeedRNNDecoder if kind == "feeding" else StdRNNDecoder
    decoder = decoder("LSTM", True, 1, hidden, attn_type="general", embeddings=words[1])
    model = NMTModel(encoder=encoder, decoder=decoder)
    model.generator = nn.Linear(hidden, len(corpus.target_vocabulary))
    for weights in model.parameters():
        nn.init.uniform_(weights, -0.1, 0.1)  # its param_init
    return model


class Onmt:
    """OpenNMT-py, by the steps of its ``Trainer``."""

    def __init__(self, corpus, kind: str, hidden: int, embedding: int):
        from onmt.utils.loss import LossCompute
        from onmt.utils.optimizers import Optimizer

        self.model = onmt_model(corpus, kind, hidden, embedding=embedding)
        criterion = nn.CrossEntropyLoss(ignore_index=PAD, reduction="sum", label_smoothing=0.0)
        self.loss = LossCompute(criterion, self.model.generator)
        adam = torch.optim.Adam(self.model.parameters(), lr=RATE, betas=[0.9, 0.999], eps=1e-9)
        self.optim = Optimizer(adam, RATE, max_grad_norm=CLIP)
        self.model.train()

    def prepare(self, batch: Batch) -> dict:
        """OpenNMT-py's own kind of batch."""
        source = {"src": batch.source.ids[..., None], "srclen": batch.source.lengths}
        return source | {
            "tgt": whole_target(batch)[..., None],
            "tokens": int(batch.target_mask.sum()),
        }

    def step(self, batch: dict) -> float:
        """Learn from a batch; the loss per token."""
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


class Annotated:
    """The Annotated Encoder-Decoder, by its ``run_epoch``."""

    def __init__(self, corpus, kind: str, hidden: int, embedding: int):
        self.code = peers.annotated()
        words = (len(corpus.source_vocabulary), len(corpus.target_vocabulary))
        sizes = {"emb_size": embedding, "hidden_size": hidden, "num_layers": 1, "dropout": 0.0}
        self.model = self.code.make_model(*words, **sizes)
        criterion = nn.NLLLoss(reduction="sum", ignore_index=PAD)
        adam = torch.optim.Adam(self.model.parameters(), lr=RATE)
        self.compute = self.code.SimpleLossCompute(self.model.generator, criterion, adam)
        self.model.train()

    def prepare(self, batch: Batch) -> Any:
        """Its own kind of batch, sorted by the source's length."""
        order = batch.source.lengths.argsort(descending=True)
        target = whole_target(batch)[order]
        source = (batch.source.ids[order], batch.source.lengths[order].tolist())
        return self.code.Batch(source, (target, (target != PAD).sum(1).tolist()), pad_index=PAD)

    def step(self, batch) -> float:
        """Learn from a batch; the loss per token."""
        masks = (batch.src_mask, batch.trg_mask, batch.src_lengths, batch.trg_lengths)
        _, _, before = self.model.forward(batch.src, batch.trg, *masks)
        return float(self.compute(before, batch.trg_y, batch.nseqs) / batch.ntokens)


SYSTEMS = {  # by kind of model
    "no feeding": {"attnmt": Attnmt, "JoeyNMT": Joey, "OpenNMT-py": Onmt},
    "feeding": {"attnmt": Attnmt, "JoeyNMT": Joey, "OpenNMT-py": Onmt},
    "rnnsearch": {"attnmt": Attnmt, "JoeyNMT": Joey, "Annotated E-D": Annotated},
}
