"""Train a parser and parse; the model is tiny and trained for seconds, so its trees are bad ones."""

from dataclasses import replace

from dragoman import Parser, TrainOptions, format_tree, train

settings = [
    *("data.task=parsing", "data.keep_tags=true", "data.dev_pairs=10", "data.test_pairs=10"),
    *("model.num_encoder_layers=1", "model.num_decoder_layers=1", "model.d_model=32", "model.d_ff=64"),
    *("model.vocabulary_size=416", "train.max_steps=20", "train.batch_tokens=500"),
    *("train.warmup_steps=5", "train.validation_interval_steps=10", "search.beam_size=2"),
]
outcome = train(["garden.mrg"], "parser", TrainOptions(recipe="parsing-small", settings=settings))
print(outcome.dev_scores["f1"], outcome.test_files)

parser = Parser.load("parser")
for parse in parser.parse([["the", "old", "farmer", "sings", "."], []], replace(parser.config, n_best=2)):
    for alternative in parse.alternatives:
        print(alternative.score, format_tree(alternative.tree))
