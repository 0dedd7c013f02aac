"""What the pages of a test are made of: blocks, headers, boxes and figures as data; no test is named here."""
