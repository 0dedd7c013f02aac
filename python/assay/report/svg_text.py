"""Vector pictures as short addresses inside a page: what draws nothing is left out."""

from __future__ import annotations

import re
from urllib.parse import quote

_WASTE = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
_GROUP_NAME = re.compile(r'<g id="[^"]*"')
_PLACES = re.compile(r' (?:d|x|y|points|transform)="[^"]*"')
_DIGITS = re.compile(r"(\.\d\d)\d+")
# Markers of one series: the same shape in the same colours, again and again.
_USE = r"<use xlink:href='%s' x='[^']*' y='[^']*' style='%s'/>"
_MARKERS = re.compile(_USE % ("([^']*)", "([^']*)") + "(?:" + _USE % (r"\1", r"\2") + ")+")
_PLACE = re.compile(r" x='([^']*)' y='([^']*)'")
# From so many on, markers stand at the corners of one path that is not drawn itself, in a quarter of the bytes.
_MANY = 100
# What an address may hold as it is, inside an attribute in double quotes.
_KEPT = " !$'()*+,-./:;=?@[]^_{|}~"


# Where the page around it is dark: its grounds, then what is written beside fields, then its lines.
_ON_DARK = (
    "@media (prefers-color-scheme: dark){path[style*='fill: #ffffff']{fill: #171c22 !important}"
    "text:not([style*='fill']){fill: #e4e8ec}"
    "path[style*='stroke: #000000'],path[style*='stroke: #7d8791'],use{stroke: #a4afba !important}}"
)
_STYLE = re.compile(r"<defs><style.*?</style></defs>", re.DOTALL)
_SIZED = re.compile(r" (?:width|height)='[\d.]+pt'")
_NAMED = re.compile(r"( id='|url\(#|xlink:href='#)")
_SIZE = re.compile(r"viewBox=[\"']0 0 ([\d.]+) ([\d.]+)")


def picture_address(picture: bytes, *, kept_colours: bool = False) -> str:
    """Give an SVG picture as a ``data:`` address; its lengths are kept to a hundredth of a point.

    kept_colours : a dark page does not turn its colours over, so that it says itself how it looks there.
    """
    text = _shorter(picture.decode("utf-8"))
    if kept_colours:
        text = text.replace("</style>", f"{_ON_DARK}</style>", 1)
    return f"data:image/svg+xml,{quote(text, safe=_KEPT)}"


def inline_picture(picture: bytes, name: str) -> str:
    """Give an SVG picture as a part of a page, whose fonts and colours it takes.

    name : begins the names inside it, which are unique in a page. Worked: ``id='p1'`` of ``wsat`` -> ``id='wsat-p1'``.
    """
    text = _STYLE.sub("", _shorter(picture.decode("utf-8")))
    text = _SIZED.sub("", text, count=2)
    return _NAMED.sub(lambda found: f"{found[1]}{name}-", text)


def picture_size(picture: bytes) -> tuple[int, int]:
    """Width and height in points, rounded, for the room that a page keeps. Worked: ``0 0 353.8 182.2`` -> 354, 182.

    An SVG that does not say it is as wide as high.
    """
    found = _SIZE.search(picture.decode("utf-8"))
    return (round(float(found[1])), round(float(found[2]))) if found else (1, 1)


def _shorter(text: str) -> str:
    text = _GROUP_NAME.sub("<g", _WASTE.sub("", text))
    text = _PLACES.sub(lambda found: _DIGITS.sub(r"\1", found[0]), text)
    text = re.sub(r"\s*\n\s*", " ", text).replace("> <", "><").replace('"', "'").strip()
    return _MARKERS.sub(_once_styled, text)


def _once_styled(markers: re.Match[str]) -> str:
    style = f" style='{markers[2]}'"
    places = _PLACE.findall(markers[0])
    if len(places) >= _MANY:
        name = f"k{markers.start()}"
        shape = f"<use xlink:href='{markers[1]}'{style}/>"
        path = "L".join(f"{x} {y}" for x, y in places)
        return (
            f"<marker id='{name}' markerUnits='userSpaceOnUse' overflow='visible'>{shape}</marker>"
            f"<path d='M{path}' style='fill: none; stroke: none; marker: url(#{name})'/>"
        )
    return f"<g{style}>{markers[0].replace(style, '')}</g>"
