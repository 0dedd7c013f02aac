"""Which runs this user has checked on this host, kept outside the run folders, where nobody else can write."""
