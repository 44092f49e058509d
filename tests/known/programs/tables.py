"""pandas: groups of a table, by a function in Python. It computes."""

import pandas
import numpy

table = pandas.DataFrame({"key": numpy.arange(400_000) % 20_000, "value": numpy.arange(400_000.0)})
for _ in range(2):
    table.groupby("key")["value"].apply(lambda values: values.max() - values.min())
