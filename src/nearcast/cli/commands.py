"""What a subcommand is given to declare itself, and what it hands back."""

import argparse
from typing import TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Parsers: TypeAlias = list[argparse.ArgumentParser]
"""All parsers that were added, so that each gets the options that all have."""


class CommandFailed(Exception):
    """A command failed for a reason that is not about a value or a file; one line says which."""
