"""Images: their size, read from the file's own header, and the tokens a model's rule makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, sqrt

from .fields import Fields, fail
from .framing import ImageRule

DETAILS = ("auto", "low", "high", "original")
_DATA_URL = re.compile(r"data:([a-z0-9.+/-]*)((?:;[^;,]*)*),", re.IGNORECASE)
_URL = re.compile(r"(?:https?|gs)://\S", re.IGNORECASE)
_READABLE = frozenset({"image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"})
_URL_SAFE = str.maketrans("-_", "+/")  # Google's API takes this alphabet too
_NO_BOUND = 1_000_000  # patches: only a side of 65,535 pixels allows as many
_HEADER = 65_536  # base64 characters that hold the size in all but JPEGs with large metadata
_JPEG_SIZE_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


@dataclass(frozen=True, slots=True)
class Image:
    """One image of a request. ``size`` is (width, height) in pixels, None where only the provider can see it.

    ``detail`` is OpenAI's, ``resolution`` Gemini's ``mediaResolution`` ("" where none is asked for).
    """

    path: str
    detail: str
    size: tuple[int, int] | None
    resolution: str = ""


@dataclass(frozen=True, slots=True)
class ImageTokens:
    """The tokens of one image and the bounds its rule gives; None where it gives none."""

    tokens: int
    interval: tuple[int, int] | None
    depends_on_size: bool = True


def read_image(fields: Fields, media_type: str | None = None, resolution: str = "") -> Image:
    """Read an image part of OpenAI or Anthropic, or Gemini's data of a media type.

    ``width`` and ``height`` in it state its size.
    """
    inner = fields
    value = fields.take("image_url")
    if isinstance(value, Mapping):
        inner = Fields(value, fields.at("image_url"), fields.not_counted)
        value = inner.take("url")
    detail = inner.text("detail") or fields.text("detail") or "auto"
    if detail not in DETAILS:
        fail(inner.at("detail"), f"unknown detail {detail[:40]!r}; known: {', '.join(DETAILS)}")
    stated = _stated_size(inner) or _stated_size(fields)
    path = inner.at("url") if inner is not fields else fields.at("image_url")
    size = stated or (_url_size(value, path) if value is not None else _source_size(fields, media_type))
    if inner is not fields:
        inner.close()
    return Image(fields.path, detail, size, resolution)


def _stated_size(fields: Fields) -> tuple[int, int] | None:
    width, height = fields.size("width"), fields.size("height")
    if (width is None) != (height is None):
        fail(fields.path, "width and height are needed together")
    return (width, height) if width and height else None


def _source_size(fields: Fields, media_type: str | None) -> tuple[int, int] | None:
    """The size of Anthropic's ``source`` or Gemini's ``data``; a file id or a URL shows none."""
    if media_type is not None:
        data, path = fields.text("data", required=True) or "", fields.at("data")
        return _base64_size(data, path) if media_type.lower() in _READABLE else None  # Gemini reads HEIC as well
    if fields.text("file_id") is not None:
        return None
    source = fields.fields("source")
    if source is None:
        fail(fields.path, "the image is missing: no image_url, source or file_id")
    kind = source.text("type", required=True)
    size = None
    if kind == "base64":
        source.text("media_type", required=True)
        size = _stated_size(source) or _base64_size(source.text("data", required=True) or "", source.at("data"))
    elif kind in ("url", "file"):
        size = _stated_size(source)
        named = source.text("url" if kind == "url" else "file_id", required=True) or ""
        if kind == "url" and not named[:5].lower().startswith("data:"):
            check_url(named, source.at("url"))
    else:
        fail(source.at("type"), f"unknown source type {str(kind)[:40]!r}; known: base64, url, file")
    source.close()
    return size


def _url_size(url: object, path: str) -> tuple[int, int] | None:
    if not isinstance(url, str):
        fail(path, "a URL is needed")
    if not url[:5].lower().startswith("data:"):
        check_url(url, path)
        return None
    header = _DATA_URL.match(url[:200])
    if header is None or not header[2].lower().endswith(";base64"):
        fail(path, "not a base64 data URL, such as data:image/png;base64,…")
    return _base64_size(url[header.end() :], path)


def check_url(url: str, path: str) -> None:
    """Refuse an address that no provider fetches an image from."""
    if not _URL.match(url[:200]):
        fail(path, f"{url[:40]!r} is no URL, such as https://…, gs://… or data:image/png;base64,…")


def _base64_size(data: str, path: str) -> tuple[int, int]:
    """The size of an image given as base64, from as little of it as will do."""
    from binascii import Error, a2b_base64

    size = None
    try:
        if len(data) > _HEADER:
            size = image_size(a2b_base64(data[:_HEADER].translate(_URL_SAFE)))
        size = size or image_size(a2b_base64(data.translate(_URL_SAFE)))
    except (Error, ValueError):
        fail(path, "the image is not valid base64")
    if size is None:
        fail(path, "not a PNG, JPEG, GIF or WebP with a readable size; state its width and height beside it")
    return size


def image_size(data: bytes) -> tuple[int, int] | None:
    """(width, height) from the first bytes of a PNG, JPEG, GIF or WebP file; None where they do not show it.

    Layouts: PNG (W3C, IHDR), GIF89a (logical screen), JPEG (ITU-T T.81, SOF segment), WebP (RFC 9649).
    """
    size = None
    if data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR" and len(data) >= 24:
        size = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    elif data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        size = int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        size = _webp_size(data)
    elif data[:2] == b"\xff\xd8":
        size = _jpeg_size(data)
    return size if size and size[0] > 0 and size[1] > 0 else None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    chunk = data[12:16]
    if chunk == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if chunk == b"VP8L" and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if chunk == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    for marker, start in _jpeg_segments(data):
        if marker in _JPEG_SIZE_MARKERS and start + 7 <= len(data):
            height, width = data[start + 3 : start + 5], data[start + 5 : start + 7]
            return int.from_bytes(width, "big"), int.from_bytes(height, "big")
    return None


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, int]]:
    """The segments of a JPEG before its pixels: the marker, and where its length field stands."""
    position = 2
    while position + 4 <= len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        if marker == 0xFF:  # fill byte
            position += 1
            continue
        if marker == 0xDA:
            return
        yield marker, position + 2
        position += 2 + max(int.from_bytes(data[position + 2 : position + 4], "big"), 2)


def image_tokens(rule: ImageRule, image: Image) -> ImageTokens | None:
    """Tokens of an image under a rule.

    Without a known size: the most it can be, and all it can be as interval; None where that has no bound.
    """
    if image.resolution in (rule.resolutions or {}):
        return ImageTokens((rule.resolutions or {})[image.resolution], None, depends_on_size=False)
    if rule.method == "tiles":
        return _tiles(rule, image)
    if rule.method == "patches":
        return _patches(rule, image)
    if rule.method == "claude":
        return _claude(rule, image)
    if rule.method == "squares":
        return _squares(rule, image)
    return ImageTokens(rule.tokens, (rule.at_least, rule.at_most), depends_on_size=False)


def _tiles(rule: ImageRule, image: Image) -> ImageTokens | None:
    """OpenAI: fit into 2,048 by 2,048, then the short side into 768, then a base and so much per 512-pixel tile."""
    if image.detail == "original":
        return None  # from gpt-5.4 on, by OpenAI's guide; whether these models refuse it, it does not say
    if image.detail == "low":
        return ImageTokens(rule.base, (rule.base, rule.base), depends_on_size=False)
    if image.size is None:
        most = rule.base + rule.tile * 8  # 768 by 2,048
        return ImageTokens(most, (rule.base + rule.tile, most))
    scale = min(Fraction(1), Fraction(2048, max(image.size)), Fraction(768, min(image.size)))
    width, height = (max(1, floor(side * scale)) for side in image.size)
    tokens = rule.base + rule.tile * ceil(width / 512) * ceil(height / 512)
    return ImageTokens(tokens, (tokens, tokens))


def _patches(rule: ImageRule, image: Image) -> ImageTokens | None:
    """OpenAI: patches of 32 by 32 pixels within a largest side and a budget, times the model's multiplier."""
    details = rule.details or {}
    limits: str | Mapping[str, int] | None = image.detail
    while isinstance(limits, str):
        limits = details.get(limits)
    if limits is None:
        return None
    side, budget = limits.get("side"), limits.get("budget")
    least_side, least = limits.get("side_at_least", side), limits.get("budget_at_least", budget)

    def tokens(patches: int) -> int:
        return ceil(patches * Fraction(rule.multiplier))

    if image.size is None:
        most = min(most for most in (budget, side and ceil(side / 32) ** 2, _NO_BOUND) if most)
        return ImageTokens(tokens(most), (tokens(1), tokens(most))) if most < _NO_BOUND else None
    return ImageTokens(
        tokens(_patch_count(image.size, side, budget)),
        (tokens(_patch_count(image.size, least_side, least)), tokens(_patch_count(image.size, side, budget))),
    )


