"""Pictures inside a page: an SVG text as a data address, as short as it can be without a visible change."""

from __future__ import annotations

import re

_UNSEEN = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
_PLACES = re.compile(r"(?<= d=\")[^\"]*|(?<=translate\()[^)]*")
# A hundredth of a point is no dot of any screen or printer.
_FINER = re.compile(r"(\.\d\d)\d+")
# Written as their numbers, so that no text of a picture can end the attribute that holds it, or begin an element.
_WRITTEN = {ord(character): f"%{ord(character):02X}" for character in "%#<>&`"} | {ord('"'): "'"}


def data_address(picture: bytes) -> str:
    """The address of a picture: without what nobody sees, coordinates to a hundredth of a point.

    Worked: ``b'<svg width="1"/>'`` -> ``data:image/svg+xml,%3Csvg width='1'/%3E``.
    """
    seen = _UNSEEN.sub("", picture.decode("utf-8"))
    shorter = _PLACES.sub(lambda found: _FINER.sub(r"\1", found[0]), seen)
    joined = " ".join(shorter.split()).replace("> <", "><")
    return f"data:image/svg+xml,{joined.translate(_WRITTEN)}"
