"""The command line: `codemode demo|exec|tools|serve|doctor`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = ("demo", "exec", "tools", "serve", "doctor")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        argv: Arguments without the program's name; those of the process by default.

    Returns:
        The exit status: 0 fine, 1 the program or a check failed, 2 wrong use.
    """
    from importlib import import_module

    from codemode import __version__

    parser = argparse.ArgumentParser(
        prog="codemode", description="Run programs of a model over tools, in a confined process."
    )
    parser.add_argument("--version", action="version", version=f"codemode {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    modules = {name: import_module(f"codemode.cli.{name}_command") for name in _COMMANDS}
    for name, module in modules.items():
        summary = module.SUMMARY
        module.add_arguments(commands.add_parser(name, help=summary, description=summary))
    arguments = parser.parse_args(argv)
    try:
        status: int = modules[arguments.command].run(arguments)
    except KeyboardInterrupt:
        return 130
    except UsageError as error:
        sys.stderr.write(f"codemode {arguments.command}: {error}\n")
        return 2
    return status


class UsageError(Exception):
    """The command was used wrongly; the text says what to do."""
