"""Finds the packages: `envs`, `wrappers`, `training` and `zoo` are installed as `parlour.envs` and so on.

`package` holds what `parlour` itself is.
"""

from setuptools import find_packages, setup

FOLDERS = ["envs", "wrappers", "training", "zoo"]
"""The import package is `parlour`; a researcher's own repository nearly always has an `envs/` folder."""

found = find_packages(include=[pattern for folder in FOLDERS for pattern in (folder, f"{folder}.*")])
setup(
    packages=["parlour", *(f"parlour.{package}" for package in found)],
    package_dir={"parlour": "package", **{f"parlour.{folder}": folder for folder in FOLDERS}},
)
