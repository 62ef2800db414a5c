"""``dragoman completion``: a script by which the shell completes commands and options."""

import click

from dragoman.cli.entry import COMPLETION_VARIABLE, PROGRAM, group


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a script by which SHELL completes the commands and options of dragoman.

    SHELL is bash, zsh or fish.

    \b
    bash: dragoman completion bash >> ~/.bashrc
    zsh:  dragoman completion zsh >> ~/.zshrc
    fish: dragoman completion fish > ~/.config/fish/completions/dragoman.fish
    """  # noqa: D301 - click looks for the backspace itself
    from click.shell_completion import ShellComplete, get_completion_class

    completer = get_completion_class(shell)
    if completer is None:
        raise AssertionError(f"click knows no completion for {shell}")
    # The base class's source: bash's own looks for a bash to run, and the script may be for another machine.
    click.echo(ShellComplete.source(completer(group, {}, PROGRAM, COMPLETION_VARIABLE)))
