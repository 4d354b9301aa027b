"""Tables of programs: facts about what they do with their words."""

from __future__ import annotations


def _table(words: str) -> frozenset[str]:
    return frozenset(words.split())


SILENT = _table(
    "cd pushd popd export set unset source . alias unalias shopt umask ulimit true false : trap wait local declare "
    "typeset readonly return exit break continue shift read test [ [[ deactivate hash let getopts disown jobs fg bg "
    "setopt activate Set-Location chdir sl cls clear"
)
"""What changes or asks the shell itself: no action of its own."""

SAYS = _table("echo printf Write-Output Write-Host say")
"""What says something; without a file behind `>` it is a note, beside other commands nothing."""

FEEDS = SAYS | {"yes", "true", "seq"}

SHOWS = _table(
    "cat nl head tail less more bat batcat zcat tac xxd od hexdump strings file stat wc md5sum md5 sha1sum sha256sum "
    "shasum cksum sort uniq cut tr column diff cmp comm base64 fold fmt rev paste expand join colordiff sdiff cloc "
    "readelf objdump nm ldd otool identify ffprobe exiftool pdftotext zipinfo Get-Content gc type Get-FileHash "
    "Get-Item Test-Path Get-ItemProperty realpath readlink basename dirname glow mdcat"
)
"""Programs whose words are files to show. `type` shows a file on Windows alone."""

WITH_SCRIPT = _table("awk gawk mawk jq yq")
"""Programs that show files, and whose first word is a script."""

FINDS = _table("grep egrep fgrep zgrep rg ag ack findstr Select-String sls pcregrep ugrep ast-grep sg")
"""Programs whose first word is a pattern and whose other words are places."""

LISTS = _table("ls ll la tree dir du exa eza lsd Get-ChildItem gci vdir")
FINDERS = _table("find fd fdfind locate mdfind glob")
LOCATES = _table("which where whereis type command Get-Command gcm whatis man apropos help info")

ENVIRONMENT = _table(
    "pwd whoami id date uname env printenv hostname df free ps pgrep top htop lscpu nproc nvidia-smi history getconf "
    "locale lsb_release arch uptime lsof netstat ss ip ifconfig mount lsblk dmesg journalctl systemctl tty stty "
    "Get-Process Get-Date Get-Location Get-Variable groups users w last vmstat iostat cal ipconfig tput pstree sw_vers "
    "dpkg-query ldconfig fc-list"
)
"""Programs that show the machine, not the work."""

VALUED: dict[str, frozenset[str]] = {
    "grep": _table("-A -B -C -m -e -f --include --exclude --exclude-dir --max-count --context --color --regexp"),
    "rg": _table(
        "-A -B -C -m -e -f -g -t -T -j -M -r --glob --type --type-not --max-count --context --iglob --max-depth -d "
        "--sort --max-columns --replace --regexp"
    ),
    "ag": _table("-A -B -C -m -G --ignore --ignore-dir"), "ack": _table("-A -B -C -m --type"),
    "Select-String": _table("-Pattern -Path -Context"), "ast-grep": _table("-p --pattern -l --lang -r --rewrite"),
    "ls": _table("-I -w --color --sort"), "tree": _table("-L -I -P --filelimit"), "du": _table("-d --max-depth"),
    "head": _table("-n -c --lines --bytes"), "tail": _table("-n -c --lines --bytes"), "cut": _table("-d -f -c -b"),
    "sort": _table("-k -t -o -S"), "nl": _table("-b -w -s -v -n"), "cat": frozenset(), "diff": _table("-U -x --exclude -I"),
    "wc": frozenset(), "uniq": _table("-f -s -w"), "stat": _table("-c -f --format --printf"), "od": _table("-A -t -N -j"),
    "xxd": _table("-l -s -c -g"), "hexdump": _table("-n -s -e"), "strings": _table("-n"), "fold": _table("-w"),
    "column": _table("-s -t"), "base64": _table("-w"), "bat": _table("-r -l --line-range --style"),
    "awk": _table("-F -v -f"), "jq": _table("--arg --argjson --slurpfile --indent"), "yq": _table("-o -p --arg"),
    "Get-Content": _table("-TotalCount -Tail -Path -LiteralPath -Encoding -First"),
    "Get-ChildItem": _table("-Path -Filter -Include -Exclude -Depth -LiteralPath"),
    "mkdir": _table("-m"), "touch": _table("-d -t -r"), "cp": _table("-t"), "mv": _table("-t"), "tee": frozenset(),
    "install": _table("-m -o -g"), "truncate": _table("-s --size"), "chmod": frozenset(), "ln": _table("-t"),
    "fd": _table("-e -t -E -d --extension --type --exclude --max-depth -x -X"),
}  # fmt: skip
"""The flags of each program that take the next word."""

