"""No text of others steers what a page shows."""

from assay.web.layout import environment
from markupsafe import Markup


def test_a_page_shows_control_and_bidi_characters_as_their_codes() -> None:
    template = environment("", "1").from_string(
        '<p title="{{ text }}">{{ text }}</p>{{ made }}{{ number }}{% if not text %}no{% endif %}'
    )
    shown = template.render(text="a\u202eb\x1b[2J<i>\nnext", made=Markup("<b>"), number=3)
    plain = r"a\u202eb\x1b[2J&lt;i&gt;" + "\nnext"
    assert shown == f'<p title="{plain}">{plain}</p><b>3'
