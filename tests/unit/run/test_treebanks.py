"""Training to parse: a treebank is read, checked, held out, learned from and gone on with."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dragoman.config import Config, DataConfig, TrainConfig, read_config
from dragoman.errors import ConfigError, CorpusError, DragomanError, TreeError, UsageError
from dragoman.evaluate.parses import ParsingScores
from dragoman.parser import Parser
from dragoman.run import Outcome, TrainOptions, train
from dragoman.run.corpora import Sources, TrainingText, open_pairs, read_text
from dragoman.run.encoding import encode, encode_with_dropout
from dragoman.run.reporter import Reporter, Sample
from dragoman.run.training import read_metrics
from dragoman.run.vocabulary import learn_tokenizer
from dragoman.train.schedule import learning_rate
from dragoman.trees import clean, format_tree, parse_trees, read_trees, rooted
from grammar_trees import grammar_trees, write_treebank
from tiny_runs import SETTINGS, Plans, Recorder, remains, stop_after, tiny_run, write_corpus

pytestmark = pytest.mark.untraced  # whole runs; what they consist of is watched in tests of its own

PARSING = ("data.task=parsing", "search.extra_length=30")

VARIANTS = {
    "plain": PARSING,
    "bpe-dropout": (*PARSING, "data.bpe_dropout=0.2"),
    "tags": (*PARSING, "data.keep_tags=true", "train.select_by=loss"),
}


class Listener(Recorder):
    """Remembers the outputs of each validation as well."""

    def __init__(self) -> None:
        super().__init__()
        self.samples: list[Sample] = []

    def validated(self, progress: Any, scores: Any, samples: Any, *, is_best: bool) -> None:
        self.samples += samples


class Made:
    """A run of training to parse, and what it has told."""

    def __init__(self, treebank: Path, out: Path, *settings: str, **options: Any) -> None:
        self.out, self.reporter = out, Listener()
        self.outcome: Outcome = tiny_run(
            [treebank], out, *PARSING, *settings, reporter=self.reporter, **options
        )

    def told(self, text: str) -> list[str]:
        return [notice for notice in self.reporter.notices if text in notice]


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_treebank(tmp_path_factory.mktemp("treebank") / "trees.mrg")


@pytest.fixture(scope="module")
def made(treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A whole run with all defaults of the tiny settings."""
    return Made(treebank, tmp_path_factory.mktemp("made") / "model")


@pytest.fixture(scope="module")
def undisturbed(
    treebank: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], dict[str, bytes]]:
    """What a run without interruption leaves; each variant runs once."""
    known: dict[str, dict[str, bytes]] = {}

    def of(variant: str) -> dict[str, bytes]:
        if variant not in known:
            out = tmp_path_factory.mktemp("whole") / "model"
            tiny_run([treebank], out, *VARIANTS[variant])
            known[variant] = remains(out)
        return known[variant]

    return of


def trees_of(path: Path) -> list[str]:
    return [format_tree(numbered.tree) for numbered in read_trees(path)]


def cleaned(lines: list[str]) -> set[str]:
    """Trees as a model is shown them, with their tags."""
    found = (clean(numbered.tree) for numbered in parse_trees(lines, "a test"))
    return {format_tree(rooted(tree)) for tree in found if tree}


def text_of(treebank: Path, *settings: str) -> tuple[TrainingText, Config, Recorder]:
    recorder = Recorder()
    config = read_config(recipe="tiny", file=None, settings=(*SETTINGS, *PARSING, *settings))
    pairs = open_pairs([treebank], config.data)
    return read_text(Sources(pairs), config.data, 1, recorder), config, recorder


def test_one_treebank_makes_a_parser(made: Made) -> None:
    """Trees go in; a model that parses, its scores and its held-out trees come out."""
    parser = Parser.load(made.out)
    [parse] = parser.parse([["the", "dog", "sings", "."]])
    about = json.loads((made.out / "config.json").read_text(encoding="utf-8"))
    validations = [record["validation"] for record in read_metrics(made.out) if "validation" in record]

    assert made.outcome.reason == "max_steps"
    assert made.outcome.task == "parsing"
    assert parse.tree is not None
    assert about["data"]["longest_run"] >= 3
    assert about["train"]["select_by"] == "f1"
    assert all({"loss", "perplexity", "f1", "exact_match"} == set(scores) for scores in validations)
    assert {"f1", "exact_match"} < set(made.outcome.dev_scores)
    assert made.outcome.test_scores is not None
    assert made.outcome.test_scores.num_segments == 4


