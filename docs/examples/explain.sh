# full
# A model that learns to copy numbers, small enough to train while you wait.
seq 100 1099 | sed 's/./& /g; s/ $//' > numbers.in
cp numbers.in numbers.out
dragoman train numbers.in numbers.out --out model --recipe tiny --set train.max_steps=400 --set train.warmup_steps=100 \
    --set train.batch_tokens=500 --set model.num_encoder_layers=2 --set model.num_decoder_layers=2

# In the terminal, as a page for a browser, as a figure, as numbers.
dragoman explain model "4 2 7"
dragoman explain model "4 2 7" --output page.html
dragoman explain model "4 2 7" --kind encoder --layer 1 --heads 1,2 --output figure.svg
dragoman explain model "4 2 7" --word 2 --output numbers.json

# How likely would another output have been?
dragoman explain model "4 2 7" --translation "4 2 8"

# Which word belongs to which, for a corpus.
dragoman explain model --alignments numbers.in --alignments numbers.out > numbers.align
