"""The application that most would write, to compare with: FastAPI, a pydantic body, tiktoken's encode and len."""

from __future__ import annotations

import tiktoken
from fastapi import FastAPI
from pydantic import BaseModel

from tokengap.tokenizers.encodings import ENCODINGS, load_ranks

# The encoding is built from the files that tokengap ships, since tiktoken would download them.
_known = ENCODINGS["o200k_base"]
_encoding = tiktoken.Encoding(
    "o200k_base",
    pat_str=_known.pattern,
    mergeable_ranks=load_ranks(_known.ranks),
    special_tokens=dict(_known.special_tokens),
)
app = FastAPI()


class Prompt(BaseModel):
    """A text to count."""

    input: str


@app.post("/v1/count")
async def count(prompt: Prompt) -> dict[str, int]:
    """The number of tokens."""
    return {"tokens": len(_encoding.encode(prompt.input, disallowed_special=()))}
