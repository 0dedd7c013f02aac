"""The web page: runs of this host as they go on, and those that are stored. It has no rights on drives."""
