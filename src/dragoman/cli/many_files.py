"""Options that take several files after one name."""

from collections.abc import Iterator, Sequence

import click


class ManyFilesCommand(click.Command):
    """A command whose repeatable path options take several files at once: ``--corpus train.en train.de``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as usual, after the option's name was put before each of its files."""
        names = {
            name
            for option in self.params
            if isinstance(option, click.Option) and option.multiple and isinstance(option.type, click.Path)
            for name in option.opts
        }
        return super().parse_args(ctx, list(_repeated(args, names)))


def _repeated(words: Sequence[str], names: set[str]) -> Iterator[str]:
    """Yield the words, with the name of a many-file option before each file after its first."""
    current, num_files = "", 0
    for word in words:
        if word.startswith("-") and word != "-":
            current, num_files = word if word in names else "", 0
        elif current:
            num_files += 1
            if num_files > 1:
                yield current
        yield word
