"""Choose outputs in other ways than by plain search; models of seconds say little."""

from dataclasses import replace
from pathlib import Path

from dragoman import TrainOptions, Translator, train

numbers = [" ".join(str(number)) for number in range(100, 700)]
for name, own in {"train": numbers[:-20], "dev": numbers[-20:]}.items():
    for side in ("in", "out"):
        Path(f"{name}.{side}").write_text("".join(f"{line}\n" for line in own), encoding="utf-8")
settings = [
    *("model.num_encoder_layers=1", "model.num_decoder_layers=1", "model.d_model=32", "model.d_ff=64"),
    *("train.max_steps=60", "train.batch_tokens=500", "search.extra_length=10", "data.test_pairs=0"),
]
for seed, folder in enumerate(["model", "second-model"], start=1):
    options = TrainOptions(
        recipe="tiny", dev=["dev.in", "dev.out"], settings=[*settings, f"train.seed={seed}"]
    )
    train(["train.in", "train.out"], folder, options)

from dragoman.choice import Choice, Sampling  # noqa: E402

translator = Translator.load("model")
texts = ["4 2 7", "1 0 0"]

# Complete what is begun: one prefix for each text; an empty one leaves it free.
for translation in translator.translate(texts, prefixes=["4 2", ""]):
    print(translation.text)

# Forbid words.
for translation in translator.translate(texts, choice=Choice(forbidden=("7", "0 0"))):
    print(translation.text)

# Draw three outputs of each text.
drawn = Choice(sampling=Sampling(count=3, top_p=0.8, seed=1))
for translation in translator.translate(texts, choice=drawn):
    print([alternative.text for alternative in translation.alternatives])

# Four outputs that differ more than those of plain search.
four = replace(translator.config, beam_size=8, n_best=4)
for translation in translator.translate(texts, four, choice=Choice(diversity=1.0)):
    print([(alternative.score, alternative.text) for alternative in translation.alternatives])

# The output that is most like all others that the beam has found.
for translation in translator.translate(texts, choice=Choice(least_risk=True)):
    print(translation.text)

# Two models that choose each piece together.
ensemble = Translator.load("model", others=["second-model"])
for translation in ensemble.translate(texts):
    print(translation.text)