def test_held_out_trees_are_trees(treebank: Path, made: Made) -> None:
    """They are written one a line with their tags, under their own names, and no other file beside them."""
    held_out = made.out / "held-out"
    dev, test = (trees_of(held_out / name) for name in ("dev.mrg", "test.mrg"))

    assert {path.name for path in held_out.iterdir()} == {"dev.mrg", "test.mrg"}
    assert made.outcome.test_files == (held_out / "test.mrg",)
    assert (len(dev), len(test)) == (6, 4)
    assert {*dev, *test} < cleaned(treebank.read_text(encoding="utf-8").splitlines())
    assert made.told("held out 6 trees for development and 4 trees for the final test")


def test_the_model_card_speaks_of_trees(made: Made) -> None:
    """It says what the model does, what it learned from, how well it does, and how to use it."""
    card = (made.out / "README.md").read_text(encoding="utf-8")

    assert card.startswith("# Parsing model\n")
    assert "Trained on 110 trees" in card
    assert "On 6 development trees: loss" in card
    assert "On 4 test trees:" in card
    assert "dragoman parse THIS_FOLDER" in card
    assert "translat" not in card


def test_samples_are_trees(made: Made) -> None:
    """At each validation some sentences are shown with the right tree and the model's own."""
    sample = made.reporter.samples[-1]
    lines = [sample.reference, sample.hypothesis]
    words = [[leaf.word for leaf in numbered.tree.leaves()] for numbered in parse_trees(lines, "a test")]

    assert sample.kind == "tree"
    assert words == [sample.source.split(" ")] * 2


def test_tags_are_learned_on_request(treebank: Path, tmp_path: Path) -> None:
    """With ``data.keep_tags`` the model writes tags, and their share of right ones is among the scores."""
    run = Made(treebank, tmp_path / "model", "data.keep_tags=true", "train.max_steps=4")
    parser = Parser.load(run.out)
    [parse] = parser.parse([["the", "dog", "sings", "."]])

    assert parse.tree is not None
    assert {leaf.tag for leaf in parse.tree.leaves()} <= {*parser.bundle.tokenizer.symbols}
    assert "XX" not in parser.bundle.tokenizer.symbols
    assert 0.0 <= run.outcome.dev_scores["tagging_accuracy"] <= 100.0


@pytest.mark.parametrize(
    ("variant", "stop"), [("plain", 1), ("plain", 4), ("bpe-dropout", 3), ("bpe-dropout", 11), ("tags", 7)]
)
def test_a_stopped_run_goes_on_exactly(
    treebank: Path, tmp_path: Path, undisturbed: Callable[[str], dict[str, bytes]], variant: str, stop: int
) -> None:
    """Stopped and resumed, without naming the task again, a run is byte for byte one without a stop."""
    stopped = tiny_run([treebank], tmp_path / "model", *VARIANTS[variant], stop=stop_after(stop))
    ended = tiny_run([treebank], tmp_path / "model", resume=True)
    found, expected = remains(tmp_path / "model"), undisturbed(variant)

    assert (stopped.reason, ended.reason) == ("interrupted", "max_steps")
    assert sorted(found) == sorted(expected)
    assert [name for name in expected if found[name] != expected[name]] == []


def test_a_resumed_run_keeps_its_task(treebank: Path, tmp_path: Path) -> None:
    """The same task may be named again; another is refused before the corpus is read."""
    tiny_run([treebank], tmp_path / "model", *PARSING, stop=stop_after(1))
    with pytest.raises(ConfigError, match=r"a resumed run cannot change data\.task"):
        tiny_run([treebank], tmp_path / "model", "data.task=translation", resume=True)
    ended = tiny_run([treebank], tmp_path / "model", "data.task=parsing", resume=True)

    assert ended.reason == "max_steps"


@pytest.mark.parametrize("resumed", [False, True])
def test_a_dry_run_writes_nothing(treebank: Path, tmp_path: Path, resumed: bool) -> None:
    """It plans with trees and the symbols' share of the vocabulary, of a new run and of one that is left."""
    if resumed:
        tiny_run([treebank], tmp_path / "model", *PARSING, stop=stop_after(5))
    before = sorted(tmp_path.rglob("*"))
    reporter = Plans()
    settings = () if resumed else PARSING
    outcome = tiny_run(
        [treebank], tmp_path / "model", *settings, dry_run=True, reporter=reporter, resume=resumed
    )
    [plan] = reporter.seen

    assert outcome.reason == "dry_run"
    assert sorted(tmp_path.rglob("*")) == before
    assert (plan.unit, plan.num_training_pairs) == ("tree", 110)
    assert plan.num_steps_done == (5 if resumed else 0)


