"""Lets the standard library's `profile` begin beside ours.

CPython reports the return from sys.setprofile() where somebody else listened to its call. `profile`
did not see that call, and an assertion of it fails.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def expect_a_return(module: Any) -> None:
    """Of the module `profile`: a function of C that returns before anything was called is left out."""
    try:
        Profile = module.Profile
        returned = Profile.dispatch["c_return"]
        before_all = Profile.fake_frame
    except (AttributeError, KeyError):
        return

    def c_return(profile: Any, frame: Any, passed: Any) -> Any:
        if isinstance(profile.cur[-2], before_all):
            return 1
        return returned(profile, frame, passed)

    Profile.dispatch["c_return"] = c_return
