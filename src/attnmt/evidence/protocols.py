"""BLEU of the same translations as different papers report it: two protocols, never to be mixed.

Work on Multi30k mostly counts lower-cased words as Moses parts them. sacreBLEU's own way, made for
comparing papers, takes the sentences as they would be printed and parts them itself (Post 2018).
"""

from collections.abc import Iterator, Sequence

from attnmt.corpus import Pair
from attnmt.decoding import Model, Translation
from attnmt.metrics import Bleu, bleu, references, texts


def protocols(
    model: Model, found: Sequence[Translation], pairs: Sequence[Pair], *, words: bool
) -> Iterator[Bleu]:
    """BLEU in each protocol that the model can be measured in; the signatures tell them apart.

    First sacreBLEU's, with case ignored; the same with case, if the model writes any; then, if
    asked for, that of lower-cased Moses words.

    Args:
        model: a translator or an ensemble.
        found: its translations, in the pieces of its vocabulary.
        pairs: what it translated, in whole words.
        words: whether the last one is wanted: whether Moses parted the words of the pairs.
    """
    printed = texts(model, found)
    aims = references(pairs)
    yield bleu(printed, aims, lowercase=True)
    if not model.target_vocabulary.lower:
        yield bleu(printed, aims)
    if words:
        ours = [" ".join(model.target_vocabulary.units.join(one.words)) for one in found]
        yield bleu(ours, references(pairs, tokenised=True), lowercase=True, tokenised=True)
