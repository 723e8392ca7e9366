"""``tokengap bpe``: the arguments of its seven actions. What they do is in the two modules imported on use."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from .cli import Parser

_OVERVIEW = """\
Train a byte-pair encoding on your own text, see why a text costs what it costs, keep the tokenizer in
one file, and count with it everywhere as --counter bpe:FILE.
"""
_EXAMPLES = """
examples:
  tokengap bpe train --merges 60 --pretokenizer workbook -o town.bpe town.txt
  tokengap bpe encode --tokenizer town.bpe --pieces --text 'the library'
  tokengap bpe encode --tokenizer town.bpe note.txt | tokengap bpe decode --tokenizer town.bpe
  tokengap bpe sweep --merges 0,20,60,150,300 --held-out new.txt town.txt
  tokengap count --counter bpe:town.bpe note.txt
"""
_RULES = """
pre-tokenizers (the rule that cuts the text into the chunks no merge may cross):
  gpt2, cl100k, o200k   the published rules of those encodings
  workbook              a word, or a run of punctuation, each with the space before it; or a run of space
  words                 split on single spaces and line ends, which are dropped: lossy, cannot be exported
  none                  the whole text is one chunk
  --pattern REGEX       your own, in the syntax of Python's re; \\w, \\s and \\p{L} are written out as
                        Unicode 16, and text it does not match stays in chunks of its own
"""
_TRAIN = """
examples:
  tokengap bpe train --merges 60 --pretokenizer workbook -o town.bpe town.txt
  tokengap bpe train --vocab-size 8000 --special '<|end|>' -o docs.bpe 'docs/**/*.md'
  zcat chats.jsonl.gz | tokengap bpe train --vocab-size 32000 --jsonl text -o chats.bpe -
