"""Requests a second of the HTTP service beside a plain app: the program is ``http_load.py``.

    python benchmarks/http.py --help

This file has the name of a standard module, and stands before it for every program in this folder. So whoever
imports it gets that module.
"""

import sys

if __name__ == "__main__":
    from http_load import main

    main()
else:
    import sysconfig
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    _spec = PathFinder.find_spec("http", [sysconfig.get_path("stdlib")])
    assert _spec is not None  # noqa: S101 - Python is never without it
    assert _spec.loader is not None  # noqa: S101
    _module = module_from_spec(_spec)
    sys.modules[__name__] = _module
    _spec.loader.exec_module(_module)
