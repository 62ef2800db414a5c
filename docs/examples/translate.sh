# full
# A model that learns to copy numbers, small enough to train while you wait.
seq 100 1099 | sed 's/./& /g; s/ $//' > numbers.in
cp numbers.in numbers.out
dragoman train numbers.in numbers.out --out model --recipe tiny --set train.max_steps=400 --set train.warmup_steps=100 \
    --set train.batch_tokens=500 --set model.num_encoder_layers=2 --set model.num_decoder_layers=2

# A filter: one line out for each line in.
echo '4 2 7' | dragoman translate model

# A file to a file, which appears when it is whole.
head -n 20 numbers.in > some.in
dragoman translate model some.in --output some.out

# Several translations of each line, with scores: Moses's form, then JSON.
head -n 2 some.in | dragoman translate model --n-best 3
head -n 2 some.in | dragoman translate model --n-best 3 --format jsonl

# How good is it? On the pairs that training has split off, and on others.
dragoman evaluate model model/held-out/test.in model/held-out/test.out --output kept.out
head -n 20 numbers.out > some.reference
dragoman evaluate --hypothesis some.out some.reference
