"""MLIR bytecode in: what weir reads of a portable artifact is what it reads of the text that stock StableHLO (jaxlib's bindings) prints of the
same bytes, for every program of the corpus, at versions of VHLO from 0.9 to the newest."""


import pytest
from portable import CURRENT, ROOT, printed, stock, stock_text

CORPUS = sorted((ROOT / "test/corpus").glob("*/program*.mlir"))
# The oldest that can be written, before and after properties, without batched gathers, without accuracies, the newest.
VERSIONS = ["0.9.0", "0.14.0", "1.0.0", "1.5.0", "1.9.0", CURRENT]


def check(artifacts, tmp_path):
    paths = []
    for number, data in enumerate(artifacts):
        paths += [tmp_path / f"{number}.mlirbc", tmp_path / f"{number}.mlir"]
        paths[-2].write_bytes(data)
        paths[-1].write_text(stock_text(data))
    texts = printed(paths, "--verify")
    assert texts[::2] == texts[1::2]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_corpus(path, tmp_path):
    text = path.read_text()
    artifacts = [data for version in VERSIONS if (data := stock(text, version))]
    if not artifacts:
        pytest.skip("no portable artifact of it: ops of other dialects")
    check(artifacts, tmp_path)
