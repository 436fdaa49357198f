import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import soundfile

ROOT = Path(__file__).parents[1]


def snippets():
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def test_the_embedding_at_the_top_of_the_readme_is_heard(tmp_path):
    code = snippets()[0]
    assert len(code.splitlines()) <= 15
    assert "range(600)" in code
    program = code.replace("range(600)", "range(60)").replace(
        "ea.Speakers(engine)", "ea.Speakers(engine, device='silent', record='heard.wav')"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, cwd=tmp_path)
    samples, _ = soundfile.read(tmp_path / "heard.wav")
    assert 0.7 * 48_000 < len(samples) < 3 * 48_000
    assert np.abs(samples).max() > 1e-3


def test_the_embedding_by_blocks_in_the_readme_runs_and_sounds(tmp_path, monkeypatch, capsys):
    code = snippets()[1]
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    samples, rate = soundfile.read("drone.wav")
    assert (len(samples), rate) == (96_000, 48_000)
    assert np.abs(samples).max() > 1e-3
    assert 0 < float(capsys.readouterr().out.split()[0]) <= 1


def test_the_hosts_that_the_readme_names_are_there_and_none_is_left_out():
    named = set(re.findall(r"\]\((examples/\w+\.py)\)", (ROOT / "README.md").read_text()))
    assert named == {f"examples/{path.name}" for path in (ROOT / "examples").glob("*.py")}


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
