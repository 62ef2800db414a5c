"""``dragoman build-engine``: compile the native engine where the package came without it."""

import click


@click.command()
def command() -> None:
    """Compile the native engine for this computer; it needs a C++ compiler.

    The engine translates on a processor several times as fast as PyTorch. Installing dragoman builds it where
    there is a compiler, so this is for what was installed without one. The library is written into the
    package, or into the cache of the user where the package cannot be written.
    """
    from dragoman.engine.build import BuildError, build, places
    from dragoman.errors import EngineError

    for folder in places():
        try:
            click.echo(f"built {build(folder)}")
        except BuildError as error:
            raise EngineError(
                str(error), hint="install one (on Debian and Ubuntu the package g++)"
            ) from error
        except OSError:
            continue
        return
    raise EngineError(
        f"none of {', '.join(map(str, places()))} can be written",
        hint="set XDG_CACHE_HOME to a folder that can",
    )
