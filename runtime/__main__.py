"""``python -m runtime``: see `runtime.files.saved_model.show`."""

from __future__ import annotations

import sys

from runtime.files.saved_model.show import main

if __name__ == "__main__":
    sys.exit(main())
