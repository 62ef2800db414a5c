"""``dragoman parse`` by the real command line."""

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from copying import Ended, Translate
from dragoman.run import TrainOptions, train
from dragoman.text.words import split_words
from dragoman.trees import Tree, parse_trees
from grammar_trees import write_treebank

SETTINGS = [
    *("data.task=parsing", "data.dev_pairs=6", "data.test_pairs=6"),
    *("model.vocabulary_size=400", "model.num_encoder_layers=1", "model.num_decoder_layers=1"),
    *("model.d_model=32", "model.d_ff=64", "model.num_heads=4", "model.d_k=8", "model.d_v=8"),
    *("train.max_steps=40", "train.warmup_steps=20", "train.peak_rate=0.01", "train.batch_tokens=800"),
    *("train.micro_batch_tokens=800", "train.validation_interval_steps=40", "train.average_checkpoints=1"),
    *("search.beam_size=4", "search.length_penalty=0.3", "search.extra_length=300"),
]
FEW_POSITIONS = ["model.max_positions=40", "data.max_length=40"]
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1", "OMP_NUM_THREADS": "1"}
TIMEOUT_SECONDS = 60
SENTENCES = ["the dog sleeps .", "nobody sees a small boat .", "xyz ( the old ) [ bird ] { 1/2 } \\ #"]
MISTAKES = [
    ("--n-best 5", 2, "--n-best 5: greater than the beam size of 4; "),
    ("--beam-size 0", 2, "--beam-size 0: must be a whole number of at least 1 and at most 1000"),
    ("--length-penalty nan", 2, "--length-penalty nan: must be a number of at least -10 and at most 10"),
    ("--batch-tokens -1", 2, "--batch-tokens -1: must be a whole number of at least 1"),
    ("--format text", 2, "invalid value for '--format': 'text' is not one of 'bracket', 'json', 'draw'"),
    ("--device gpu", 2, "--device gpu: must be auto, cpu, cuda or cuda:N"),
    ("--output /nowhere/out.txt", 2, "--output /nowhere/out.txt: there is no folder /nowhere"),
    ("/nowhere/text.txt", 1, "/nowhere/text.txt: no such file"),
    ("/", 1, "/ is a folder, not a text file"),
]

pytestmark = pytest.mark.untraced


class Parse(Translate):
    """Runs ``dragoman parse`` in this process with one model."""

    command = "parse"


def train_parser(folder: Path, *settings: str) -> Path:
    """Train a parser of the small grammar in seconds, and return its folder."""
    treebank = write_treebank(folder / "trees.mrg", number=150)
    options = TrainOptions(recipe="tiny", settings=[*SETTINGS, *settings], device="cpu")
    train([treebank], folder / "model", options)
    return folder / "model"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_parser(tmp_path_factory.mktemp("parse"))


