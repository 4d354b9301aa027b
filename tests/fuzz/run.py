"""Fuzz passdown's readers and scanners. `python tests/fuzz/run.py --help`.

With the package `atheris` (Linux, CPython) the fuzzer is led by the code that an input reaches; without it, changed
fixtures are tried in turn. What fails is written to a file, with the command that tries it again.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
LARGEST = 1 << 16


def guided(target: str, seconds: int, found: Path, seed: int) -> None:
    """Run libFuzzer on one target in this process; it ends the process itself."""
    import atheris  # type: ignore[import-not-found]

    with atheris.instrument_imports(include=["passdown"]):
        import mutate
        import targets

        for begin in targets.seeds(target):  # a reader loads much of itself when it first reads
            targets.TARGETS[target](begin.read_bytes())
    folder = tempfile.mkdtemp(prefix="passdown-fuzz-")
    for number, begin in enumerate(targets.seeds(target)):
        Path(folder, str(number)).write_bytes(begin.read_bytes())

    def change(data: bytes, largest: int, seed: int) -> bytes:
        plain = bytes(data)
        return mutate.mutate(plain, largest, seed) if seed % 3 else bytes(atheris.Mutate(plain, largest))

    words = [
        f"-max_total_time={seconds}",
        f"-max_len={LARGEST}",
        "-timeout=20",
        "-rss_limit_mb=2000",
        "-print_final_stats=1",
        f"-seed={seed}",
    ]
    atheris.Setup(
        [sys.argv[0], *words, f"-artifact_prefix={found}/", folder], targets.TARGETS[target], custom_mutator=change
    )
    atheris.Fuzz()


def unguided(target: str, seconds: int, found: Path, seed: int) -> None:
    """Try changed seeds until the time is over. Raises what the target raises, with the input kept."""
    import mutate
    import targets

    chance, end, runs = random.Random(seed), time.monotonic() + seconds, 0
    pool = [seed.read_bytes() for seed in targets.seeds(target)] or [b"{}"]
    while time.monotonic() < end:
        data = mutate.mutate(chance.choice(pool), LARGEST, chance.getrandbits(32))
        runs += 1
        try:
            targets.TARGETS[target](data)
        except BaseException:
            (found / f"crash-{hashlib.sha256(data).hexdigest()[:16]}").write_bytes(data)
            raise
    print(f"{target}: {runs} inputs", file=sys.stderr)


def every(names: list[str], seconds: int, found: Path, seed: int) -> int:
    """Run each target in a process of its own, the time shared out; returns how many failed."""
    failed = []
    for name in names:
        share = max(1, seconds // len(names))
        argv = [
            sys.executable,
            __file__,
            "--target",
            name,
            "--seconds",
            str(share),
            "--found",
            str(found),
            "--seed",
            str(seed),
        ]
        done = subprocess.run([*argv, "--one"], capture_output=True, text=True, errors="replace", check=False)
        runs = re.search(r"number_of_executed_units: (\d+)|: (\d+) inputs", done.stderr)
        inputs = f"{runs[1] or runs[2]} inputs" if runs else "stopped early"
        print(f"{'ok' if done.returncode == 0 else 'FAILED'}  {name}: {inputs} in {share} s", flush=True)
        if done.returncode:
            failed.append(name)
            print("\n".join((done.stdout + done.stderr).splitlines()[-40:]))
    print(f"{len(names) - len(failed)} of {len(names)} targets found nothing")
    if failed:
        print(f"inputs that fail: {found}\ntry one again: {sys.executable} {__file__} --target NAME FILE")
    return len(failed)


def main() -> None:
    """Parse the command line."""
    import targets

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="*", type=Path, help="inputs to try once instead")
    parser.add_argument("--target", choices=sorted(targets.TARGETS), action="append", help="default: all of them")
    parser.add_argument("--seconds", type=int, default=60, help="in all, shared out (default 60)")
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"), help="where failing inputs are written")
    parser.add_argument("--seed", type=int, default=0, help="begin with the same inputs again; 0: other ones each time")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    names = arguments.target or sorted(targets.TARGETS)
    if arguments.file:
        for path in arguments.file:
            targets.TARGETS[names[0]](path.read_bytes())
        return
    arguments.found.mkdir(parents=True, exist_ok=True)
    if not arguments.one:
        sys.exit(1 if every(names, arguments.seconds, arguments.found.resolve(), arguments.seed) else 0)
    for module in [name for name in sys.modules if name.startswith("passdown") or name == "targets"]:
        del sys.modules[module]  # so that they are imported once more, with their branches counted
    with_atheris = find_spec("atheris") is not None and not os.environ.get("PASSDOWN_FUZZ_PLAIN")
    (guided if with_atheris else unguided)(names[0], arguments.seconds, arguments.found, arguments.seed)


if __name__ == "__main__":
    main()
