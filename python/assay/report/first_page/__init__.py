"""The summary page as data: what it says of a run is printed here and nowhere else, and no format changes it."""
