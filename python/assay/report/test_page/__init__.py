"""The page of one test as data: question, verdict, tiles, figures, result table, insights, caveats."""