@pytest.fixture(scope="module")
def short_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has learned 40 positions."""
    folder = tmp_path_factory.mktemp("short")
    return train_parser(folder, "train.max_steps=2", "model.positions=learned", *FEW_POSITIONS)


@pytest.fixture
def parse(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Parse:
    """The command on the model; standard input is what it is told."""
    return Parse(model, monkeypatch, capsys)


def tree(line: str) -> Tree:
    (numbered,) = parse_trees([line], "a line of the output")
    return numbered.tree


def words(line: str) -> list[str]:
    """The words of the tree on a line; none of a blank line."""
    return [leaf.word for leaf in tree(line).leaves()] if line else []


def lines(texts: list[str]) -> str:
    return "".join(f"{text}\n" for text in texts)


def test_a_filter_parses_line_by_line(parse: Parse) -> None:
    """Line n of the output is one tree over the words of line n, and nothing else is said."""
    ended = parse(text=lines(SENTENCES))

    assert (ended.code, ended.said) == (0, "")
    assert [words(line) for line in ended.lines] == [sentence.split(" ") for sentence in SENTENCES]
    assert all(tree(line).label == "TOP" for line in ended.lines)


def test_file_and_standard_input_give_the_same(parse: Parse, tmp_path: Path) -> None:
    """A file, a compressed file and standard input are parsed alike."""
    text = lines([*SENTENCES, "", "the cat"])
    (tmp_path / "plain").write_text(text, encoding="utf-8")
    (tmp_path / "packed").write_bytes(gzip.compress(text.encode()))
    expected = parse(text=text).lines

    assert parse(tmp_path / "plain").lines == expected
    assert parse(tmp_path / "packed").lines == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("the dog", [["the", "dog"]]),
        ("the  dog\r\n\tit \r\n", [["the", "dog"], ["it"]]),
        ("\n \n\t\nit\n\n", [[], [], [], ["it"], []]),
        ("\ufeffit\n", [["it"]]),
        ("a\u00a0b \u2028 c\x0c\n", [["a\u00a0b", "\u2028", "c\x0c"]]),
    ],
)
def test_as_many_lines_out_as_in(text: str, expected: list[list[str]], parse: Parse) -> None:
    """Words are parted by spaces alone, blank lines stay blank, no input is no output."""
    ended = parse(text=text)

    assert (ended.code, [words(line) for line in ended.lines], ended.said) == (0, expected, "")


@pytest.mark.parametrize("case", ["S56-parentheses", "S57-one-token"])
def test_hard_sentences_have_their_words(case: str, shared: Path, parse: Parse) -> None:
    """Brackets among the words, and sentences of one word, give one balanced tree each with all words."""
    file = shared / "cases" / case / "tokens.txt"
    given = file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    ended = parse(file)

    assert (ended.code, ended.said) == (0, "")
    assert [words(line) for line in ended.lines] == [sentence.split(" ") for sentence in given]
    assert all(line.count("(") == line.count(")") for line in ended.lines)


def test_brackets_are_words(parse: Parse) -> None:
    """A bracket is written by its name, and a typed name is told from it."""
    ended = parse(text="( -LRB- [ ] -RSB- ) (((\n")

    assert words(ended.lines[0]) == ["(", "-LRB-", "[", "]", "-RSB-", ")", "((("]
    assert "(XX -LRB-)" in ended.lines[0]
    assert "(XX \\-LRB-)" in ended.lines[0]


def test_a_long_sentence_is_one_tree(parse: Parse) -> None:
    """Three hundred words, far more than any sentence in training had, are the leaves of one tree."""
    sentence = ("the dog sees a ( small ) boat and " * 34)[:-1].split(" ")[:300]
    ended = parse("--beam-size", 2, text=" ".join(sentence) + "\nit\n")

    assert ended.code == 0
    assert [words(line) for line in ended.lines] == [sentence, ["it"]]


def test_raw_text_is_parted_into_words(parse: Parse) -> None:
    """With --raw a line is any text, and the leaves are its words in the manner of the treebank."""
    texts = ["He doesn't sleep (today).", "", '"It\'s 5%," said Mr. Lee.']
    ended = parse("--raw", text=lines(texts))

    assert ended.code == 0
    assert [words(line) for line in ended.lines] == [split_words(text) for text in texts]
    assert words(ended.lines[0]) == ["He", "does", "n't", "sleep", "(", "today", ")", "."]


@pytest.mark.parametrize("batch_tokens", [1, 4_096])
def test_batches_change_nothing(batch_tokens: int, parse: Parse) -> None:
    """What is parsed at once, and in which order the lines come, changes no tree."""
    texts = [*SENTENCES, "", *(" ".join(["the cat"] * number) for number in range(6))]
    forth = parse("--batch-tokens", batch_tokens, text=lines(texts)).lines
    back = parse(text=lines(texts[::-1])).lines

    assert forth == back[::-1]


def test_json_tells_words_symbols_and_scores(parse: Parse) -> None:
    """One object a line: its number, its words, the best tree and all alternatives with their symbols."""
    options = ("--format", "json", "--length-penalty", 0, "--n-best", 3)
    ended = parse(*options, text="the dog sleeps .\n\nit ( waits )\n")
    plain = parse("--length-penalty", 0, text="the dog sleeps .\n\nit ( waits )\n").lines
    objects = [json.loads(line) for line in ended.lines]

    assert [one["line"] for one in objects] == [1, 2, 3]
    assert [one["words"] for one in objects] == [
        ["the", "dog", "sleeps", "."],
        [],
        ["it", "(", "waits", ")"],
    ]
    assert [one["tree"] or "" for one in objects] == plain
    assert (objects[1]["score"], objects[1]["alternatives"]) == (None, [])
    for best in (objects[0]["alternatives"][0], objects[2]["alternatives"][0]):
        assert best["symbols"].count("XX") == 4
        assert best["fault"] is None
        assert sum(best["symbol_scores"]) == pytest.approx(best["score"], abs=1e-5)
        assert len(best["symbol_scores"]) == len(best["symbols"]) + 1


def test_first_of_the_n_best_is_the_best(parse: Parse) -> None:
    """Scores fall, no tree comes twice, and the first does not depend on how many are wanted."""
    text = lines([*SENTENCES, "it"])
    lists = {
        number: [json.loads(line) for line in parse("--format", "json", "--n-best", number, text=text).lines]
        for number in (1, 4)
    }

    for one, four in zip(lists[1], lists[4], strict=True):
        scores = [found["score"] for found in four["alternatives"]]

        assert one["tree"] == four["tree"] == four["alternatives"][0]["tree"]
        assert scores == sorted(scores, reverse=True)
        assert len({found["tree"] for found in four["alternatives"]}) == len(scores) == 4
        assert all(words(found["tree"]) == four["words"] for found in four["alternatives"])


def test_n_best_brackets_tell_their_line(parse: Parse) -> None:
    """Several trees of a line stand after its number and a tab; with --scores, after the score as well."""
    text = "the dog sleeps .\n\nit waits .\n"
    rows = [line.split("\t") for line in parse("--n-best", 2, "--scores", text=text).lines]
    without = [line.split("\t") for line in parse("--n-best", 2, text=text).lines]

    assert [row[0] for row in rows] == ["1", "1", "2", "3", "3"]
    assert float(rows[0][1]) >= float(rows[1][1])
    assert [words(row[2]) for row in rows[1:4]] == [["the", "dog", "sleeps", "."], [], ["it", "waits", "."]]
    assert [(row[0], row[2]) for row in rows] == [tuple(row) for row in without]


def test_scores_stand_before_the_tree(parse: Parse) -> None:
    """With scores a line is score, tab, tree, and the score is that of JSON."""
    rows = [line.split("\t") for line in parse("--scores", text="it sleeps .\n\n").lines]
    expected = json.loads(parse("--format", "json", text="it sleeps .\n").lines[0])

    assert (rows[0][1], rows[1][1]) == (expected["tree"], "")
    assert float(rows[0][0]) == pytest.approx(expected["score"], abs=1e-6)


def test_drawings_have_the_words_below(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each drawing ends in its sentence and an empty line; a blank line is an empty line more."""
    monkeypatch.setenv("COLUMNS", "200")
    drawn = parse("--format", "draw", text="( it ) sleeps .\n\nit\n").lines
    end = drawn.index("")
    headed = parse("--format", "draw", "--n-best", 2, "--scores", text="it\n").lines

    assert drawn[0].strip() == drawn[end + 2].strip() == "TOP"
    assert drawn[end - 1].split() == ["(", "it", ")", "sleeps", "."]
    assert (drawn[end + 1], drawn[-2].strip(), drawn[-1]) == ("", "it", "")
    assert headed[0].startswith("line 1, tree 1 of 2, score -")


