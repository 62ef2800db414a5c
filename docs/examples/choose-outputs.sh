# Two models of seconds, which copy numbers badly; what counts here are the commands.
seq 100 699 | sed 's/./& /g; s/ $//' > numbers.in
cp numbers.in numbers.out
head -n 20 numbers.in > dev.in
cp dev.in dev.out
for seed in 1 2; do
    dragoman train numbers.in numbers.out --dev dev.in --dev dev.out --out model$seed --recipe tiny --seed $seed \
        --set train.max_steps=60 --set train.batch_tokens=500 --set data.test_pairs=0 --set search.extra_length=10 \
        --set model.num_encoder_layers=1 --set model.num_decoder_layers=1 --set model.d_model=32 --set model.d_ff=64
done
head -n 3 numbers.in > some.in

# Complete, forbid, draw, differ, choose by risk, ask two models.
printf '1 0\n\n1\n' > begun.out
dragoman translate model1 some.in --prefix begun.out
dragoman translate model1 some.in --forbid 7 --forbid '0 0'
dragoman translate model1 some.in --sample 3 --top-p 0.8 --seed 1
dragoman translate model1 some.in --n-best 4 --beam-size 8 --diversity 1
dragoman translate model1 some.in --mbr --beam-size 8
dragoman translate model1 some.in --ensemble model2
dragoman evaluate model1 some.in some.in --ensemble model2 --no-ter

# Formats, and lines as they are done.
dragoman translate model1 some.in --scores
dragoman translate model1 some.in --n-best 2 --format jsonl
dragoman translate model1 some.in --order any --format moses | sort -n

# The shortlist of the training, and weights that are packed once, with a shortlist of other pairs.
dragoman translate model1 some.in --shortlist
dragoman pack model1
dragoman pack model1 numbers.in numbers.out
dragoman translate model1 some.in --precision int8 --shortlist
