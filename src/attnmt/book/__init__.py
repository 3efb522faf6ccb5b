"""What pages import: figures, tables, demonstrations, models in a page, and recorded evidence.

Every name is imported from here, ``from attnmt.book import plots, pretrained, table``. A module is
read when a page first asks it for a name, so that :func:`pretrained` needs no figures.
"""

from importlib import import_module
from typing import Any

MODULES = {
    "attnmt.book.figures": "forest frames plots search_tree",
    "attnmt.book.live.glosses": "gloss gloss_pair",
    "attnmt.book.live.view": "show_live",
    "attnmt.book.live.weights": "pretrained",
    "attnmt.book.by_hand": "sigma softmax times",
    "attnmt.book.coverage": "content_words measure_coverage partners_of",
    "attnmt.book.demonstrations": "corpus_has print_run print_training real_text "
    "sample_table train_or_load translate_test translate_yours",
    "attnmt.book.numbers": "global_numbers kept_share local_numbers lookup_numbers write_numbers",
    "attnmt.book.probes": "deepest fit_probe handed_over influence make_decoder next_look unroll",
    "attnmt.book.sizes": "SIZES",
    "attnmt.book.tables": "NOTHING listed mean seeds show_source spread table with_range",
    "attnmt.book.toy_language": "TABLE TableModel next_words",
    "attnmt.book.window_alone": "attend_within",
    "attnmt.evidence.claims": "ClaimList",
    "attnmt.evidence.comparison": "BLEU_SCORE MARGIN_BLEU VERDICTS by_scores compare decide",
    "attnmt.evidence.links": "best_possible diagonal error_of forced_batches jump off_diagonal "
    "weights_on windows_on words_and_links",
    "attnmt.evidence.plan": "TITLES planned",
    "attnmt.evidence.record": "translate_sample",
    "attnmt.evidence.store": "load_run of_length read_study recorded",
    "attnmt.evidence.tables": "verdict_table",
    "attnmt.evidence.verdicts": "judge judge_runs measured",
}
MODULE_OF = {name: module for module, names in MODULES.items() for name in names.split()}

__all__ = list(MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in MODULE_OF:
        raise AttributeError(f"attnmt.book has no {name}")
    module = MODULE_OF[name]
    if module == "attnmt.book.figures":
        return import_module(f"{module}.{name}")
    return getattr(import_module(module), name)