def test_bpe_dropout_cuts_words_and_no_symbols(treebank: Path, tmp_path: Path) -> None:
    """Sources vary from epoch to epoch, targets never do."""
    text, config, recorder = text_of(treebank, "data.bpe_dropout=0.5")
    tokenizer, config = learn_tokenizer(text, config, recorder)
    whole = encode(text, tokenizer, config.data, tmp_path, recorder).gold
    cut = encode_with_dropout(text, tokenizer, config.data, tmp_path, (1, 0), lambda: None).gold
    sources = [(whole[i][0].tolist(), cut[i][0].tolist()) for i in range(len(whole))]

    assert len(cut) == len(whole) == text.num_training_pairs
    assert [cut[i][1].tolist() for i in range(len(cut))] == [whole[i][1].tolist() for i in range(len(whole))]
    assert sum(len(other) > len(one) for one, other in sources) > len(sources) / 2


def test_training_shares_no_sentence_with_held_out_trees(tmp_path: Path) -> None:
    """A sentence that occurs twice is held out with all its trees, or not at all; a shape may be shared."""
    lines = [f"(S (NP (NN {word})) (VP (VBZ sings)))" for word in "abcdefghijklmnopqrst"] * 2
    path = tmp_path / "trees.mrg"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    text, _, _ = text_of(path)
    training = {pair.source for _, pair in text.training_pairs()}
    dev, test = ({pair.source for _, pair in pairs} for pairs in (text.dev, text.test))

    assert dev
    assert not training & dev
    assert not (training | dev) & test
    assert len(training) >= 16


def test_named_development_and_test_trees_are_used(treebank: Path, tmp_path: Path) -> None:
    """``--dev`` and ``--test`` name treebanks too; nothing is split off then."""
    dev, test = (write_treebank(tmp_path / f"{name}.mrg", 5, seed) for seed, name in enumerate("ab", start=7))
    run = Made(treebank, tmp_path / "model", dev=[dev], test=[test])

    assert not (run.out / "held-out").exists()
    assert run.outcome.test_files is None
    assert run.outcome.test_scores is not None
    assert run.outcome.test_scores.num_segments == 5


def test_labels_that_training_never_saw_are_told(treebank: Path, tmp_path: Path) -> None:
    """The model cannot write them; the notice counts trees and names labels, and tags where they are kept."""
    dev = tmp_path / "dev.mrg"
    lines = grammar_trees(3, seed=9, depth=1)
    dev.write_text(
        "\n".join([*lines, "(S (NAC (FW yes)) (NAC (NN dog)))", "(UCP (NAC (NN dog)))"]), encoding="utf-8"
    )
    plain = Made(treebank, tmp_path / "plain", "train.max_steps=2", dev=[dev])
    tagged = Made(treebank, tmp_path / "tagged", "train.max_steps=2", "data.keep_tags=true", dev=[dev])

    assert plain.told("that the model cannot write") == [
        "2 of 5 development trees hold labels that the model cannot write, as no tree it learned from has "
        "them: NAC (2), UCP (1)"
    ]
    [told] = tagged.told("hold labels or tags that")
    assert told.endswith("NAC (2), FW (1), UCP (1)")


def test_long_trees_are_left_out_and_told(treebank: Path, tmp_path: Path) -> None:
    """The limit is for pieces and symbols; trees beyond it are counted with their lines, and those of dev."""
    dev = write_treebank(tmp_path / "dev.mrg", 8, seed=4)
    run = Made(treebank, tmp_path / "model", "data.max_length=30", "train.max_steps=2", dev=[dev])
    [development] = run.told("development trees of more than")
    [training] = [notice for notice in run.told("left out ") if "development" not in notice]

    assert "trees of more than 30 pieces or symbols (lines " in training
    assert "of 8 development trees of more than 30 pieces or symbols (line" in development


def test_trees_without_words_are_counted(tmp_path: Path) -> None:
    """What holds traces alone is no sentence."""
    path = tmp_path / "trees.mrg"
    lines = grammar_trees(30, seed=2, depth=0)
    path.write_text("".join(f"{line}\n" for line in [*lines, "(S (-NONE- *))", *lines[:1]]), encoding="utf-8")
    _, _, recorder = text_of(path)

    assert f"{path}: left out 1 of 32 trees without words (line 31)" in recorder.notices


