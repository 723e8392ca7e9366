"""``tokengap`` and ``python -m tokengap.service``: as little as can stand between a start and Ctrl-C."""

import sys


def main() -> int:
    """Run the command line. An interrupt while it is still being imported ends it like any other."""
    try:
        from .cli import main as run

        return run()
    except KeyboardInterrupt:
        sys.stderr.write("tokengap: error: interrupted\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
