"""The test system: audited by ``assay check``."""
