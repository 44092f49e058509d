"""Python reads this at its start, because the launcher put this folder first on PYTHONPATH.

It starts the recorder, takes the folder out of sys.path again, and gives way to the sitecustomize
that would have been read without us. Written so that any Python, 2.7 too, gets through it.
"""

import os
import sys

_folder = os.path.dirname(os.path.abspath(__file__))


def _begin():
    """Starts the recorder. Whatever happens, the program does not notice."""
    session = os.environ.get("FATHOM_SESSION")
    if not session:
        return
    try:
        if sys.version_info < (3, 8):
            # The launcher reads there why nothing was recorded.
            with open(os.path.join(session, "python-%d.txt" % os.getpid()), "w") as file:
                file.write("%d.%d.%d" % tuple(sys.version_info)[:3])
            return
        # Our folder is the session's: what the program wants written does not matter to it.
        wanted = sys.dont_write_bytecode
        sys.dont_write_bytecode = False
        try:
            import fathom_recorder

            fathom_recorder.begin()
        finally:
            sys.dont_write_bytecode = wanted
    except Exception:
        pass


def _is_ours(entry):
    try:
        return os.path.realpath(entry or os.curdir) == os.path.realpath(_folder)
    except Exception:
        return False


_begin()
# Children find the hook through PYTHONPATH, which stays; this program has its own sys.path.
sys.path[:] = [_entry for _entry in sys.path if not _is_ours(_entry)]
sys.path_importer_cache.pop(_folder, None)
# The next sitecustomize takes our place in sys.modules. Where there is none, this raises the
# ImportError that `site` expects of a Python without one.
sys.modules.pop("sitecustomize", None)
__import__("sitecustomize")
