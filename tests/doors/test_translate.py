"""``dragoman translate`` by the real command line."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from copying import CopySearcher, Ended, Translate
from dragoman.model_files import Outline
from dragoman.text import Tokenizer

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1", "OMP_NUM_THREADS": "1"}
TIMEOUT_SECONDS = 60

pytestmark = pytest.mark.untraced


@pytest.fixture
def process(copy_model: Path) -> "subprocess.Popen[bytes]":
    """A running ``dragoman translate`` that reads a pipe and has translated one line already."""
    running = subprocess.Popen(
        [sys.executable, "-m", "dragoman", "translate", str(copy_model)],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert ask(running, "ba be") == "ba be"
    return running


def ask(running: "subprocess.Popen[bytes]", line: str) -> str:
    """Write one line, wait for one line."""
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdin.write(f"{line}\n".encode())
    running.stdin.flush()
    return running.stdout.readline().decode().rstrip("\n")


def end(running: "subprocess.Popen[bytes]") -> tuple[int, str]:
    """Wait for the end, and return exit code and standard error."""
    assert running.stderr is not None
    code = running.wait(TIMEOUT_SECONDS)
    return code, running.stderr.read().decode()


def test_a_filter_translates_line_by_line(translate: Translate) -> None:
    """Standard input goes to standard output, line n to line n, and nothing else is said."""
    assert translate(text="ba be bi\nda\ngu go\n") == Ended(0, ["ba be bi", "da", "gu go"], "")


def test_file_and_standard_input_give_the_same(translate: Translate, tmp_path: Path) -> None:
    """A file, a compressed file and standard input are translated alike."""
    text = "ba be bi\n\nda\ngu go do\n"
    (tmp_path / "plain").write_text(text, encoding="utf-8")
    (tmp_path / "packed").write_bytes(gzip.compress(text.encode()))
    lines = translate(text=text).lines

    assert translate(tmp_path / "plain").lines == lines
    assert translate(tmp_path / "packed").lines == lines
    assert translate("-", text=gzip.compress(text.encode())).lines == lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("ba", ["ba"]),
        ("ba\r\nda\r\n", ["ba", "da"]),
        ("\n \n\t\nba\n\n", ["", "", "", "ba", ""]),
        ("\ufeffba\n", ["ba"]),
    ],
)
def test_as_many_lines_out_as_in(text: str, expected: list[str], translate: Translate) -> None:
    """A last line without LF counts, blank lines stay blank, no input is no output."""
    assert translate(text=text) == Ended(0, expected, "")


@pytest.mark.parametrize(
    ("case", "count"),
    [
        ("S01-line-separators/src.txt", 8),
        ("S02-lone-cr/src.txt", 8),
        ("S03-crlf-one-side/src.txt", 8),
        ("S04-bom-source/src.txt", 8),
        ("S07-final-newline/one.txt", 3),
        ("S07-final-newline/no-final-newline.txt", 3),
        ("S07-final-newline/two-blank-at-end.txt", 5),
        ("S11-marker-characters/src.txt", 6),
        ("S16-literal-at-at/text.txt", 8),
        ("S18-joiners/text.txt", 5),
        ("S19-nul-bytes/src.txt", 6),
        ("S22-literal-specials/text.txt", 8),
        ("S28-batch-invariance/src.txt", 64),
        ("S49-emoji-in-the-middle/text.txt", 5),
    ],
)
def test_hard_files_keep_their_lines(case: str, count: int, shared: Path, translate: Translate) -> None:
    """Files on which other tools lost or gained lines give a line for each of theirs."""
    ended = translate(shared / "cases" / case)

    assert (ended.code, len(ended.lines)) == (0, count)
    assert all("\r" not in line for line in ended.lines)


def test_two_thousand_lines_are_translated_as_alone(shared: Path, translate: Translate) -> None:
    """S09: every line in its place, blank ones blank, whatever the size of a batch."""
    file = shared / "cases" / "S09-two-thousand-lines" / "src.txt"
    sources = file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    found = [translate(file, "--beam-size", 2, "--batch-tokens", size).lines for size in (1, 16, 256, 4_096)]
    chosen = random.Random(9).sample(range(2_000), 50)
    alone = [translate("--beam-size", 2, text=f"{sources[i]}\n").lines[0] for i in chosen]

    assert [len(lines) for lines in found] == [2_000] * 4
    assert all(lines == found[0] for lines in found)
    assert [found[0][i] for i in chosen] == alone
    assert all(found[0][i] == "" for i in range(2_000) if not sources[i])
    assert sum(not source for source in sources) == 89


def test_empty_segments_have_an_empty_entry(shared: Path, translate: Translate) -> None:
    """S51: one result for each text in its turn; an empty one has one empty entry, others all theirs."""
    body = json.loads((shared / "cases" / "S51-empty-segments" / "body.json").read_text(encoding="utf-8"))
    options = ("--format", "jsonl", "--n-best", body["n_best"])
    ended = translate(*options, text="".join(f"{text}\n" for text in body["text"]))
    texts = [[one["translation"] for one in json.loads(line)["alternatives"]] for line in ended.lines]
    alone = [json.loads(translate(*options, text=f"{text}\n").lines[0]) for text in ("the boat", "the river")]

    assert [len(own) for own in texts] == [1, 3, 1, 3, 1]
    assert texts[0] == texts[2] == texts[4] == [""]
    assert texts[1::2] == [[one["translation"] for one in own["alternatives"]] for own in alone]


@pytest.mark.parametrize("case", ["S17-literal-block/text.txt", "S50-placeholders/text.txt"])
def test_hard_texts_reach_the_model_whole(
    case: str, shared: Path, copy_model: Path, translate: Translate
) -> None:
    """S17, S50: what a text spells is never cut, escaped or replaced on its way in: each piece is counted."""
    ended = translate(shared / "cases" / case, "--format", "jsonl", "--beam-size", 1)
    found = [json.loads(line) for line in ended.lines]
    sources = (shared / "cases" / case).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    tokenizer = Tokenizer.load(copy_model / "tokenizer.model")

    assert [one["source"] for one in found] == sources
    for one, source in zip(found, sources, strict=True):
        ids = tokenizer.encode(source)

        assert tokenizer.decode(ids) == source
        assert one["num_source_pieces"] == len(ids) + 1


def test_markup_words_lengthen_the_source(translate: Translate) -> None:
    """Words after an emoji, or after what is spelled like a control piece, reach the model."""
    texts = ["ba", "ba \U0001f600 be bi", "ba </s> be bi", "ba <pad> be", "ba </s> be bi bo"]
    ended = translate("--format", "jsonl", text="".join(f"{text}\n" for text in texts))
    lengths = [json.loads(line)["num_source_pieces"] for line in ended.lines]

    assert lengths[0] + 2 < lengths[1]
    assert lengths[2] + 1 == lengths[4]
    assert lengths[0] < lengths[3]


def test_blank_lines_change_no_other(shared: Path, translate: Translate) -> None:
    """Lines among blank ones are translated as they are alone, from a file and from standard input."""
    file = shared / "cases" / "S06-blank-lines-translate" / "src.txt"
    sources = file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    whole = translate(file).lines
    alone = [translate(text=f"{source}\n").lines[0] for source in sources]

    assert whole == alone == translate(text=file.read_bytes()).lines
    assert [whole[number - 1] for number in (1, 3, 6, 7, 9)] == [""] * 5


def test_over_long_line_is_told_and_disturbs_no_other(shared: Path, translate: Translate) -> None:
    """S08: a line longer than the model reads is translated in parts, and a warning tells its lengths."""
    file = shared / "cases" / "S08-long-line-in-the-middle" / "src.txt"
    ended = translate(file)
    sources = file.read_bytes().removesuffix(b"\n").split(b"\n")
    alone = [translate(text=line).lines[0] for line in (*sources[:2], *sources[3:])]

    assert (ended.code, len(ended.lines)) == (0, 5)
    assert [*ended.lines[:2], *ended.lines[3:]] == alone
    assert ended.lines[2]
    assert ended.said == (
        "warning: line 3 has 30,001 pieces, more than the 64 the model reads at once; "
        "it is translated in 500 parts\n"
    )


def test_long_lines_keep_their_white_space(translate: Translate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spaces and tabs before, between and after the parts of a line are written as they are read."""
    words = "\tba  be \t bi." + "   de" * 30
    lines = [f"  {words}\t{words}\t ", "ba", f"{' ' * 200}ba", f"ba{' ' * 200}", f"{words}\N{NO-BREAK SPACE}"]
    monkeypatch.setattr(
        "dragoman.translator.load_searcher", lambda folder, **_: (Outline.read(folder), CopySearcher())
    )
    ended = translate(text="".join(f"{line}\n" for line in lines))

    assert (ended.code, ended.lines) == (0, lines)
    assert "line 1 has " in ended.said


