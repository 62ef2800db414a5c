# full
"""Train a small parser, parse, and draw trees from Python."""

from pathlib import Path

from dragoman import Parser, TrainOptions, draw_tree, format_tree, read_trees, train, tree_svg

settings = [
    "data.task=parsing",
    *("model.num_encoder_layers=1", "model.num_decoder_layers=1", "model.d_model=64", "model.d_ff=128"),
    *("model.vocabulary_size=416", "train.max_steps=80", "train.batch_tokens=600", "train.warmup_steps=30"),
]
train(["garden.mrg"], "parser", TrainOptions(recipe="parsing-small", settings=settings))

parser = Parser.load("parser")
for parse in parser.parse([["the", "dog", "(", "it", ")", "sleeps", "."], ["yes"]]):
    best = parse.alternatives[0]
    print(best.score, " ".join(best.symbols))
    if best.tree is not None:
        print(format_tree(best.tree))
        print(draw_tree(best.tree, width=100))

first = next(read_trees("garden.mrg"))
print(first.line, [leaf.word for leaf in first.tree.leaves()])
Path("first.svg").write_text(tree_svg(first.tree), encoding="utf-8")