def test_drawings_fit_the_terminal(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that is wider than the terminal is indented, one label or word on a line."""
    monkeypatch.setenv("COLUMNS", "30")
    sentence = "everyone remembers the farmer and a bridge beside the river ."
    drawn = parse("--format", "draw", text=f"{sentence}\n").lines

    assert max(map(len, drawn)) <= 30
    assert [line.split(" ")[-1] for line in drawn if line.endswith(("everyone", "river"))] == [
        "everyone",
        "river",
    ]


def test_free_search_tells_how_much_is_no_tree(parse: Parse) -> None:
    """Unconstrained, a line is blank where the output is no tree, and their share is told at the end."""
    long = " ".join(["the dog and"] * 40)
    text = lines(["it sleeps .", "", long, long])
    ended = parse("--unconstrained", text=text)
    objects = [json.loads(line) for line in parse("--unconstrained", "--format", "json", text=text).lines]
    broken = [number for number, line in enumerate(ended.lines, start=1) if number != 2 and not line]

    assert {3, 4} <= set(broken)
    assert ended.code == 0
    assert ended.said.startswith(f"{len(broken)} of 3 outputs ({100 * len(broken) / 3:.1f} %) are no trees")
    assert ended.said.endswith(f": lines {', '.join(map(str, broken))}\n")
    assert [one["line"] for one in objects if one["words"] and one["tree"] is None] == broken
    for one in objects:
        for found in one["alternatives"]:
            assert (found["fault"] is None) == (found["tree"] is not None)


def test_free_search_without_faults_says_so(parse: Parse) -> None:
    """Nothing to parse means nothing broken, and the count is given all the same."""
    ended = parse("--unconstrained", text="\n")

    assert ended == Ended(0, [""], "0 of 0 outputs are no trees over their words\n")


def test_too_long_a_line_is_named(
    short_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A line with more pieces than learned positions ends the parsing; those before it have their trees."""
    file = tmp_path / "lines.txt"
    file.write_text(lines(["it sleeps .", "", " ".join(["dog"] * 60), "it ."]), encoding="utf-8")
    ended = Parse(short_model, monkeypatch, capsys)(file)

    assert (ended.code, len(ended.lines)) == (1, 2)
    assert words(ended.lines[0]) == ["it", "sleeps", "."]
    assert ended.said.startswith(f"error: {file}, line 3: ")
    assert "pieces; the model has learned 40 positions, 3 of which brackets need\nhint: " in ended.said


def test_output_is_written_whole(parse: Parse, tmp_path: Path) -> None:
    """The file of the results appears with all its lines, or stays as it was."""
    output = tmp_path / "out.txt"
    output.write_text("old\n", encoding="utf-8")
    failed = parse("--output", output, text=b"it\n\xff\n")
    kept = output.read_text(encoding="utf-8")
    ended = parse("--output", output, text="it sleeps .\n\n")

    assert (failed.code, kept) == (1, "old\n")
    assert failed.said.startswith("error: standard input, line 2: byte 1 of the line is 0xFF")
    assert ended == Ended(0, [], "")
    assert output.read_text(encoding="utf-8") == parse(text="it sleeps .\n").lines[0] + "\n\n"
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.parametrize(("options", "code", "error"), MISTAKES)
def test_mistakes_are_told_in_words(options: str, code: int, error: str, parse: Parse) -> None:
    """Options out of range and files that are not there get a sentence, a hint, and write nothing."""
    ended = parse(*options.split(), text="it\n")

    assert (ended.code, ended.lines) == (code, [])
    assert ended.said.startswith("error: ")
    assert error in ended.said
    assert ended.said.count("\n") == 2


def test_models_are_used_for_what_they_learned(
    model: Path, copy_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model that translates does not parse, one that parses does not translate, and both say so."""
    parsing = Parse(copy_model, monkeypatch, capsys)(text="it\n")
    translating = Translate(model, monkeypatch, capsys)(text="it\n")

    assert parsing == Ended(
        2,
        [],
        "error: this model was trained to translate; it writes text and no trees\n"
        "hint: train one that parses: dragoman train TREES --task parsing --out DIR\n",
    )
    assert translating == Ended(
        2,
        [],
        "error: this model was trained to parse; it writes trees and no text\n"
        "hint: use 'dragoman parse', or dragoman.Parser\n",
    )


def test_a_coprocess_gets_its_answer_and_ends_on_a_signal(model: Path) -> None:
    """A program that writes a line and waits has its tree; SIGTERM ends the command without a traceback."""
    running = subprocess.Popen(
        [sys.executable, "-m", "dragoman", "parse", str(model)],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdin.write("( it )\n")
    running.stdin.flush()
    answer = running.stdout.readline()
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=TIMEOUT_SECONDS)

    assert words(answer.removesuffix("\n")) == ["(", "it", ")"]
    assert running.returncode == 143
    assert "Traceback" not in said


def test_threads_parse_sentences_of_their_own(parse: Parse) -> None:
    """However many there are, trees and scores are those of one, to the last digit, in the same order."""
    text = "".join(f"{sentence}\n" for sentence in [*SENTENCES, "", "birds sing"] * 5)
    before = torch.get_num_threads()
    try:
        one, several = (
            parse("--threads", number, "--batch-tokens", 12, "--scores", text=text) for number in (1, 3)
        )
    finally:
        torch.set_num_threads(before)

    assert several == one
    assert len(one.lines) == 25