@pytest.mark.parametrize(("keep_tags", "number"), [("false", 288), ("true", 296)])
def test_a_vocabulary_without_room_for_symbols_is_refused(
    treebank: Path, tmp_path: Path, keep_tags: str, number: int
) -> None:
    """The message tells the right number, nothing is written, and with that number training begins."""
    settings = ("train.max_steps=1", f"data.keep_tags={keep_tags}")
    with pytest.raises(
        ConfigError, match=rf"vocabulary_size=264: must be at least {number}, for \d+ symbols"
    ):
        Made(treebank, tmp_path / "model", *settings, "model.vocabulary_size=264")
    left = list((tmp_path / "model").rglob("*.toml")) if (tmp_path / "model").exists() else []
    run = Made(treebank, tmp_path / "other", *settings, f"model.vocabulary_size={number}")

    assert left == []
    assert Parser.load(run.out).bundle.tokenizer.vocabulary_size == number


@pytest.mark.parametrize(
    ("task", "score", "scores"),
    [
        ("parsing", "bleu", "f1, loss"),
        ("parsing", "chrf", "f1, loss"),
        ("translation", "f1", "bleu, chrf, loss"),
    ],
)
def test_a_score_of_the_other_task_is_refused(
    treebank: Path, tmp_path: Path, task: str, score: str, scores: str
) -> None:
    """No run is judged in silence by another score than the one that was asked for."""
    with pytest.raises(ConfigError, match=rf"train\.select_by={score}: the scores of {task} are {scores}"):
        tiny_run([treebank], tmp_path / "model", f"data.task={task}", f"train.select_by={score}")


@pytest.mark.parametrize(
    ("files", "error", "message", "hint"),
    [
        (["a.mrg", "b.mrg"], UsageError, "2 files, and parsing is learned from one", "cat "),
        (["-"], UsageError, "standard input only once", "write it to a file"),
        ([], UsageError, "0 corpus files", ""),
        (["none.mrg"], CorpusError, "none.mrg", ""),
        (["text.en"], TreeError, "text.en, line 1: ", "leave '--task parsing' out"),
        (["open.mrg"], TreeError, r"open\.mrg, line 2: \(S is not closed", "mend or remove the tree"),
    ],
)
def test_what_is_no_treebank_is_refused(
    tmp_path: Path, files: list[str], error: type[DragomanError], message: str, hint: str
) -> None:
    """Two files, standard input, text, half a tree: each has its message and something to do."""
    (tmp_path / "text.en").write_text("The dog (a cat) sings.\n", encoding="utf-8")
    (tmp_path / "open.mrg").write_text("(S (NN a))\n(S (NN b)\n", encoding="utf-8")
    paths = [name if name == "-" else tmp_path / name for name in files]
    with pytest.raises(error, match=message) as fault:
        open_pairs(paths, DataConfig(task="parsing"))

    assert hint in (fault.value.hint or "")


