"""Every golden case, as one test; run.py does the work and updates expectations."""
import sys

import run

if __name__ == "__main__":
    sys.exit(run.main([]))
