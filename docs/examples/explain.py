"""Look into a model; this one is trained for seconds, so that what it does makes little sense yet."""

from pathlib import Path

from dragoman import Explainer, TrainOptions, train
from dragoman.bundle import Bundle
from dragoman.visualize.explanation import far_reaching

numbers = [" ".join(str(number)) for number in range(100, 1_100)]
for name in ("numbers.in", "numbers.out"):
    Path(name).write_text("".join(f"{line}\n" for line in numbers), encoding="utf-8")
settings = ["train.max_steps=20", "train.batch_tokens=500"]
train(["numbers.in", "numbers.out"], "model", TrainOptions(recipe="tiny", settings=settings))

explainer = Explainer(Bundle.load(Path("model")))
explanation = explainer.explain("4 2 7")
print(explanation.output, explanation.cross.shape)
for reach in far_reaching(explanation, "4")[:3]:
    print(reach.layer, reach.head, round(reach.distance, 2), reach.target)
for piece, candidates in zip(explanation.target_pieces, explanation.candidates, strict=True):
    print(piece, [(one.piece, round(one.probability, 3)) for one in candidates])
