"""Changes of the tables of the index, in order, up and down."""
