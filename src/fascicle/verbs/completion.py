"""Command ``fascicle completion``: prints a script that lets a shell complete commands, options
and their values.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable, Iterator
from typing import Final, Literal, get_args

from fascicle.verbs.options import option
from fascicle.verbs.parsing import Parser

_Shell = Literal["bash", "zsh"]
_WORDS: Final = """\
# Completion of fascicle; made by: fascicle completion {name}
_fascicle_words() {{ # command, word before, word so far
    case "$1:$2" in
{values}
    esac
    case "$3" in -*) case "$1" in
{options}
    esac ;; *) case "$1" in
{commands}
    esac ;; esac
}}
_fascicle_command() {{ # the words behind fascicle that are complete
    case "$1" in {several}) echo "$1${{2:+ $2}}" ;; *) echo "$1" ;; esac
}}
"""
_ENDS: Final = {
    "bash": """\
_fascicle() {
    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
    local command="$(_fascicle_command "${COMP_WORDS[@]:1:COMP_CWORD-1}")"
    COMPREPLY=($(compgen -W "$(_fascicle_words "$command" "$before" "$word")" -- "$word"))
}
complete -o default -F _fascicle fascicle
""",
    "zsh": """\
_fascicle() {
    local word="${words[CURRENT]}" before="${words[CURRENT-1]}"
    local command="$(_fascicle_command "${(@)words[2,CURRENT-1]}")"
    local -a found=(${=$(_fascicle_words "$command" "$before" "$word")})
    if (( $#found )); then compadd -- $found; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _fascicle fascicle
""",
}


class Options:
    """Options of ``fascicle completion``.

    In Python: ``fascicle.verbs.completion.script("bash")``

    Attributes:
        shell: bash: put the script into ~/.local/share/bash-completion/completions/fascicle; zsh:
            into ~/.zshrc.
    """

    shell: _Shell = option("SHELL", choices=get_args(_Shell))


def run(args: Options) -> int:
    """Prints the script; returns the exit code."""
    sys.stdout.write(script(args.shell))
    return 0


def script(shell: _Shell) -> str:
    """Returns the script for a shell."""
    from fascicle.cli import build_parser  # late, for it knows this command

    values, options, words, several = list[str](), list[str](), list[str](), list[str]()
    for path, parser in _parsers(build_parser(), ""):
        flags = [
            flag
            for action in parser._actions
            for flag in action.option_strings
            if flag.startswith("--")
        ]
        options.append(_case([path], flags))
        for action in parser._actions:
            if action.choices is None:
                continue
            if action.option_strings:
                values.append(
                    _case(
                        [f"{path}:{flag}" for flag in action.option_strings],
                        action.choices,
                        "; return",
                    )
                )
            else:
                words.append(_case([path], action.choices))
            if path and isinstance(action, argparse._SubParsersAction):
                several.append(path)
    parts = {"values": values, "options": options, "commands": words}
    filled = {name: "\n".join(f"        {line}" for line in lines) for name, lines in parts.items()}
    return _WORDS.format(name=shell, several="|".join(several), **filled) + _ENDS[shell]


def _parsers(parser: Parser, path: str) -> Iterator[tuple[str, Parser]]:
    """Yields the parser of each command, with its name; the empty name is that of all."""
    yield path, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from _parsers(below, f"{path} {name}".strip())


def _case(places: Iterable[str], words: Iterable[object], end: str = "") -> str:
    listing = " ".join(map(str, words))
    return f"{'|'.join(map(shlex.quote, places))}) echo {shlex.quote(listing)}{end} ;;"