@pytest.mark.parametrize("batch_tokens", [1, 64, 4_096])
def test_batches_change_nothing(batch_tokens: int, translate: Translate) -> None:
    """Two thousand lines come out in order, whatever is translated at once, as fifty of them do alone."""
    chance = random.Random(2)
    count = 2_000 if batch_tokens == 4_096 else 60
    words = ["ba", "de", "gi", "bo", "du"]
    sources = [" ".join(chance.choices(words, k=chance.randint(0, 6))) for _ in range(count)]
    text = "".join(f"{source}\n" for source in sources)
    whole = translate("--beam-size", 2, "--batch-tokens", batch_tokens, text=text).lines
    chosen = chance.sample(range(count), 50)
    alone = translate("--beam-size", 2, "--batch-tokens", 1, text="".join(f"{sources[i]}\n" for i in chosen))

    assert len(whole) == count
    assert [whole[i] for i in chosen] == alone.lines
    assert [not line for line in whole] == [not source for source in sources]


@pytest.mark.parametrize("beam_size", [1, 4])
def test_order_of_lines_changes_nothing(beam_size: int, shared: Path, translate: Translate) -> None:
    """Lines given in reverse have the same translations, and scores within 1e-4."""
    lines = (shared / "cases/S28-batch-invariance/src.txt").read_text(encoding="utf-8").split("\n")[:-1]
    found = {}
    for name, texts, batch_tokens in (("forth", lines, 4_096), ("back", lines[::-1], 100)):
        ended = translate(
            *("--format", "jsonl", "--beam-size", beam_size, "--batch-tokens", batch_tokens),
            text="".join(f"{text}\n" for text in texts),
        )
        found[name] = [json.loads(line) for line in ended.lines]

    for forth, back in zip(found["forth"], found["back"][::-1], strict=True):
        assert forth["translation"] == back["translation"]
        assert forth["score"] == pytest.approx(back["score"], abs=1e-4)