def _patch_count(size: tuple[int, int], side: int | None, budget: int | None) -> int:
    fit = min(Fraction(1), Fraction(side, max(size))) if side else Fraction(1)
    width, height = (max(1, round(edge * fit)) for edge in size)
    patches = ceil(width / 32) * ceil(height / 32)
    if budget is None or patches <= budget:
        return patches
    # Shrink to the budget's area, then a little more so that one side is whole patches.
    shrink = sqrt(32 * 32 * budget / (width * height))
    across, down = width * shrink / 32, height * shrink / 32
    shrink *= min(max(floor(across), 1) / across, max(floor(down), 1) / down)
    return min(ceil(max(1, floor(width * shrink)) / 32) * ceil(max(1, floor(height * shrink)) / 32), budget)


def _claude(rule: ImageRule, image: Image) -> ImageTokens:
    """Anthropic: patches of 28 by 28 pixels, after the largest resizing within a longest side and a budget."""
    if image.size is None:
        return ImageTokens(rule.budget, (1, rule.budget + rule.resized_above))
    tokens = _claude_patches(image.size, rule.side, rule.budget)
    least = _claude_patches(image.size, rule.side_at_least, rule.budget) if rule.side_at_least else tokens
    whole = ceil(image.size[0] / 28) * ceil(image.size[1] / 28)
    resized = max(image.size) > (rule.side_at_least or rule.side) or whole > rule.budget
    return ImageTokens(tokens, (min(least, tokens), tokens + (rule.resized_above if resized else 0)))


def _claude_patches(size: tuple[int, int], side: int, budget: int) -> int:
    longest, shortest = max(size), min(size)
    edge = min(longest, side)
    low, high = 1, edge
    while low < high:  # the longest edge whose patches are within the budget
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _patches_at(middle, shortest, longest) <= budget else (low, middle - 1)
    return _patches_at(low, shortest, longest)


def _patches_at(edge: int, shortest: int, longest: int) -> int:
    return ceil(edge / 28) * ceil(max(round(Fraction(edge * shortest, longest)), 1) / 28)


def _squares(rule: ImageRule, image: Image) -> ImageTokens | None:
    """Gemini 2: one unit for a small image, else one for each tile; how many tiles there may be is not said."""
    if image.size is None:
        return None
    if max(image.size) <= rule.small_side:
        return ImageTokens(rule.tile, (rule.tile, rule.tile))
    tokens = rule.tile * ceil(image.size[0] / rule.tile_side) * ceil(image.size[1] / rule.tile_side)
    return ImageTokens(tokens, (tokens, tokens))
