"""The pages after those of the tests: disclosure, distributions, certificates, sequences."""