def test_a_pipe_is_no_treebank(tmp_path: Path) -> None:
    """It could be read only once."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CorpusError, match="is a pipe"):
        open_pairs([tmp_path / "pipe"], DataConfig(task="parsing"))


def test_a_treebank_is_no_file_of_pairs(treebank: Path) -> None:
    """Without the task its first line has no tab, and the hint says what it may be."""
    pairs = open_pairs([treebank], DataConfig())
    with pytest.raises(CorpusError, match=r"trees\.mrg, line 1: no tab") as fault:
        list(pairs.numbered_pairs())

    assert "--task parsing" in (fault.value.hint or "")


def test_development_text_is_no_treebank(treebank: Path, tmp_path: Path) -> None:
    """The other files are read by the same rules."""
    with pytest.raises(TreeError, match=r"corpus\.en, line 1"):
        Made(treebank, tmp_path / "model", dev=write_corpus(tmp_path, 5)[:1])


def test_the_recipe_is_chosen_by_the_number_of_trees(treebank: Path, tmp_path: Path) -> None:
    """``auto`` says why, and reads the treebank once."""
    recorder = Plans()
    settings = (*SETTINGS[:8], "data.task=parsing", "train.batch_tokens=1000")
    options = TrainOptions(settings=settings, dry_run=True)
    train([treebank], tmp_path / "model", options, reporter=recorder)
    reasons = [notice for notice in recorder.notices if "recipe parsing-small" in notice]

    assert reasons == ["120 trees: recipe parsing-small, 4 + 4 layers of width 256"]
    assert recorder.seen[0].num_steps == 500


def test_words_with_spaces_are_parsed(tmp_path: Path) -> None:
    """A treebank with such words trains, and its held-out trees hold them with no-break spaces."""
    lines = [f"(S (NP (NN {word} {word})) (VP (VBZ sings)))" for word in "abcdefghijklmnopqrst"]
    path = tmp_path / "trees.mrg"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    run = Made(path, tmp_path / "model", "train.max_steps=2")
    [[_, tree]] = [list(numbered) for numbered in read_trees(run.out / "held-out" / "test.mrg")]
    [parse] = Parser.load(run.out).parse([["x y", "sings"]])

    assert [len(leaf.word) for leaf in tree.leaves()] == [3, 5]
    assert parse.tree is not None
    assert [leaf.word for leaf in parse.tree.leaves()] == ["x y", "sings"]


def test_a_longest_run_that_is_set_is_kept(treebank: Path, tmp_path: Path) -> None:
    """A key of the user wins over what the treebank has, and bounds every output."""
    run = Made(treebank, tmp_path / "model", "data.longest_run=2", "train.max_steps=2")
    parser = Parser.load(run.out)
    [parse] = parser.parse([["the", "dog", "sings", "."]], replace(parser.config, n_best=1))
    opened = "".join("(" if symbol.startswith("(") else "." for symbol in parse.alternatives[0].symbols)

    assert parser.bundle.config.data.longest_run == 2
    assert "(((" not in opened


def test_a_reporter_may_say_nothing(treebank: Path, tmp_path: Path) -> None:
    """The plainest call from Python is enough."""
    outcome = train(
        [treebank],
        tmp_path / "model",
        TrainOptions(recipe="tiny", settings=(*SETTINGS, *PARSING, "train.max_steps=1")),
        reporter=Reporter(),
    )

    assert outcome.progress.step == 1


def test_keys_that_win_over_the_automatic_recipe_are_told(treebank: Path, tmp_path: Path) -> None:
    """What the recipe announces need not be what is trained; the line after it says what was changed."""
    recorder = Plans()
    file = tmp_path / "keys.toml"
    file.write_text("[model]\nd_model = 16\nd_ff = 16\n", encoding="utf-8")
    settings = ("data.task=parsing", "train.max_steps=7", "model.vocabulary_size=320")
    options = TrainOptions(config_file=file, settings=settings, dry_run=True)
    train([treebank], tmp_path / "model", options, reporter=recorder)
    [told] = [notice for notice in recorder.notices if "win over the recipe" in notice]

    assert told == "keys that win over the recipe: model.vocabulary_size=320, model.d_model=16, model.d_ff=16"
    assert any(notice.startswith("7 steps of 4,096 tokens") for notice in recorder.notices)


def test_held_out_sentences_longer_than_its_positions_end_no_run(treebank: Path, tmp_path: Path) -> None:
    """They are told, and count as sentences without a tree; the model is written all the same."""
    long = tmp_path / "long.mrg"
    long.write_text(f"(TOP (S {'(NN dog) ' * 60}(. .)))\n(TOP (S (NN dog) (. .)))\n", encoding="utf-8")
    positions = ("model.positions=learned", "model.max_positions=40", "data.max_length=40")
    run = Made(treebank, tmp_path / "model", *positions, "train.max_steps=4", dev=[long], test=[long])
    scores = run.outcome.test_scores

    assert run.told("left out 1 of 2 development trees of more than 40 pieces or symbols")
    assert isinstance(scores, ParsingScores)
    assert scores.num_segments == 2
    assert Parser.load(run.out).parse([["dog", "."]])[0].tree is not None


@pytest.mark.parametrize("max_steps", [900, 100_000])
def test_steps_that_are_asked_for_are_planned(treebank: Path, tmp_path: Path, max_steps: int) -> None:
    """Whatever their number, the warm-up follows them, and nobody is told of a rate that does not rise."""
    recorder = Plans()
    settings = ("data.task=parsing", f"train.max_steps={max_steps}", "model.vocabulary_size=320")
    train([treebank], tmp_path / "model", TrainOptions(settings=settings, dry_run=True), reporter=recorder)

    assert any(notice.startswith(f"{max_steps:,} steps of 4,096 tokens") for notice in recorder.notices)
    assert not any("never comes to its peak" in notice for notice in recorder.notices)


@pytest.mark.parametrize(("warmup_steps", "is_told"), [(8, False), (9, True)])
def test_a_rate_that_falls_before_it_has_risen_is_told(
    treebank: Path, tmp_path: Path, warmup_steps: int, is_told: bool
) -> None:
    """Of 12 steps the last 5 fall, the eighth being the first of them."""
    keys = ("train.cooldown_share=0.4", f"train.warmup_steps={warmup_steps}")
    run = Made(treebank, tmp_path / "model", *keys, dry_run=True)
    peak = [
        learning_rate(
            step, replace(TrainConfig(), max_steps=12, warmup_steps=warmup_steps, cooldown_share=0.4), 16
        )
        for step in range(1, 13)
    ]

    assert bool(run.told("the rate never comes to its peak")) == is_told
    assert (max(peak) < (16 * warmup_steps) ** -0.5 - 1e-12) == is_told
