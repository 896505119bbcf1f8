"""The error tree: each class owns its exit code and says what to do next.

Messages carry ids, offsets and counts only. They never carry text of a log: an error message is pasted into
chats and tickets, and would be the next leak.
"""

from __future__ import annotations


class ForensicsError(Exception):
    """Base of every error that a user can cause or mend. `exit_code` is what the command line returns."""

    exit_code = 1


class UsageError(ForensicsError):
    """The command was called in a way that cannot work."""

    exit_code = 2


class Sealed(UsageError):
    """The case is sealed, and the command would write to it."""

    @staticmethod
    def text(root: object) -> str:
        """What to say of the case at `root`."""
        return (
            f"{root} is sealed: it can be read, verified, exported (--to a folder outside) and destroyed, not changed. "
            "To go on working, make a new case of the same evidence with `forensics run`"
        )


class Findings(ForensicsError):
    """Affected requests were found and `--fail-on` asked for a non-zero exit."""

    exit_code = 3


class MissingInput(ForensicsError):
    """An evidence file, a case or a case part is not there."""

    exit_code = 10


class NothingReadable(ForensicsError):
    """Not one record could be read, or more records were rejected than `--max-rejects` allows."""

    exit_code = 11


class HashMismatch(ForensicsError):
    """A file, a custody line or an output is not what was recorded."""

    exit_code = 12


class UnsafePermissions(ForensicsError):
    """The case directory can be read by others."""

    exit_code = 13


class LimitHit(ForensicsError):
    """A limit (size, ratio, memory) stopped the work; what was done so far is kept and marked partial."""

    exit_code = 16


class EgressBlocked(ForensicsError):
    """A file that is meant to leave the house holds text of another tenant."""

    exit_code = 20
