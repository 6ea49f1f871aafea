"""Counting words: text and dictionaries, where there is nothing to stage.

Converted code means the same on every Python value, so converting a whole program does
no harm to the parts of it that are no numerics.
"""

from __future__ import annotations

from examples.ways import Example

TEXT = """
The converter rewrites what a tensor could steer, and the rest it leaves as it is.
What it leaves is the most of it; what it rewrites is the rest.
"""


def word_count(text, least):
    """The words that occur at least so often, the most frequent first."""
    counts = {}
    for word in text.lower().split():
        word = word.strip(".,;")
        if not word:
            continue
        counts[word] = counts.get(word, 0) + 1
    frequent = [(word, n) for word, n in counts.items() if n >= least]
    frequent.sort(key=lambda pair: (-pair[1], pair[0]))
    return frequent


EXAMPLES = [Example(word_count, (TEXT, n), ("plain", "converted")) for n in (1, 3, 99)]


def main() -> None:
    [example] = EXAMPLES[1:2]
    for word, count in example.run("converted"):
        print(f"{count} times {word}")


if __name__ == "__main__":
    main()