@pytest.mark.parametrize("alpha", [0, 0.6, 1])
def test_first_of_the_n_best_is_the_best(alpha: float, translate: Translate) -> None:
    """The best translation does not depend on how many are asked for, and scores fall down the list."""
    text = "ba be bi\n\nxyz gu\n"
    options = ("--format", "jsonl", "--beam-size", 5, "--length-penalty", alpha)
    lists = {
        n_best: [json.loads(line) for line in translate(*options, "--n-best", n_best, text=text).lines]
        for n_best in (1, 2, 5)
    }

    for one, two, five in zip(*lists.values(), strict=True):
        scores = [alternative["score"] for alternative in five["alternatives"]]

        assert one["translation"] == two["translation"] == five["translation"]
        assert one["score"] == pytest.approx(five["score"], abs=1e-5)
        assert scores == sorted(scores, reverse=True)
        assert len(scores) == len({tuple(found["pieces"]) for found in five["alternatives"]})
    assert [len(found["alternatives"]) for found in lists[5]][1] == 1


def test_n_best_is_written_as_moses_does(translate: Translate) -> None:
    """Several translations have three fields each, numbered from 0; a blank line has one empty entry."""
    ended = translate("--n-best", 2, text="ba be\n\nda\n")
    fields = [line.split(" ||| ") for line in ended.lines]

    assert [field[0] for field in fields] == ["0", "0", "1", "2", "2"]
    assert (fields[0][1], fields[2][1], fields[3][1]) == ("ba be", "", "da")
    assert all(len(field) == 3 and float(field[2]) <= 0 for field in fields)


def test_scores_stand_before_the_text(translate: Translate) -> None:
    """With scores a line is score, tab, text, and the score is that of the other formats."""
    text = "ba be\n\n"
    ended = translate("--scores", text=text)
    expected = [json.loads(line) for line in translate("--format", "jsonl", text=text).lines]

    assert [line.split("\t")[1] for line in ended.lines] == ["ba be", ""]
    for line, one in zip(ended.lines, expected, strict=True):
        assert float(line.split("\t")[0]) == pytest.approx(one["score"], abs=1e-6)


def test_json_tells_pieces_and_their_scores(translate: Translate) -> None:
    """The score of an alternative is the sum of its pieces' scores, divided by the length penalty."""
    ended = translate("--format", "jsonl", "--length-penalty", 0, text="ba be bi\n")
    (best,) = json.loads(ended.lines[0])["alternatives"]

    assert best["pieces"] == ["▁ba", "▁be", "▁bi"]
    assert len(best["piece_scores"]) == 4
    assert sum(best["piece_scores"]) == pytest.approx(best["score"], abs=1e-6)


def test_output_is_written_whole(translate: Translate, tmp_path: Path) -> None:
    """The file of the results appears with all its lines and leaves nothing beside it."""
    output = tmp_path / "out.txt"
    output.write_text("old\n", encoding="utf-8")
    ended = translate("--output", output, text="ba be\n\nda\n")

    assert ended == Ended(0, [], "")
    assert output.read_text(encoding="utf-8") == "ba be\n\nda\n"
    assert list(tmp_path.iterdir()) == [output]


