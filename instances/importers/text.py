"""Numbers from text files, with messages that name file, line and token."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

from prefixplace.errors import InputError

__all__ = ["Tokens", "fail", "lines_of", "number", "whole"]

PathLike = str | os.PathLike[str]


def lines_of(path: PathLike) -> Iterator[tuple[int, list[str]]]:
    """Line number (from 1) and words of each line that is not blank; ``.gz`` files are unpacked."""
    file = Path(path)
    try:
        raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        text = raw.decode("utf-8-sig")
    except (OSError, EOFError) as error:
        raise InputError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not a text file: {error}") from None
    for i, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if words:
            yield i, words


def fail(path: PathLike, line: int, problem: str) -> InputError:
    """The error for `problem` in a line of a file."""
    return InputError(f"{Path(path)}: line {line}: {problem}")


def whole(path: PathLike, line: int, word: str, least: int, what: str) -> int:
    """`word` as a whole number ≥ `least`."""
    try:
        value = int(word)
    except ValueError:
        raise fail(path, line, f"{what} is {word!r}, not a whole number") from None
    if value < least:
        raise fail(path, line, f"{what} is {value}, must be ≥ {least}")
    return value


def number(path: PathLike, line: int, word: str, what: str) -> float:
    """`word` as a finite number."""
    try:
        value = float(word)
    except ValueError:
        raise fail(path, line, f"{what} is {word!r}, not a number") from None
    if not abs(value) < float("inf"):
        raise fail(path, line, f"{what} is {word!r}, not a finite number")
    return value


class Tokens:
    """The words of a file one after the other, whatever the line breaks."""

    def __init__(self, path: PathLike, words: Iterator[tuple[int, list[str]]]) -> None:
        self.path, self.line = path, 1
        self._words = ((i, word) for i, row in words for word in row)

    def word(self, what: str) -> str:
        """The next word; `what` says in an error what the file lacks."""
        found = next(self._words, None)
        if found is None:
            raise fail(self.path, self.line, f"the file ends where {what} is expected")
        self.line, word = found
        return word

    def whole(self, what: str, least: int = 0) -> int:
        """The next word as a whole number ≥ `least`."""
        word = self.word(what)
        return whole(self.path, self.line, word, least, what)

    def number(self, what: str) -> float:
        """The next word as a finite number."""
        word = self.word(what)
        return number(self.path, self.line, word, what)

    def end(self) -> None:
        """Raise :class:`InputError` unless the file ends here."""
        for line, word in self._words:
            raise fail(self.path, line, f"{word!r} after the last expected number")
