# full
# A parser of a small English grammar, far from good, trained while you wait.
dragoman train garden.mrg --task parsing --out parser --recipe parsing-small \
    --set model.num_encoder_layers=1 --set model.num_decoder_layers=1 --set model.d_model=64 --set model.d_ff=128 \
    --set model.vocabulary_size=416 --set train.max_steps=80 --set train.batch_tokens=600 --set train.warmup_steps=30

# A filter: one tree out for each line in.
echo 'the old farmer ( a friend ) sings .' | dragoman parse parser

# Text as people write it, and a picture.
echo "The farmer's dog doesn't sleep." | dragoman parse parser --raw --format draw

# A file to a file, which appears when it is whole.
printf 'the dog sleeps .\n\nit sees a small boat .\n' > sentences.txt
dragoman parse parser sentences.txt --output sentences.mrg

# Several trees of each line, with scores; then everything as JSON.
dragoman parse parser sentences.txt --n-best 3 --scores
dragoman parse parser sentences.txt --n-best 3 --format json

# What the model writes where nothing holds it to trees.
dragoman parse parser sentences.txt --unconstrained