def test_failed_output_leaves_what_was_there(translate: Translate, tmp_path: Path) -> None:
    """When a line cannot be read, the file of the results stays as it was."""
    output = tmp_path / "out.txt"
    output.write_text("old\n", encoding="utf-8")
    ended = translate("--output", output, text=b"ba\n\xff\n")

    assert ended.code == 1
    assert output.read_text(encoding="utf-8") == "old\n"
    assert list(tmp_path.iterdir()) == [output]


def test_bad_line_of_a_pipe_comes_after_the_good_ones(translate: Translate) -> None:
    """Lines before one that is not UTF-8 are translated, and the error names the line."""
    ended = translate(text=b"ba be\nda\n\xffba\n")

    assert (ended.code, ended.lines) == (1, ["ba be", "da"])
    assert ended.said.startswith("error: standard input, line 3: byte 1 of the line is 0xFF")
    assert "iconv -f ISO-8859-1 -t UTF-8'" in ended.said


def test_bad_line_of_a_file_is_found_before_any_work(translate: Translate, tmp_path: Path) -> None:
    """A file with a line that is not UTF-8 is refused as a whole."""
    file = tmp_path / "bad.txt"
    file.write_bytes(b"ba be\n\xffba\n")
    ended = translate(file)

    assert (ended.code, ended.lines) == (1, [])
    assert ended.said.startswith(f"error: {file}, line 2: ")


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        ("--n-best 5", 2, "--n-best 5: greater than the beam size of 4; "),
        (
            "--n-best 2 --format text",
            2,
            "2 translations of each line and --format text: text has one",
        ),
        ("--beam-size 0", 2, "--beam-size 0: must be a whole number of at least 1 and at most 1000"),
        ("--length-penalty nan", 2, "--length-penalty nan: must be a number of at least -10 and at most 10"),
        ("--batch-tokens -1 --n-best 0", 2, "--n-best 0: must be a whole number of at least 1; "),
        ("--threads 0", 2, "invalid value for '--threads': 0 is not in the range"),
        ("--device gpu", 2, "--device gpu: must be auto, cpu, cuda or cuda:N"),
        ("--format xml", 2, "invalid value for '--format': 'xml' is not one of 'text', 'jsonl', 'moses'"),
        ("--output /nowhere/out.txt", 2, "--output /nowhere/out.txt: there is no folder /nowhere"),
        ("--output /", 2, "--output /: this is a folder"),
        ("/nowhere/text.txt", 1, "/nowhere/text.txt: no such file"),
        ("/", 1, "/ is a folder, not a text file"),
    ],
)
def test_mistakes_are_told_in_words(words: str, code: int, error: str, translate: Translate) -> None:
    """Options out of range and files that are not there get a sentence, a hint, and write nothing."""
    ended = translate(*words.split(), text="ba\n")

    assert (ended.code, ended.lines) == (code, [])
    assert ended.said.startswith("error: ")
    assert error in ended.said
    assert ended.said.count("\n") == 2


def test_output_is_never_the_input(translate: Translate, tmp_path: Path) -> None:
    """The file that is read is not overwritten, whatever name leads to it."""
    file, other = tmp_path / "text.txt", tmp_path / "link.txt"
    file.write_text("ba\n", encoding="utf-8")
    other.symlink_to(file)
    ended = translate(file, "--output", other)

    assert ended.code == 2
    assert "this file is read as input and would be lost" in ended.said
    assert file.read_text(encoding="utf-8") == "ba\n"


def test_a_coprocess_gets_its_answer(process: "subprocess.Popen[bytes]") -> None:
    """A program that writes a line and waits has its translation before it writes the next."""
    answers = [ask(process, line) for line in ("da di do", "", "gu")]
    assert process.stdin is not None
    process.stdin.close()

    assert answers == ["da di do", "", "gu"]
    assert end(process) == (0, "")


def test_reader_of_the_pipe_may_leave(process: "subprocess.Popen[bytes]") -> None:
    """When nobody reads the results any more, the command ends quietly, even if its input stays open."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.close()
    process.stdin.write(b"ba\n")
    process.stdin.flush()

    assert end(process) == (0, "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_end_it_without_a_traceback(
    number: signal.Signals, code: int, process: "subprocess.Popen[bytes]"
) -> None:
    """SIGTERM and Ctrl-C end a waiting command with their exit codes."""
    process.send_signal(number)
    ended, said = end(process)

    assert ended == code
    assert "Traceback" not in said
