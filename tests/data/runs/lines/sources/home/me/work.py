"""Adds up numbers of files."""

import numbers_of


def total(path):
    values = numbers_of.read(
        path,
    )
    # The last one is a check sum.
    if not values:
        raise ValueError(path)
    return sum(
        value
        for value in values
    )


def main(paths):
    for path in paths:
        print(total(path))


main(["a", "b", "c", "d"])
