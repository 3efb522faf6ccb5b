"""The examples in the docstrings of what `import attnmt` brings: each runs, and says the truth."""

import doctest
import sys

import pytest

import attnmt

# Chapters show the classes of the equations as they stand, and are their examples.
SHOWN = ("attnmt.attention", "attnmt.encoder", "attnmt.decoder")
WITHOUT = {"DataUnavailable", "History"}  # an error, and what `fit` gives
PUBLIC = {
    name: thing
    for name, thing in vars(attnmt).items()
    if name[0] != "_" and callable(thing) and name not in WITHOUT
    if thing.__module__ not in SHOWN
    if not isinstance(thing, attnmt.Recipe)
}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_an_example_that_runs(name):
    thing = PUBLIC[name]
    module = sys.modules[thing.__module__]
    finder = doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(thing, name, module=module, globs=dict(vars(module)))
    assert example.examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(example).failed == 0
