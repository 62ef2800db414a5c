"""On which line of a TOML file each key stands; Python's own reader does not say."""

import tomllib

_LONGEST_STATEMENT_LINES = 200

KeyPath = tuple[str, ...]


def find_lines(text: str) -> dict[KeyPath, int]:
    """Return the line on which each table and key of a valid TOML text first stands, counted from 1.

    The text is cut into statements (a header, or a key with its value), each the shortest run of lines
    that TOML's grammar accepts by itself, so multi-line strings and arrays cannot mislead it. A statement
    of more than 200 lines is no configuration: the search ends there, and later keys have no line.
    """
    lines: dict[KeyPath, int] = {}
    header: KeyPath = ()
    statement: list[str] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        statement.append(line)
        try:
            parsed = tomllib.loads("\n".join(statement))
        except (ValueError, RecursionError):
            if len(statement) > _LONGEST_STATEMENT_LINES:
                break
            continue
        start = number - len(statement) + 1
        if statement[0].lstrip().startswith("["):
            header = _first_path(parsed)
            lines.setdefault(header, start)
        else:
            for path in _paths(parsed):
                lines.setdefault(header + path, start)
        statement = []
    return lines


def _first_path(table: dict[str, object]) -> KeyPath:
    for key, value in table.items():
        return (key, *_first_path(value)) if isinstance(value, dict) else (key,)
    return ()


def _paths(table: dict[str, object]) -> list[KeyPath]:
    paths: list[KeyPath] = []
    for key, value in table.items():
        paths.append((key,))
        if isinstance(value, dict):
            paths.extend((key, *path) for path in _paths(value))
    return paths
