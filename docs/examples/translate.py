# full
"""Train, translate and evaluate from Python."""

from pathlib import Path

from dragoman import EvaluateOptions, TrainOptions, Translator, evaluate, train

numbers = [" ".join(str(number)) for number in range(100, 1_100)]
for name in ("numbers.in", "numbers.out"):
    Path(name).write_text("".join(f"{line}\n" for line in numbers), encoding="utf-8")
settings = ["train.max_steps=60", "train.batch_tokens=500"]
outcome = train(["numbers.in", "numbers.out"], "model", TrainOptions(recipe="tiny", settings=settings))

translator = Translator.load("model")
for translation in translator.translate(["4 2 7", "", "1 0 0 1"]):
    best = translation.alternatives[0]
    print(translation.text, translation.score, best.pieces, best.finished)

source, reference = outcome.test_files or ("numbers.in", "numbers.out")
evaluation = evaluate(translator, source, [reference], EvaluateOptions(paper_bleu=True))
print(evaluation.scores.bleu.value, evaluation.scores.bleu.signature)
