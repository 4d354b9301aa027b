"""Tables of programs: facts about what they do with their words."""

from __future__ import annotations


def table(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


SILENT = table(
    "cd pushd popd export set unset source . alias unalias shopt umask ulimit true false : trap wait local declare "
    "typeset readonly return exit break continue shift read test [ [[ deactivate hash let getopts disown jobs fg bg "
    "setopt activate Set-Location chdir sl cls clear"
)
"""What changes or asks the shell itself: no action of its own."""

SAYS = table("echo printf Write-Output Write-Host say")
"""What says something; without a file behind `>` it is a note, beside other commands nothing."""

FEEDS = SAYS | {"yes", "true", "seq"}

SHOWS = table(
    "cat nl head tail less more bat batcat zcat tac xxd od hexdump strings file stat wc md5sum md5 sha1sum sha256sum "
    "shasum cksum sort uniq cut tr column diff cmp comm base64 fold fmt rev paste expand join colordiff sdiff cloc "
    "readelf objdump nm ldd otool identify ffprobe exiftool pdftotext zipinfo Get-Content gc type Get-FileHash "
    "Get-Item Test-Path Get-ItemProperty realpath readlink basename dirname glow mdcat"
)
"""Programs whose words are files to show. `type` shows a file on Windows alone."""

WITH_SCRIPT = table("awk gawk mawk jq yq")
"""Programs that show files, and whose first word is a script."""

FINDS = table("grep egrep fgrep zgrep rg ag ack findstr Select-String sls pcregrep ugrep ast-grep sg")
"""Programs whose first word is a pattern and whose other words are places."""

LISTS = table("ls ll la tree dir du exa eza lsd Get-ChildItem gci vdir")
FINDERS = table("find fd fdfind locate mdfind glob")
LOCATES = table("which where whereis type command Get-Command gcm whatis man apropos help info")

ENVIRONMENT = table(
    "pwd whoami id date uname env printenv hostname df free ps pgrep top htop lscpu nproc nvidia-smi history getconf "
    "locale lsb_release arch uptime lsof netstat ss ip ifconfig mount lsblk dmesg journalctl systemctl tty stty "
    "Get-Process Get-Date Get-Location Get-Variable groups users w last vmstat iostat cal ipconfig tput pstree sw_vers "
    "dpkg-query ldconfig fc-list"
)
"""Programs that show the machine, not the work."""

VALUED: dict[str, frozenset[str]] = {
    "grep": table("-A -B -C -m -e -f --include --exclude --exclude-dir --max-count --context --color --regexp"),
    "rg": table(
        "-A -B -C -m -e -f -g -t -T -j -M -r --glob --type --type-not --max-count --context --iglob --max-depth -d "
        "--sort --max-columns --replace --regexp"
    ),
    "ag": table("-A -B -C -m -G --ignore --ignore-dir"), "ack": table("-A -B -C -m --type"),
    "Select-String": table("-Pattern -Path -Context"), "ast-grep": table("-p --pattern -l --lang -r --rewrite"),
    "ls": table("-I -w --color --sort"), "tree": table("-L -I -P --filelimit"), "du": table("-d --max-depth"),
    "head": table("-n -c --lines --bytes"), "tail": table("-n -c --lines --bytes"), "cut": table("-d -f -c -b"),
    "sort": table("-k -t -o -S"), "nl": table("-b -w -s -v -n"), "cat": frozenset(),
    "diff": table("-U -x --exclude -I"),
    "wc": frozenset(), "uniq": table("-f -s -w"), "stat": table("-c -f --format --printf"), "od": table("-A -t -N -j"),
    "xxd": table("-l -s -c -g"), "hexdump": table("-n -s -e"), "strings": table("-n"), "fold": table("-w"),
    "column": table("-s -t"), "base64": table("-w"), "bat": table("-r -l --line-range --style"),
    "awk": table("-F -v -f"), "jq": table("--arg --argjson --slurpfile --indent"), "yq": table("-o -p --arg"),
    "Get-Content": table("-TotalCount -Tail -Path -LiteralPath -Encoding -First"),
    "Get-ChildItem": table("-Path -Filter -Include -Exclude -Depth -LiteralPath"),
    "mkdir": table("-m"), "touch": table("-d -t -r"), "cp": table("-t"), "mv": table("-t"), "tee": frozenset(),
    "install": table("-m -o -g"), "truncate": table("-s --size"), "chmod": frozenset(), "ln": table("-t"),
    "fd": table("-e -t -E -d --extension --type --exclude --max-depth -x -X"),
}  # fmt: skip
"""The flags of each program that take the next word."""

ALIASES = {
    "egrep": "grep", "fgrep": "grep", "zgrep": "grep", "ugrep": "grep", "pcregrep": "grep",
    "gawk": "awk", "mawk": "awk",
    "ll": "ls", "la": "ls", "exa": "ls", "eza": "ls", "dir": "ls", "vdir": "ls", "batcat": "bat", "gc": "Get-Content",
    "gci": "Get-ChildItem", "sls": "Select-String", "fdfind": "fd", "gsed": "sed", "del": "rm", "erase": "rm",
    "copy": "cp", "move": "mv", "md": "mkdir", "rd": "rmdir", "sg": "ast-grep", "Remove-Item": "rm", "ri": "rm",
    "Copy-Item": "cp", "Move-Item": "mv", "Rename-Item": "mv", "New-Item": "touch", "gmake": "make", "pip3": "pip",
    "py.test": "pytest", "podman": "docker", "gsed -i": "sed",
}  # fmt: skip

PREFIXES: dict[str, frozenset[str]] = {
    "sudo": table("-u -g -C -D --user"), "doas": table("-u"), "nohup": frozenset(), "setsid": frozenset(),
    "exec": table("-a"), "builtin": frozenset(), "nice": table("-n"), "ionice": table("-c -n"),
    "stdbuf": frozenset(), "time": table("-f -o"), "env": table("-u -C --unset --chdir"), "command": frozenset(),
    "xvfb-run": table("-s -n -e"), "caffeinate": frozenset(), "unbuffer": frozenset(), "catchsegv": frozenset(),
    "timeout": table("-k -s --signal --kill-after"), "gtimeout": table("-k -s"), "strace": table("-o -e -p -s"),
    "xargs": table("-I -n -P -L -d -s -a -i"), "parallel": table("-j --jobs -n -a"), "watch": table("-n --interval"),
    "chronic": frozenset(), "unshare": frozenset(), "winpty": frozenset(), "rtk": frozenset(), "arch": frozenset(),
    "chroot": frozenset(), "flock": frozenset(), "retry": frozenset(),
}  # fmt: skip
"""Programs that run the command behind their options; the flags named take the next word."""
SKIPS_ONE = table("timeout gtimeout chroot flock")
"""Those of them that have one more word (a duration, a folder, a lock) before the command."""

RUNS: dict[tuple[str, ...], frozenset[str]] = {
    ("uv", "run"): table("--with --extra --group --python -p --package --env-file --directory --project"),
    ("poetry", "run"): frozenset(), ("pipenv", "run"): frozenset(), ("pdm", "run"): frozenset(),
    ("rye", "run"): frozenset(), ("hatch", "run"): frozenset(), ("pixi", "run"): table("-e"),
    ("conda", "run"): table("-n -p --name"), ("mamba", "run"): table("-n -p"), ("micromamba", "run"): table("-n -p"),
    ("npx",): table("-p --package"), ("bunx",): frozenset(), ("uvx",): table("--from --with --python"),
    ("pnpm", "exec"): frozenset(), ("pnpm", "dlx"): frozenset(), ("yarn", "exec"): frozenset(),
    ("yarn", "dlx"): frozenset(), ("npm", "exec"): frozenset(), ("bun", "x"): frozenset(), ("pipx", "run"): frozenset(),
    ("bundle", "exec"): frozenset(), ("mise", "exec"): frozenset(), ("devbox", "run"): frozenset(),
    ("uv", "tool", "run"): table("--from --with --python"), ("coverage", "run"): table("--source -p --rcfile --omit"),
    ("dotenv", "run"): table("-f"), ("op", "run"): frozenset(), ("direnv", "exec"): frozenset(),
}  # fmt: skip
"""Programs that run a tool of the project, and the flags that take the next word."""
RUN_FIRST = frozenset(name[0] for name in RUNS)

SHELLS = table("sh bash zsh dash ash ksh fish")
INTERPRETERS: dict[str, tuple[str, ...]] = {
    "python": ("-c",), "node": ("-e", "--eval", "-p", "--print", "-pe"), "ruby": ("-e",), "perl": ("-e", "-ne", "-E"),
    "bun": ("-e", "--eval"), "deno": ("eval",), "php": ("-r",), "Rscript": ("-e",), "tsx": ("-e",), "ts-node": ("-e",),
    "osascript": ("-e",), "lua": ("-e",), "julia": ("-e",), "ipython": ("-c",), "psql": ("-c",), "sqlite3": (),
    "mysql": ("-e",), "ghc": ("-e",), "elixir": ("-e",), "pwsh": ("-c", "-Command"), "powershell": ("-c", "-Command"),
}  # fmt: skip
"""Programs that run a script file, or a script that stands behind one of these flags."""

INSTALLERS: dict[str, frozenset[str]] = {
    "pip": table("install uninstall download wheel"), "npm": table("install i ci add uninstall remove update link"),
    "pnpm": table("install i add remove update"), "yarn": table("install add remove upgrade"),
    "bun": table("install i add remove"), "uv": table("add remove sync lock venv"),
    "poetry": table("install add remove update lock"), "pipenv": table("install uninstall sync"),
    "pdm": table("install add remove sync"), "conda": table("install create remove update env"),
    "mamba": table("install create"), "micromamba": table("install create"),
    "apt": table("install update remove upgrade"),
    "apt-get": table("install update remove upgrade build-dep"), "apk": table("add del update"),
    "yum": table("install"),
    "dnf": table("install"), "pacman": table("-S -Sy -Syu"), "brew": table("install uninstall upgrade tap update"),
    "gem": table("install"), "bundle": table("install update add"), "cargo": table("install add fetch update"),
    "go": table("get install mod"), "composer": table("install require update"), "corepack": table("enable prepare"),
    "nvm": table("install use"), "pyenv": table("install local global"), "mix": table("deps.get"),
    "pipx": table("install"), "easy_install": frozenset(), "opam": table("install"), "dotnet": table("restore add"),
    "mise": table("install use"), "rustup": table("target component install default update"), "asdf": table("install"),
    "winget": table("install"), "choco": table("install"), "cabal": table("install"), "raco": table("pkg"),
}  # fmt: skip
"""Package managers and the subcommands that change what is installed."""
INSTALL_VALUED = table(
    "-r --requirement -c --constraint -i --index-url --extra-index-url -t --target -f --find-links --prefix --extra "
    "--group -n --name -p --python --python-version --registry -w --workspace --cwd -C --filter --timeout --only --with"
)

FORMATS = table(
    "black isort prettier gofmt goimports rustfmt autopep8 yapf clang-format shfmt stylua ruff biome eslint"
)
"""Checkers of style; those that are told to, change the files."""
