"""The stimulus engine: what is asked of a drive and what it answered; the only caller of the native ``run``."""
