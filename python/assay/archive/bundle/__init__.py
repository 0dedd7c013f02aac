"""Bundles, which are runs as single files: a run folder enters and a file leaves (``export``), or back (``unpack``).

A bundle is one frame of Zstandard with a tar archive (``archive``): a manifest (``manifest``), perhaps a signature
(``keys``, ``signature``), and the files of the run, redacted if wished (``redact``). Everything in a bundle is checked
before anything is written. ``origin`` keeps the trust level of an imported run; ``replication`` compares two runs.
"""

from __future__ import annotations

from assay.archive.bundle.export import SUFFIX, Exported, export_run
from assay.archive.bundle.keys import (
    PublicKey,
    make_key,
    own_public_key,
    read_public_key,
    signer,
    trust_key,
    trusted_keys,
)
from assay.archive.bundle.manifest import BundleFile, Manifest
from assay.archive.bundle.origin import Level, Origin, level_text, with_origin
from assay.archive.bundle.replication import Replication, replicated_by, replication
from assay.archive.bundle.signature import Signature, signer_name
from assay.archive.bundle.unpack import Bundle, Opened, bundle_level, import_bundle, is_bundle, opened

__all__ = [
    "SUFFIX",
    "Bundle",
    "BundleFile",
    "Exported",
    "Level",
    "Manifest",
    "Opened",
    "Origin",
    "PublicKey",
    "Replication",
    "Signature",
    "bundle_level",
    "export_run",
    "import_bundle",
    "is_bundle",
    "level_text",
    "make_key",
    "opened",
    "own_public_key",
    "read_public_key",
    "replicated_by",
    "replication",
    "signer",
    "signer_name",
    "trust_key",
    "trusted_keys",
    "with_origin",
]
