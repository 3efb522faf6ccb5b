"""What the search of the Korean site takes for one word."""

import json
import subprocess

import pytest
from parity import need_node

from press.extensions.korean_search import Korean, stem

WORDS = {
    "점수는": "점수",
    "점수를": "점수",
    "점수": "점수",
    "어텐션에서는": "어텐션",
    "디코더의": "디코더",
    "정렬이라고": "정렬",
    "길이": "길이",  # one syllable would be left
    "길이가": "길이",
    "RNNsearch": "RNNsearch",
    "RNNsearch는": "RNNsearch는",  # found as a part: the search looks into long words
}


@pytest.mark.parametrize("word", WORDS)
def test_a_word_loses_its_particle(word):
    assert stem(word) == WORDS[word]


def test_the_page_and_the_index_have_the_same_rule():
    need_node()
    words = [word.lower() for word in WORDS]
    code = (
        f"{Korean.js_stemmer_code}; const stemmer = new Stemmer();"
        f"console.log(JSON.stringify({json.dumps(words)}.map((word) => stemmer.stemWord(word))))"
    )
    ran = subprocess.run(["node", "-e", code], capture_output=True, encoding="utf8", check=True)
    assert json.loads(ran.stdout) == [Korean({}).stem(word) for word in words]
