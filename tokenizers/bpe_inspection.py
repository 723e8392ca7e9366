"""Why a text costs what it costs: pieces, merges, sizes, cuts, and what a closed word list would lose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .bpe_artefact import UNKNOWN, Artefact
from .bpe_encoding import BpeTokenizer
from .errors import TokengapError
from .text import well_formed


@dataclass(frozen=True, slots=True)
class MergeRow:
    """A merge as it is shown. ``count`` and ``candidates`` are ``None`` for an imported tokenizer.

    ``candidates`` is how many pairs had the highest count, this one included; ``tied`` says there were several.
    """

    id: int
    left_id: int
    right_id: int
    left: str
    right: str
    piece: str
    count: int | None
    tied: bool | None
    candidates: int | None


@dataclass(frozen=True, slots=True)
class SizeRow:
    """A vocabulary size and what texts are under it. ``merges`` were learned, which may be fewer than asked for."""

    asked: int
    merges: int
    vocabulary: int
    corpus_tokens: int
    held_out_tokens: int | None


@dataclass(frozen=True, slots=True)
class Embedding:
    """An embedding table: one row of ``width`` numbers for each token of the vocabulary."""

    vocabulary: int
    width: int

    @property
    def numbers(self) -> int:
        """How many numbers the table holds.

        >>> Embedding(50257, 768).numbers
        38597376
        """
        return self.vocabulary * self.width

    def share_of(self, parameters: int) -> float:
        """The table as a part of a model with so many parameters."""
        return self.numbers / parameters


@dataclass(frozen=True, slots=True)
class AnswerCut:
    """A reply that stops at a limit of tokens. ``text`` is what is left of it.

    ``inside_word``: the cut falls between two characters of one word. ``inside_character``: between the
    bytes of one character, which is then left out of ``text``.
    """

    tokens: int
    limit: int
    text: str
    truncated: bool
    inside_word: bool
    inside_character: bool


@dataclass(frozen=True, slots=True)
class WordDictionary:
    """The baseline a tokenizer replaces: every word of a text has a number, and any other word none."""

    words: Mapping[str, int]
    lowercase: bool = False

    def look_up(self, text: str) -> list[int | None]:
        """The number of each word, ``None`` for one that is not in the dictionary.

        >>> word_dictionary(["the order was sent"]).look_up("the orders")
        [0, None]
        """
        return [self.words.get(word) for word in (text.lower() if self.lowercase else text).split()]

    def shown(self, text: str) -> list[str]:
        """The words of a text, with the unknown ones as ``<unk>``."""
        words = (text.lower() if self.lowercase else text).split()
        return [word if word in self.words else UNKNOWN for word in words]


def word_dictionary(texts: Iterable[str], *, lowercase: bool = False) -> WordDictionary:
    """Number the words of some texts (``str.split``) in order of first appearance."""
    words = (word for text in texts for word in (text.lower() if lowercase else text).split())
    return WordDictionary({word: number for number, word in enumerate(dict.fromkeys(words))}, lowercase)


def piece(tokenizer: BpeTokenizer, number: int) -> str:
    r"""A token as it is shown: bytes beyond ASCII as ``\x..``, or its characters for that alphabet.

    Raises TokengapError for an id there is no token of.
    """
    artefact = tokenizer.artefact
    if number == artefact.unknown_id:
        return UNKNOWN
    data = tokenizer.token_bytes(number)
    if artefact.alphabet == "bytes":
        return escaped(data)
    return "".join(character if character.isprintable() else escaped(character.encode()) for character in data.decode())


def escaped(data: bytes) -> str:
    r"""Bytes as the inside of a Python literal.

    >>> escaped("é\n".encode())
    '\\xc3\\xa9\\n'
    """
    return repr(data)[2:-1]


def pieces(tokenizer: BpeTokenizer, ids: Iterable[int]) -> list[str]:
    return [piece(tokenizer, number) for number in ids]


def bracketed(tokenizer: BpeTokenizer, ids: Iterable[int]) -> str:
    """All tokens in a row, each in brackets."""
    return "".join(f"[{shown}]" for shown in pieces(tokenizer, ids))


def merge_rows(tokenizer: BpeTokenizer) -> list[MergeRow]:
    """Every merge in the order it was learned. An imported ``.tiktoken`` vocabulary has none of its own."""
    artefact = tokenizer.artefact
    numbers = artefact.ids or range(artefact.base_size + len(artefact.merges))
    rows = []
    for merge, number in zip(artefact.merges, numbers[artefact.base_size :], strict=True):
        left, right = numbers[merge.left], numbers[merge.right]
        known = merge.count > 0
        rows.append(
            MergeRow(
                number,
                left,
                right,
                piece(tokenizer, left),
                piece(tokenizer, right),
                piece(tokenizer, number),
                merge.count if known else None,
                merge.tied > 1 if known else None,
                merge.tied if known else None,
            )
        )
    return rows


def expensive_words(tokenizer: BpeTokenizer, text: str, most: int) -> list[tuple[str, list[int]]]:
    """The distinct words of a text with the most tokens, each encoded alone; the first in the text among equals."""
    words = {word: tokenizer.encode(word) for word in dict.fromkeys(text.split())}
    return sorted(words.items(), key=lambda item: -len(item[1]))[:most]


def answer_cut(tokenizer: BpeTokenizer, reply: str, limit: int) -> AnswerCut:
    """What is left of a reply when the model stops at ``limit`` tokens. Raises TokengapError below 0."""
    if limit < 0:
        raise TokengapError(f"an answer limit cannot be negative: {limit}")
    encoded = tokenizer.encode_with_offsets(reply)
    text = well_formed(reply)[0]
    tokens = len(encoded.ids)
    if tokens <= limit:
        return AnswerCut(tokens, limit, text, truncated=False, inside_word=False, inside_character=False)
    end = encoded.char_spans[limit - 1][1] if limit else 0
    # Text between two tokens, such as the spaces that the rule 'words' drops, is cut off with the second.
    split = limit > 0 and encoded.char_spans[limit][0] < end
    cut = end - 1 if split else end
    inside_word = 0 < end < len(text) and _in_word(text[end - 1]) and (split or _in_word(text[end]))
    return AnswerCut(tokens, limit, text[:cut], truncated=True, inside_word=inside_word, inside_character=split)


def _in_word(character: str) -> bool:
    return not character.isspace() and (character.isalnum() or character in "_'’-")


def sizes(
    learned: Artefact, tokens: Sequence[int], asked: Iterable[int], held_out: str | None = None
) -> Iterator[SizeRow]:
    """The trade between vocabulary and length: an artefact cut back to fewer merges, for each number asked for.

    ``tokens`` are those of the training text after each merge, as training gives them.
    """
    from dataclasses import replace

    for number in asked:
        merges = min(number, len(learned.merges))
        shorter = replace(learned, merges=learned.merges[:merges], special_tokens={})
        count = None if held_out is None else BpeTokenizer(shorter).count(held_out)
        yield SizeRow(number, merges, shorter.vocabulary_size, tokens[merges], count)
