"""Files of subscriptions and messages: which rows do they hold, and where do the matches go?

`formats`, `records` and what reads them know nothing of Spark; `frames` makes DataFrames of files,
`matching` does all that `nearcast match` does.
"""
