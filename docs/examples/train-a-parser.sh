# full
# A parser of a small English grammar, learned from 700 trees while you wait.
dragoman train garden.mrg --task parsing --out parser --recipe parsing-small --set data.keep_tags=true \
    --set model.num_encoder_layers=2 --set model.num_decoder_layers=2 --set model.d_model=64 --set model.d_ff=128 \
    --set model.d_k=8 --set model.d_v=8 --set model.dropout=0 --set model.vocabulary_size=416 \
    --set train.max_steps=600 --set train.batch_tokens=600 --set train.warmup_steps=100 \
    --set train.peak_rate=0.004 --set train.validation_interval_steps=200

# A sentence of your own: its words parted by spaces, or as it is typed.
echo 'the old farmer sings .' > mine.txt
dragoman parse parser mine.txt
dragoman parse parser mine.txt --format draw
echo 'The cat sleeps.' | tr A-Z a-z | dragoman parse parser --raw --n-best 2 --scores

# How good is it? On the trees that training has split off, with the beam of the recipe and greedily.
dragoman evaluate parser parser/held-out/test.mrg
dragoman evaluate parser parser/held-out/test.mrg --beam-size 1
