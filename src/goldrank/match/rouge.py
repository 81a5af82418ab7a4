"""ROUGE-L recall as continuous-eval uses it (the `rouge` package, 1.0.1), by sentences and sets of words.

Sentences end at each full stop, words at white space, and case counts. For each pair of a retrieved and a
reference sentence one longest common subsequence is taken; the recall is the share of the reference's
distinct words that is in any of them. Which subsequence is taken matters when words repeat: the walk back
from the end steps in the retrieved sentence unless the other way is strictly longer.
"""

from __future__ import annotations

from functools import lru_cache

from goldrank.errors import InputError


@lru_cache(4096)
def _sentences(text: str) -> tuple[tuple[str, ...], ...]:
    """Words by sentence. A sentence of white space only has one empty word, as in the original."""
    return tuple(tuple(" ".join(part.split()).split(" ")) for part in text.split(".") if part)


@lru_cache(4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(word for sentence in _sentences(text) for word in sentence)


def rouge_l_recall(retrieved: str, reference: str) -> float:
    """The share of the reference's distinct words that a common subsequence covers.

    >>> rouge_l_recall("a b c d e f g", "a b c d e f g h i j")
    0.7
    """
    for text, what in ((retrieved, "Hypothesis"), (reference, "Reference")):
        if not _sentences(text):
            raise InputError(f"{what} is empty.", hint=f"There is no word in {text!r}.")
    covered: set[str] = set()
    for sentence in _sentences(reference):
        for other in _sentences(retrieved):
            covered |= common_words(sentence, other)
    return len(covered) / len(_words(reference))


def reaches(retrieved: str, reference: str, threshold: float, inclusive: bool = True) -> bool:
    """Whether the recall is at least the threshold (more than it unless `inclusive`); empty texts never match.

    The words in common are an upper bound of the recall, so that most pairs are decided without any search.
    """
    if not _sentences(retrieved) or not _sentences(reference):
        return False
    wanted = _words(reference)

    def enough(recall: float) -> bool:
        return recall >= threshold if inclusive else recall > threshold

    if not enough(len(wanted & _words(retrieved)) / len(wanted)):
        return False
    return enough(rouge_l_recall(retrieved, reference))


def common_words(reference: tuple[str, ...], retrieved: tuple[str, ...]) -> set[str]:
    """The words of the longest common subsequence that the walk back from the end finds.

    >>> sorted(common_words(("the", "cat", "the", "dog"), ("the", "the", "the", "cat")))
    ['the']
    """
    if reference == retrieved:
        return set(reference)
    if not set(reference) & set(retrieved):
        return set()
    width = len(retrieved) + 1
    table = [[0] * width]
    for word in reference:
        above = table[-1]
        row = [0] * width
        last = 0
        for j, other in enumerate(retrieved, 1):
            last = above[j - 1] + 1 if word == other else max(above[j], last)
            row[j] = last
        table.append(row)
    found: set[str] = set()
    i, j = len(reference), len(retrieved)
    while i and j:
        if reference[i - 1] == retrieved[j - 1]:
            i -= 1
            j -= 1
            found.add(reference[i])
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found
