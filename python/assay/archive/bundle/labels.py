"""What stands for names and serials in a redacted run: equal texts get the same label, and none can be worked back."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field

_WHOLE_LETTERS_MAX = 6
"""So short a name is found as a word of its own only: inside of words it would be found by chance."""
_BYTES_LETTERS_MIN = 8
_DEVICES = "/dev/"
_OTHER = "redacted-text"
"""For a letter that is the same in capitals only, as the long s."""
_PREFIXES = ("nvme.", "eui.", "naa.", "wwn-0x", "uuid.", "sim:", "loop:", "0x")
_PATH = re.compile(r"(?<![\w/.:])/[\w.@+:-]+(?:/[\w.@+:-]+)*/?")
_ADDRESS = re.compile(
    r"\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b"  # of a PCIe function
    r"|\b\d{1,3}:\d{1,3}:\d{1,3}:\d{1,5}\b"  # of a SCSI device
    r"|\b(?:0x|naa\.|eui\.|wwn-0x)?(?:[0-9a-f]{32}|[0-9a-f]{16})\b"  # names of the whole world
    r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
    re.IGNORECASE,
)


@dataclass
class Labels:
    """Hands out labels. It keeps which text has which, for as long as one bundle is made, and writes that nowhere."""

    _labels: dict[tuple[str, str], str] = field(default_factory=dict)
    _given: set[str] = field(default_factory=set)
    _counts: Counter[str] = field(default_factory=Counter)
    _secrets: dict[str, str] = field(default_factory=dict)
    _pattern: re.Pattern[str] | None = None

    def label(self, kind: str, text: str) -> str:
        """The label of a text. Worked: the first serial -> ``redacted-serial-1``, the same again -> the same."""
        if not text or text in self._given:
            return text
        if (kind, text) not in self._labels:
            self._counts[kind] += 1
            self._labels[kind, text] = f"redacted-{kind}-{self._counts[kind]}"
            self._given.add(self._labels[kind, text])
        return self._labels[kind, text]

    def learn(self, kind: str, text: str | None) -> None:
        """Take up a text that is to be found wherever people or the kernel may have written it."""
        for variant in _variants(text or ""):
            self._secrets.setdefault(variant.lower(), self.label(kind, text or ""))
        self._pattern = None

    def words(self, text: str) -> str:
        """A text that somebody wrote, with labels for all that is known, and for paths and addresses of devices."""
        if self._secrets:
            text = self._known().sub(lambda found: self._secrets.get(found[0].lower(), _OTHER), text)
        text = _PATH.sub(lambda found: self.label("path", found[0]), text)
        return _ADDRESS.sub(lambda found: self.label("address", found[0]), text)

    def leak(self, text: str) -> bool:
        """Whether a text still holds something that was taken up, as a word of its own or, if long, anywhere."""
        return bool(self._secrets) and self._known().search(text) is not None

    def long_secrets(self) -> list[bytes]:
        """What is long enough to be looked for in bytes of any kind."""
        return [
            secret.encode("utf-8", "surrogatepass") for secret in self._secrets if len(secret) >= _BYTES_LETTERS_MIN
        ]

    def may_leak(self, line: bytes) -> bool:
        """Whether a line of JSON, in ASCII, may hold something that was taken up; quick, and sure where it is not."""
        lower = line.lower()
        return any(json.dumps(secret)[1:-1].lower().encode() in lower for secret in self._secrets)

    def _known(self) -> re.Pattern[str]:
        if self._pattern is None:
            longest_first = sorted(self._secrets, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(_pattern, longest_first)), re.IGNORECASE)
        return self._pattern


def _pattern(text: str) -> str:
    # An underscore is no letter of a name: udev joins model and serial with it.
    whole = len(text) <= _WHOLE_LETTERS_MAX
    return rf"(?<![^\W_]){re.escape(text)}(?![^\W_])" if whole else re.escape(text)


def _variants(text: str) -> list[str]:
    """The ways in which a name is written. Worked: ``/dev/sdb`` -> itself and ``sdb``; ``A B`` -> also ``A_B``."""
    text = text.strip()
    bare = next((text.removeprefix(one) for one in _PREFIXES if text.startswith(one)), text)
    last = bare.rpartition("/")[2]
    variants = [text, bare, bare.partition("?")[0]]
    if text.startswith(_DEVICES) or len(last) >= _BYTES_LETTERS_MIN:
        variants.append(last)
    return [
        one for one in dict.fromkeys([*variants, *(variant.replace(" ", "_") for variant in variants)]) if len(one) > 1
    ]