ALIASES = {
    "egrep": "grep", "fgrep": "grep", "zgrep": "grep", "ugrep": "grep", "pcregrep": "grep", "gawk": "awk", "mawk": "awk",
    "ll": "ls", "la": "ls", "exa": "ls", "eza": "ls", "dir": "ls", "vdir": "ls", "batcat": "bat", "gc": "Get-Content",
    "gci": "Get-ChildItem", "sls": "Select-String", "fdfind": "fd", "gsed": "sed", "del": "rm", "erase": "rm",
    "copy": "cp", "move": "mv", "md": "mkdir", "rd": "rmdir", "sg": "ast-grep", "Remove-Item": "rm", "ri": "rm",
    "Copy-Item": "cp", "Move-Item": "mv", "Rename-Item": "mv", "New-Item": "touch", "gmake": "make", "pip3": "pip",
    "py.test": "pytest", "podman": "docker", "gsed -i": "sed",
}  # fmt: skip

PREFIXES: dict[str, frozenset[str]] = {
    "sudo": _table("-u -g -C -D --user"), "doas": _table("-u"), "nohup": frozenset(), "setsid": frozenset(),
    "exec": _table("-a"), "builtin": frozenset(), "nice": _table("-n"), "ionice": _table("-c -n"),
    "stdbuf": frozenset(), "time": _table("-f -o"), "env": _table("-u -C --unset --chdir"), "command": frozenset(),
    "xvfb-run": _table("-s -n -e"), "caffeinate": frozenset(), "unbuffer": frozenset(), "catchsegv": frozenset(),
    "timeout": _table("-k -s --signal --kill-after"), "gtimeout": _table("-k -s"), "strace": _table("-o -e -p -s"),
    "xargs": _table("-I -n -P -L -d -s -a -i"), "parallel": _table("-j --jobs -n -a"), "watch": _table("-n --interval"),
    "chronic": frozenset(), "unshare": frozenset(), "winpty": frozenset(), "rtk": frozenset(), "arch": frozenset(),
    "chroot": frozenset(), "flock": frozenset(), "retry": frozenset(),
}  # fmt: skip
"""Programs that run the command behind their options; the flags named take the next word."""
SKIPS_ONE = _table("timeout gtimeout chroot flock")
"""Those of them that have one more word (a duration, a folder, a lock) before the command."""

