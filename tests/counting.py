"""Names that count how often they are compared: code that is linear compares each only a few times."""


class CountedName(str):
    """A string that counts hashing and comparing."""

    count = 0

    def __hash__(self):
        CountedName.count += 1
        return super().__hash__()

    def __eq__(self, other):
        CountedName.count += 1
        return super().__eq__(other)

    def __ne__(self, other):
        return not self == other


def counted(n):
    """Return names, new objects in each call: Python does not compare what is identical."""
    CountedName.count = 0
    return [CountedName(f"c{i}") for i in range(n)]
