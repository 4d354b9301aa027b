"""`passdown init`: a configuration that names every option, and what it says of one that cannot be used."""

from __future__ import annotations

import re
from typing import Any

from passdown.config import Budget, Config, Hooks, load_config


def test_the_file_names_every_option_at_its_default(repository: Any, passdown: Any) -> None:
    assert passdown("init", folder=repository.root).returncode == 0
    path = repository.root / "passdown.toml"
    assert load_config(repository.root) == Config()
    path.write_text(re.sub(r"(?m)^# ([a-z.-]+ = )", r"\1", path.read_text()))
    named = re.findall(r"(?m)^([a-z.-]+) = ", path.read_text())
    wanted = [name for name in Config.__struct_encode_fields__ if name not in ("hooks", "budget")]
    wanted += [f"hooks.{name}" for name in Hooks.__struct_encode_fields__]
    wanted += [f"budget.{name}" for name in Budget.__struct_encode_fields__]
    assert sorted(named) == sorted(wanted)
    assert load_config(repository.root) == Config()


def test_a_configuration_that_cannot_be_used_is_no_success(repository: Any, passdown: Any) -> None:
    for text, says in (
        ("output = \n", "is not TOML"),
        ('outptu = "x"\n', "Known: output, mirror, "),
        ("[budget]\nwrapup = 0.7\n", "Known: prepare, wrap-up, "),
        ("[hooks]\npublis = 'off'\n", "Known: publish, "),
        ("lease-minutes = 'a'\n", "Mend the file."),
    ):
        (repository.root / "passdown.toml").write_text(text)
        for words in (("init",), ("status",)):
            done = passdown(*words, folder=repository.root)
            assert (done.returncode, done.stdout) == (2, b"")
            assert says in done.stderr.decode()


def test_a_folder_of_packets_that_leads_outside_is_named(repository: Any, passdown: Any) -> None:
    (repository.root / "passdown.toml").write_text('output = "../packets"\n')
    done = passdown("status", folder=repository.root)
    assert (done.returncode, "output = '../packets'" in done.stderr.decode()) == (8, True)