RUNS: dict[tuple[str, ...], frozenset[str]] = {
    ("uv", "run"): _table("--with --extra --group --python -p --package --env-file --directory --project"),
    ("poetry", "run"): frozenset(), ("pipenv", "run"): frozenset(), ("pdm", "run"): frozenset(),
    ("rye", "run"): frozenset(), ("hatch", "run"): frozenset(), ("pixi", "run"): _table("-e"),
    ("conda", "run"): _table("-n -p --name"), ("mamba", "run"): _table("-n -p"), ("micromamba", "run"): _table("-n -p"),
    ("npx",): _table("-p --package"), ("bunx",): frozenset(), ("uvx",): _table("--from --with --python"),
    ("pnpm", "exec"): frozenset(), ("pnpm", "dlx"): frozenset(), ("yarn", "exec"): frozenset(),
    ("yarn", "dlx"): frozenset(), ("npm", "exec"): frozenset(), ("bun", "x"): frozenset(), ("pipx", "run"): frozenset(),
    ("bundle", "exec"): frozenset(), ("mise", "exec"): frozenset(), ("devbox", "run"): frozenset(),
    ("uv", "tool", "run"): _table("--from --with --python"), ("coverage", "run"): _table("--source -p --rcfile --omit"),
    ("dotenv", "run"): _table("-f"), ("op", "run"): frozenset(), ("direnv", "exec"): frozenset(),
}  # fmt: skip
"""Programs that run a tool of the project, and the flags that take the next word."""
RUN_FIRST = frozenset(name[0] for name in RUNS)

SHELLS = _table("sh bash zsh dash ash ksh fish")
INTERPRETERS: dict[str, tuple[str, ...]] = {
    "python": ("-c",), "node": ("-e", "--eval", "-p", "--print", "-pe"), "ruby": ("-e",), "perl": ("-e", "-ne", "-E"),
    "bun": ("-e", "--eval"), "deno": ("eval",), "php": ("-r",), "Rscript": ("-e",), "tsx": ("-e",), "ts-node": ("-e",),
    "osascript": ("-e",), "lua": ("-e",), "julia": ("-e",), "ipython": ("-c",), "psql": ("-c",), "sqlite3": (),
    "mysql": ("-e",), "ghc": ("-e",), "elixir": ("-e",), "pwsh": ("-c", "-Command"), "powershell": ("-c", "-Command"),
}  # fmt: skip
"""Programs that run a script file, or a script that stands behind one of these flags."""

INSTALLERS: dict[str, frozenset[str]] = {
    "pip": _table("install uninstall download wheel"), "npm": _table("install i ci add uninstall remove update link"),
    "pnpm": _table("install i add remove update"), "yarn": _table("install add remove upgrade"),
    "bun": _table("install i add remove"), "uv": _table("add remove sync lock venv"),
    "poetry": _table("install add remove update lock"), "pipenv": _table("install uninstall sync"),
    "pdm": _table("install add remove sync"), "conda": _table("install create remove update env"),
    "mamba": _table("install create"), "micromamba": _table("install create"), "apt": _table("install update remove upgrade"),
    "apt-get": _table("install update remove upgrade build-dep"), "apk": _table("add del update"), "yum": _table("install"),
    "dnf": _table("install"), "pacman": _table("-S -Sy -Syu"), "brew": _table("install uninstall upgrade tap update"),
    "gem": _table("install"), "bundle": _table("install update add"), "cargo": _table("install add fetch update"),
    "go": _table("get install mod"), "composer": _table("install require update"), "corepack": _table("enable prepare"),
    "nvm": _table("install use"), "pyenv": _table("install local global"), "mix": _table("deps.get"),
    "pipx": _table("install"), "easy_install": frozenset(), "opam": _table("install"), "dotnet": _table("restore add"),
    "mise": _table("install use"), "rustup": _table("target component install default update"), "asdf": _table("install"),
    "winget": _table("install"), "choco": _table("install"), "cabal": _table("install"), "raco": _table("pkg"),
}  # fmt: skip
"""Package managers and the subcommands that change what is installed."""
INSTALL_VALUED = _table(
    "-r --requirement -c --constraint -i --index-url --extra-index-url -t --target -f --find-links --prefix --extra "
    "--group -n --name -p --python --python-version --registry -w --workspace --cwd -C --filter --timeout --only --with"
)

FORMATS = _table(
    "black isort prettier gofmt goimports rustfmt autopep8 yapf clang-format shfmt stylua ruff biome eslint"
)
"""Checkers of style; those that are told to, change the files."""
