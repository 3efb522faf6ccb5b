"""What became usual after the papers: smoothed labels, and products in bfloat16.

None of it changes a model, only how its weights are found. So it is an engine for
:func:`attnmt.training.fit`: ``fit(..., engine=partial(Modern, smoothing=0.1))``.
"""

from contextlib import nullcontext
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from attnmt.batches import Batch
from attnmt.training import Training, precision_on


class Modern(Training):
    """A :class:`.Training` with up to two additions.

    Args:
        arguments: of :class:`.Training`.
        smoothing: the share of the loss that is the mean -log p of *all* words (label smoothing,
            Szegedy et al. 2016, section 7): it keeps the model from being too sure of one. The
            loss of ``train`` is then the smoothed one, that of ``valid`` never is.
        precision: ``"bf16"`` for products of the gradient in bfloat16; ``"no"`` for none. Weights,
            losses and the optimiser stay in float32, and ``valid`` is measured in it. Where the
            device cannot train so, it is ``"no"`` (:func:`.precision_on`).
        more: further arguments of :class:`.Training`.

    Raises:
        ValueError: an argument out of its range.
    """

    def __init__(
        self,
        *arguments: Any,
        smoothing: float = 0.0,
        precision: str = "no",
        **more: Any,
    ):
        super().__init__(*arguments, **more)
        if not 0 <= smoothing < 1:
            raise ValueError(f"smoothing must be from 0 to below 1, not {smoothing!r}")
        self.smoothing = smoothing
        self.precision = precision_on(self.model.device, precision)
        self.facts |= {"smoothing": smoothing, "precision": self.precision}

    def gradient(self, batch: Batch) -> tuple[float, int]:
        """As :meth:`.Training.gradient`, of the smoothed loss."""
        batch = batch.to(self.model.device)
        kind = self.model.device.type
        half = self.precision == "bf16"
        with torch.autocast(kind, dtype=torch.bfloat16) if half else nullcontext():
            features, _ = self.model(batch)
            logits = self.model.decoder.readout(features[batch.target_mask])  # (tokens, V)
        losses = cross_entropy(
            logits.float(),
            batch.target_out[batch.target_mask],
            reduction="none",
            label_smoothing=self.smoothing,
        )
        loss = losses.mean() if self.recipe.per == "token" else losses.sum() / len(batch.target_in)
        loss.backward()
        return float(losses.detach().sum()), len(losses)
