"""What tests and runs say, as numbers, codes and values: the one input of every output.

Nothing here is printed text but the names of measures; words of codes stand in ``words.py``.
"""
