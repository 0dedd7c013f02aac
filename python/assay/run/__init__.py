"""A run: what is asked for, what is planned, the one loop that carries it out, and its folder."""
