"""The words of how far a result is vouched for, as terminal, lists, bundles and reports print them."""

from __future__ import annotations

SELF_CHECKED = "self-checked"
NOT_CHECKED = "not checked here"
UNVERIFIED = "unverified"
VERIFIED_BUNDLE = "verified bundle"
BREAKS_RULES = f"{UNVERIFIED}: it breaks rules"
REDACTED = "redacted by its maker"
