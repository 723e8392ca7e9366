"""The Python API of tokengap."""
