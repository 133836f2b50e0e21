"""What a machine lacks is said in one line, before anything is made."""

import runpy
import sysconfig

from tools.mutants.declared import TREE


def test_a_python_without_the_global_lock_is_refused(monkeypatch):
    asked = sysconfig.get_config_var
    for built, refused in ((1, True), (0, False), (None, False)):
        monkeypatch.setattr(
            sysconfig, "get_config_var", lambda name: built if name == "Py_GIL_DISABLED" else asked(name)
        )
        lack = runpy.run_path(str(TREE / "tools" / "check_machine.py"))["missing"]()
        assert ("free-threaded" in (lack or "")) is refused
        assert "\n" not in (lack or "")