"""
_TOKENIZER = "a file that 'train' or 'import' has written"
_PAIRS = "a pair that occurs less often than this is not merged (default: %(default)s)"


def add_parsers(commands: _SubParsersAction[Parser]) -> None:
    """Add the command ``bpe`` with its actions."""
    bpe = commands.add_parser("bpe", description=_OVERVIEW, epilog=_EXAMPLES)
    actions = bpe.add_subparsers(metavar="ACTION", required=True)
    for add in (_add_train, _add_encode, _add_decode, _add_inspect, _add_sweep, _add_export, _add_import):
        add(actions)


def _add_train(actions: _SubParsersAction[Parser]) -> None:
    parser = actions.add_parser(
        "train",
        help="learn a tokenizer from texts",
        description="Learn a tokenizer from texts. Same texts and options, same tokenizer, on any machine.",
        epilog=_RULES + _TRAIN,
    )
    far = parser.add_mutually_exclusive_group(required=True)
    far.add_argument("--merges", type=int, metavar="N", help="how many merges to learn at most")
    far.add_argument("--vocab-size", type=int, metavar="N", help="how many ids there may be, everything included")
    _add_training(parser)
    parser.add_argument(
        "--special", action="append", default=[], metavar="NAME", help="a token no text can produce (repeatable)"
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write")
    _add_json(parser)
    parser.set_defaults(run=_runner("bpe_training_commands", "train"))


def _add_training(parser: Parser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files, directories, quoted globs, - for stdin")
    rule = parser.add_mutually_exclusive_group()
    rule.add_argument("--pretokenizer", default="gpt2", metavar="NAME", help="the split rule (default: %(default)s)")
    rule.add_argument("--pattern", metavar="REGEX", help="a split rule of your own")
    parser.add_argument(
        "--alphabet",
        choices=("bytes", "characters"),
        default="bytes",
        help="what merges start from (default: %(default)s; a character not in the training text is then unknown)",
    )
    parser.add_argument("--min-frequency", type=int, default=1, metavar="N", help=_PAIRS)
    parser.add_argument("--jsonl", metavar="FIELD", help="the files are JSON Lines: train on this field of each line")
    parser.add_argument("--workers", type=int, metavar="N", help="processes to split the text with (default: by size)")


def _add_encode(actions: _SubParsersAction[Parser]) -> None:
    parser = actions.add_parser(
        "encode",
        help="text to ids",
        description="Print the ids of each text on a line. A special token's name in a text is ordinary text.",
    )
    _add_tokenizer(parser)
    _add_texts(parser)
    parser.add_argument("--pieces", action="store_true", help="print the tokens in brackets instead of the ids")
    parser.add_argument("--offsets", action="store_true", help="with --json: the bytes and characters of each token")
    parser.add_argument(
        "--allow-special", action="append", default=[], metavar="NAME", help="take this name for the token (repeatable)"
    )
    parser.add_argument("--end", metavar="NAME", help="end each text with this special token")
    _add_json(parser)
    parser.set_defaults(run=_runner("bpe_text_commands", "encode"))


def _add_decode(actions: _SubParsersAction[Parser]) -> None:
    parser = actions.add_parser(
        "decode",
        help="ids to text",
        description="Print the text of ids: numbers separated by spaces, commas or lines, from files or stdin.",
    )
    _add_tokenizer(parser)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files of ids, or - for stdin (the default)")
    parser.add_argument(
        "--errors",
        choices=("strict", "replace"),
        default="strict",
        help="where the ids are no valid UTF-8: refuse them, or show U+FFFD (default: %(default)s)",
    )
    _add_json(parser)
    parser.set_defaults(run=_runner("bpe_text_commands", "decode"))


def _add_inspect(actions: _SubParsersAction[Parser]) -> None:
    parser = actions.add_parser(
        "inspect",
        help="merges, traces, expensive words, cuts",
        description="Show a tokenizer, and what it does to a text where one is given.",
    )
    parser.add_argument("tokenizer", metavar="TOKENIZER", help=_TOKENIZER)
    _add_texts(parser)
    parser.add_argument("--chunks", action="store_true", help="what the split rule cuts the text into")
    parser.add_argument("--trace", action="store_true", help="every merge that changes the text, step by step")
    parser.add_argument("--expensive", type=int, metavar="N", help="the N words of the text with the most tokens")
    parser.add_argument("--answer-limit", type=int, metavar="N", help="what is left of the text after N tokens")
    parser.add_argument("--dictionary", metavar="FILE", help="which words a dictionary of this text's words would lose")
    parser.add_argument("--lowercase", action="store_true", help="with --dictionary: make all words lower case first")
    parser.add_argument("--width", type=int, metavar="N", help="the size of an embedding table of this width")
    _add_json(parser)
    parser.set_defaults(run=_runner("bpe_text_commands", "inspect"))


def _add_sweep(actions: _SubParsersAction[Parser]) -> None:
    parser = actions.add_parser(
        "sweep",
        help="vocabulary size against length",
        description="Train once, and show how long the texts are after each number of merges.",
        epilog=_RULES,
    )
    parser.add_argument("--merges", required=True, metavar="N,N,...", help="the numbers of merges to compare")
    parser.add_argument("--held-out", metavar="FILE", help="a text to count that is not trained on")
    _add_training(parser)
    _add_json(parser)
    parser.set_defaults(run=_runner("bpe_training_commands", "sweep"))


def _add_export(actions: _SubParsersAction[Parser]) -> None:
    parser = actions.add_parser(
        "export",
        help="write it for tiktoken or HuggingFace tokenizers",
        description="Write a tokenizer so that another library gives the same ids. Text that spells a special "
        "token is where HuggingFace's differs: it always takes it for the token.",
    )
    parser.add_argument("tokenizer", metavar="TOKENIZER", help=_TOKENIZER)
    parser.add_argument("--format", required=True, choices=("tiktoken", "huggingface"), help="ranks or tokenizer.json")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write")
    parser.add_argument("--json", action="store_true", help="print JSON, with the pattern a .tiktoken file lacks")
    parser.set_defaults(run=_runner("bpe_training_commands", "export"))


def _add_import(actions: _SubParsersAction[Parser]) -> None:
    parser = actions.add_parser(
        "import",
        help="read .tiktoken ranks or a tokenizer.json",
        description="Read the tokenizer of another tool: byte-level byte-pair encodings. A .tiktoken file has "
        "neither split rule nor special tokens; they must be given.",
    )
    parser.add_argument("source", metavar="FILE", help="a .tiktoken file or a tokenizer.json")
    rule = parser.add_mutually_exclusive_group()
    rule.add_argument("--pretokenizer", metavar="NAME", help="the split rule of a .tiktoken file")
    rule.add_argument("--pattern", metavar="REGEX", help="the same as a published pattern")
    parser.add_argument(
        "--special", action="append", default=[], metavar="NAME=ID", help="a special token of a .tiktoken file"
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write")
    _add_json(parser)
    parser.set_defaults(run=_runner("bpe_training_commands", "import_"))


def _add_tokenizer(parser: Parser) -> None:
    parser.add_argument(
        "--tokenizer", required=True, metavar="FILE", help="a file that 'train' or 'import' has written"
    )


def _add_texts(parser: Parser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files, directories, quoted globs, - for stdin")
    parser.add_argument("--text", action="append", default=[], metavar="TEXT", help="a text (repeatable)")


def _add_json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def _runner(module: str, function: str) -> Callable[[argparse.Namespace], int]:
    """The function of an action, imported when it is run."""

    def run(args: argparse.Namespace) -> int:
        status: int = getattr(import_module(f".{module}", __package__), function)(args)
        return status

    return run
