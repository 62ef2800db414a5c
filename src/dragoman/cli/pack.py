"""``dragoman pack``: make a trained model faster to start and to translate."""

from pathlib import Path

import click

from dragoman.cli.stop import StopSignals


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("corpus", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--precision",
    type=click.Choice(["int8", "bfloat16"]),
    default="int8",
    show_default=True,
    help="What the weights are rounded to.",
)
def command(*, model: Path, corpus: tuple[Path, ...], precision: str) -> None:
    """Pack the weights of a model once and for all.

    MODEL is a folder that 'dragoman train' made. What is packed is written beside its weights, and 'dragoman
    translate --precision int8' reads it in their place: it starts sooner and takes less memory. The folder
    needs 'model.safetensors' no more to translate with this precision.

    CORPUS is parallel text, as for 'dragoman train': two line-aligned files, or one file of pairs. Named, a
    shortlist is counted in it, for 'dragoman translate --shortlist': which pieces translate which. A training
    writes one by itself.
    """
    with StopSignals():
        from dragoman.engine import PRECISIONS
        from dragoman.run.pack import pack_model

        [chosen] = [one for one in PRECISIONS if one == precision]
        pack_model(model, chosen, corpus, told=click.echo)
