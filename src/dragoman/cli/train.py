"""``dragoman train``."""

from pathlib import Path

import click

from dragoman.cli.options import configuration_options


@click.command()
@click.argument("corpus", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The model folder, new or empty.")
@click.option("--source", "source_language", help="Source language; left out, the suffix of its file.")
@click.option("--target", "target_language", help="Target language; left out, the suffix of its file.")
@click.option("--dev", multiple=True, type=click.Path(path_type=Path), help="Development pairs.")
@click.option("--test", multiple=True, type=click.Path(path_type=Path), help="Test pairs.")
@configuration_options
@click.option("--seed", type=int, help="Start of every random choice; short for --set train.seed=N.")
@click.option("--resume", is_flag=True, help="Go on with the run in --out, exactly where it stopped.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N.")
@click.option("--dry-run", is_flag=True, help="Check and plan; write and train nothing.")
@click.pass_context
def command(context: click.Context, **arguments: object) -> None:
    """Learn to translate."""
    import logging
    from dragoman.run import Reporter, TrainOptions, train

    class R(Reporter):
        def notice(self, text): click.echo(text, err=True)
        def stage(self, text): click.echo(text, err=True)
        def planned(self, plan): click.echo(plan, err=True)
        def stepped(self, progress, result, rate):
            if progress.step % 50 == 0: click.echo(f"{progress.step} {result.plain_loss:.3f} {rate:.5f} {progress.num_target_tokens/progress.seconds:.0f} tok/s", err=True)
        def validated(self, progress, scores, samples, *, is_best): click.echo(f"{progress.step} {scores} {progress.seconds:.0f}", err=True)
    a = arguments
    o = train(a["corpus"], a["out"], TrainOptions(source_language=a["source_language"], target_language=a["target_language"], dev=a["dev"], test=a["test"], recipe=a["recipe"] or "auto", config_file=a["config_file"], settings=a["settings"], resume=a["resume"], device=a["device"], dry_run=a["dry_run"]), reporter=R())
    click.echo(o.test_scores and "\n".join(o.test_scores.lines()))
