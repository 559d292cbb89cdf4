"""The one error that views raise for what the user asked; the API maps it to HTTP, the CLI to 2."""

from __future__ import annotations


class RequestError(Exception):
    """``status``: 400 bad request, 404 no such thing, 409 not possible for this capture."""

    def __init__(
        self, status: int, code: str, message: str, hint: str = "", position: int | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
        self.position = position
