"""Train and watch, translate, and score; the model is tiny, so that it takes seconds."""

from dataclasses import replace
from pathlib import Path

from dragoman import EvaluateOptions, TrainOptions, Translator, evaluate, train
from dragoman.run import Reporter


class Watcher(Reporter):
    """Prints every validation."""

    def validated(self, progress, scores, samples, *, is_best):
        print(progress.step, scores["loss"], is_best, repr(samples[0].hypothesis))


numbers = [" ".join(str(number)) for number in range(100, 700)]
for name in ("numbers.in", "numbers.out"):
    Path(name).write_text("".join(f"{line}\n" for line in numbers), encoding="utf-8")

settings = [
    *("model.num_encoder_layers=1", "model.num_decoder_layers=1", "model.d_model=32", "model.d_ff=64"),
    *("train.max_steps=40", "train.batch_tokens=500", "train.validation_interval_steps=20"),
    "train.validation_sentences=5",
]
outcome = train(
    ["numbers.in", "numbers.out"], "model", TrainOptions(recipe="tiny", settings=settings), reporter=Watcher()
)
print(outcome.reason, outcome.progress.step, outcome.chosen)

translator = Translator.load("model")
for translation in translator.translate(["4 2 7", ""], replace(translator.config, n_best=2)):
    for alternative in translation.alternatives:
        print(repr(translation.source), alternative.score, alternative.text)

Path("some.in").write_text("1 2 3\n4 5 6\n", encoding="utf-8")
evaluation = evaluate(translator, "some.in", ["some.in"], EvaluateOptions(ter=False))
print("\n".join(evaluation.lines()))
