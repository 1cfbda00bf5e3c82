"""Command ``fascicle tokens``: makes and withdraws the named tokens of a service."""

from __future__ import annotations

import sys
from typing import get_args

from fascicle.serving.tokens import add_token, read_tokens, withdraw_token
from fascicle.settings.serving import Role
from fascicle.verbs.messages import say
from fascicle.verbs.options import call, fills, option, reads


class Withdraw:
    """Withdraw the token of somebody; a running service refuses it after SIGHUP.

    In Python: ``fascicle.serving.tokens.withdraw_token("tokens.json", "Ada")``

    Attributes:
        path: of tokens.
        name: whose token it is.
    """

    path: str = option("FILE", fills)
    name: str = option("NAME")


class Add(Withdraw):
    """Make a token for somebody, print it once, and keep its hash.

    In Python: ``fascicle.serving.tokens.add_token("tokens.json", "Ada")``

    Attributes:
        path: of tokens; made if there is none.
        name: whose token it is.
        role: what it allows; default: curator.
    """

    role: str = option("--role", choices=get_args(Role), default="curator")


class ListTokens:
    """List the tokens: whose they are, their roles, and when they were made.

    In Python: ``fascicle.serving.tokens.read_tokens("tokens.json")``

    Attributes:
        path: of tokens.
    """

    path: str = option("FILE", reads)


def _run_add(args: Add) -> int:
    """Prints a new token; returns the exit code."""
    sys.stdout.write(call(add_token, args) + "\n")
    say(f"this token is shown only now; {args.path} has only its hash")
    return 0


def _run_withdraw(args: Withdraw) -> int:
    """Withdraws a token; returns the exit code."""
    call(withdraw_token, args)
    say(f"withdrew the token of {args.name}; send SIGHUP to a service that runs")
    return 0


def _run_ls(args: ListTokens) -> int:
    """Lists tokens; returns the exit code."""
    for token in read_tokens(args.path):
        sys.stdout.write(f"{token.name}\t{token.role}\t{token.made}\n")
    return 0


COMMANDS = {
    "add": (Add, _run_add),
    "withdraw": (Withdraw, _run_withdraw),
    "ls": (ListTokens, _run_ls),
}
