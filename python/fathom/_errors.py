"""The one exception of this package."""


class FathomError(Exception):
    """What went wrong, as a sentence for the user; `code` says of what kind it is.

    Codes: invalid_argument (the request makes no sense), not_found (no such file or name),
    unsupported (recognised, but not something Fathom can do), corrupt (the input cannot be
    understood), io (the operating system refused), internal (our own mistake).
    """

    code: str

    def __init__(self, message: str, code: str = "invalid_argument") -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type["FathomError"], tuple[str, str]]:
        return (type(self), (str(self), self.code))
