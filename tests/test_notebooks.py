"""The notebooks as they are committed: executed in order, without errors or noise, small. CI executes them anew."""

import json
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NOISE = re.compile(r"/(?:home|root|tmp|var|usr|opt|mnt|work)/\w|\w:\\\\|Traceback|Warning\b|\d+%\|")
"""Paths of a machine, complaints, progress bars."""

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="an installed wheel has no notebooks")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_reads_well(path):
    assert path.stat().st_size < 400_000
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1)), "execute it from the top"
    assert not any(cell["metadata"].get("execution") for cell in cells), "when it was executed is nobody's business"
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    for output in outputs:
        assert output["output_type"] != "error"
        assert output.get("name") != "stderr"
        shown = "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
        assert not NOISE.search(shown), NOISE.search(shown)
