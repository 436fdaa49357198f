import re
from pathlib import Path

import numpy as np
import soundfile

ROOT = Path(__file__).parents[1]


def test_the_embedding_in_the_readme_runs_and_sounds(tmp_path, monkeypatch, capsys):
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    samples, rate = soundfile.read("drone.wav")
    assert (len(samples), rate) == (96_000, 48_000)
    assert np.abs(samples).max() > 1e-3
    assert 0 < float(capsys.readouterr().out.split()[0]) <= 1


def test_the_public_names_of_the_readme_exist():
    import ecs_audio as ea

    text = (ROOT / "README.md").read_text() + (ROOT / "ARCHITECTURE.md").read_text()
    for name in re.findall(r"\bea\.(\w+)", text):
        assert hasattr(ea, name), name
    assert set(ea.__all__) <= set(dir(ea))


def test_the_commands_of_the_readme_are_in_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
