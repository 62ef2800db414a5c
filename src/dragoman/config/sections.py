"""The configuration: frozen sections whose defaults are the paper's base model.

The docstring under a key is its help text; pydantic checks every value.
"""

from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

_STRICT = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

LARGEST = 2**31 - 1
"""No whole number of a configuration is greater: what torch and sentencepiece count with ends there."""

Count = Annotated[int, Field(ge=1, le=LARGEST)]
Natural = Annotated[int, Field(ge=0, le=LARGEST)]
Probability = Annotated[float, Field(ge=0.0, lt=1.0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Small = Annotated[float, Field(gt=0.0, le=1.0, allow_inf_nan=False)]


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class ModelConfig:
    """The Transformer. Defaults are the base model of Vaswani et al. (2017), Table 3."""

    vocabulary_size: Annotated[int, Field(ge=16, le=LARGEST, multiple_of=8)] = 37_000
    """Pieces shared by source and target, with end, unknown and padding (§5.1); a multiple of 8.
    Lowered with a notice when the corpus cannot carry it."""

    source_vocabulary_size: Annotated[int, Field(ge=3, le=LARGEST)] | None = None
    """Pieces of the source side where it has its own (CTranslate2, fairseq); needs separate embeddings."""

    num_encoder_layers: Count = 6
    """Layers of the encoder, N in the paper (§3.1)."""

    num_decoder_layers: Count = 6
    """Layers of the decoder, N in the paper (§3.1)."""

    d_model: Annotated[int, Field(ge=2, le=LARGEST, multiple_of=2)] = 512
    """Width of every sub-layer's output (§3.1)."""

    d_ff: Count = 2_048
    """Inner width of the feed-forward network (§3.3)."""

    num_heads: Count = 8
    """Attention heads, h in the paper (§3.2.2)."""

    d_k: Count = 64
    """Width of one head's queries and keys, free of d_model / num_heads (Table 3, rows A and B)."""

    d_v: Count = 64
    """Width of one head's values (Table 3, row A)."""

    dropout: Probability = 0.1
    """Share of each sub-layer's output, and of embeddings plus positions, set to zero in training (§5.4)."""

    positions: Literal["interleaved", "halves", "learned", "table"] = "interleaved"
    """Sine and cosine in turn (§3.5), in two halves (Marian), learned (Table 3, row E), or a fixed table
    stored with the weights (fairseq, CTranslate2)."""

    first_position: Natural = 0
    """Value of the first position: 0 in the paper, 1 or 2 in CTranslate2 and fairseq."""

    max_positions: Count = 1_024
    """Rows of learned positions and of a stored table; sinusoids have no limit."""

    norm: Literal["post", "pre"] = "post"
    """LayerNorm after the residual sum (§3.1), or before each sub-layer with one more at the end of each
    stack (fairseq, CTranslate2; deep models)."""

    norm_epsilon: Small = 1e-5
    """Added to the variance inside LayerNorm's square root."""

    attention_bias: bool = False
    """Biases in the four projections of attention (Marian, fairseq, CTranslate2); the paper has none."""

    output_bias: bool = False
    """A bias on the logits (Marian, CTranslate2); the paper has none."""

    embeddings: Literal["shared", "target", "separate"] = "shared"
    """One tensor for source, target and output projection (§3.4); "target" shares the last two only and
    "separate" none (fairseq, CTranslate2)."""

    activation: Literal["relu", "gelu", "swish"] = "relu"
    """Of the feed-forward network: max(0, x) in the paper (§3.3); gelu (fairseq) and swish (Marian)."""

    @model_validator(mode="after")
    def _own_source_vocabulary(self) -> "ModelConfig":
        if self.source_vocabulary_size is not None and self.embeddings == "shared":
            raise ValueError('source_vocabulary_size needs embeddings = "target" or "separate"')
        return self


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class DataConfig:
    """Pairs, pieces and batches."""

    max_length: Annotated[int, Field(ge=2, le=LARGEST)] = 256
    """Longest source or target that is trained on, in pieces, end of sentence included."""

    dev_pairs: Natural = 1_000
    """Pairs split off for development when none are named; at most a twentieth of the corpus."""

    test_pairs: Natural = 1_000
    """Pairs split off for the final test when none are named; at most a twentieth of the corpus."""

    tokenized: bool = False
    """The corpus is tokens parted by spaces, as Moses writes them; BLEU is then over these tokens."""

    bpe_dropout: Probability = 0.0
    """Share of merges left out at random while training, drawn anew each epoch (Provilkov et al., 2020)."""

    silver_weight: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    """What a pair or tree of --silver counts beside one of the corpus: this share of them is drawn for each
    epoch, others each time."""

    task: Literal["translation", "parsing"] = "translation"
    """What is learned: translation from pairs of texts, or parsing from a file of trees (§6.3)."""

    keep_tags: bool = False
    """Parsing: the symbol of a word is its part-of-speech tag, so that tags are predicted too; off, one
    symbol stands for all tags."""

    reads_words: bool = False
    """Parsing: for each word that it has written the decoder reads the first piece of the word that follows,
    which makes a few trees go far; off, it reads the symbol that it has written, as in the paper."""

    longest_run: Count | None = None
    """Parsing: the most brackets that open with no word between them, which bounds every chain and so every
    output; left out, as many as in the treebank."""

    tokenizer_sentences: Count = 2_000_000
    """Sentences the tokenizer learns from at most; a larger corpus is sampled."""


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class TrainConfig:
    """Training. Defaults are Vaswani et al. (2017), §5."""

    seed: Annotated[int, Field(ge=0, le=LARGEST)] = 1
    """Start of every random choice: order of the data, first weights, dropout, held-out pairs."""

    max_steps: Count = 100_000
    """Optimizer updates (§5.2)."""

    max_minutes: Positive | None = None
    """Training time after which the run ends as if it had reached max_steps, in minutes."""

    batch_tokens: Count = 25_000
    """Source positions and target positions in one step, each (§5.1)."""

    micro_batch_tokens: Count | None = None
    """Positions computed at once: a step is cut into micro-batches of this size, which changes memory
    and speed and hardly the result; left out, 4,096 on a processor and the whole step on a GPU."""

    warmup_steps: Count = 4_000
    """Steps over which the learning rate rises (§5.3)."""

    peak_rate: Annotated[float, Field(gt=0.0, le=100.0, allow_inf_nan=False)] | None = None
    """Learning rate at the end of the warm-up; left out, it is the paper's (d_model · warmup_steps)^-0.5
    (§5.3, Eq. 3)."""

    cooldown_share: Probability = 0.0
    """Share of the steps, the last ones, over which the rate falls in a line to zero. Unlike the paper,
    which has none."""

    adam_beta1: Probability = 0.9
    """Adam's decay of the mean (§5.3)."""

    adam_beta2: Probability = 0.98
    """Adam's decay of the uncentered variance (§5.3)."""

    adam_epsilon: Small = 1e-9
    """Added to Adam's denominator (§5.3)."""

    label_smoothing: Probability = 0.1
    """Share of the target probability spread over all pieces (§5.4)."""

    r_drop: Annotated[float, Field(ge=0.0, le=100.0)] = 0.0
    """Weight of R-Drop (Liang et al., 2021): every pair is computed twice, with other units dropped, and both
    must agree; its authors take 5 for a small corpus, and 0, the paper's way, leaves it out."""

    max_grad_norm: Annotated[float, Field(ge=1e-6, allow_inf_nan=False)] | None = None
    """Gradients longer than this are scaled down to it; the paper clips none."""

    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Number format of the matrix products; auto takes bfloat16 where the processor or GPU gains by it."""

    fast: bool = True
    """Use the fast forms of loss, attention and dropout; off, the readable ones, equal in value."""

    deterministic: bool = False
    """Give the same bits each time on a GPU as well, where that is slower; a processor always does."""

    sharded: bool = False
    """On several ranks, each keeps its share of parameters, gradients and moments (FSDP2), for models that
    do not fit one device; off, each keeps all of them (DDP)."""

    validation_interval_steps: Count = 1_000
    """Steps between validations; each one also writes a checkpoint."""

    validation_sentences: Natural = 500
    """Development sentences translated at each validation, for BLEU and chrF; loss is over all pairs."""

    select_by: Literal["auto", "loss", "bleu", "chrf", "f1"] = "auto"
    """Development score that decides which checkpoint is best; auto takes bleu in translation, and f1 of
    labeled brackets in parsing."""

    patience: Count | None = None
    """Validations without a better score after which training stops; left out, it never does."""

    tensorboard: bool = False
    """Write the numbers of metrics.jsonl for TensorBoard as well, into the model's folder tensorboard."""

    average_checkpoints: Count = 5
    """Checkpoints whose mean is compared with the best one at the end (§6.1)."""

    average_of: Literal["last", "best"] = "last"
    """Which checkpoints these are: the last, as in the paper, or those with the best development scores."""

    average_always: bool = False
    """Keep their mean whatever its score, as the paper does; off, the better one of it and the best
    checkpoint."""

    moving_average: Probability = 0.0
    """Decay of an exponential moving average of the parameters, which then is what is validated, saved and
    kept in their place; 0.999 looks back over about 1,000 steps, 0 is off, as in the paper."""

    @property
    def bytes_per_parameter(self) -> int:
        """Memory of a parameter, its gradient, Adam's two moments and its moving average, 4 bytes each."""
        return 20 if self.moving_average else 16

    def bytes_on_a_rank(self, num_ranks: int) -> float:
        """Memory of a parameter on one of so many ranks.

        With shards it is a share, and the parameter alone once more on the first rank, which validates with
        all of them; it begins with all of them twice.
        """
        if num_ranks == 1 or not self.sharded:
            return self.bytes_per_parameter
        return max(8, self.bytes_per_parameter / num_ranks + 4)

    @property
    def positions_at_once(self) -> int:
        """Positions of a micro-batch: ``micro_batch_tokens`` or, left out, those of the whole step."""
        return self.micro_batch_tokens or self.batch_tokens


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class SearchConfig:
    """Decoding. Defaults are Vaswani et al. (2017), §6.1."""

    beam_size: Annotated[int, Field(ge=1, le=1_000)] = 4
    """Hypotheses kept for each sentence; 1 is greedy."""

    length_penalty: Annotated[float, Field(ge=-10.0, le=10.0, allow_inf_nan=False)] = 0.6
    """α of ((5 + |Y|) / 6)^α, by which a hypothesis's log-probability is divided (Wu et al., 2016)."""

    extra_length: Annotated[int, Field(ge=0, le=10_000)] = 50
    """Pieces by which an output may be longer than its source, end of sentence included."""

    n_best: Count = 1
    """Hypotheses returned for each sentence; at most beam_size."""

    batch_tokens: Count = 4_096
    """Source positions translated at once."""

    shortlist: bool = False
    """Whether only likely translations of the pieces of a source may come: faster. Where the native engine
    does not search, as in training, it has no effect."""

    @model_validator(mode="after")
    def _n_best_fits(self) -> "SearchConfig":
        if self.n_best > self.beam_size:
            raise ValueError(f"n_best ({self.n_best}) is greater than beam_size ({self.beam_size})")
        return self


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Config:
    """All sections; stored with each model as its ``config.json``."""

    model: ModelConfig = field(default_factory=ModelConfig)
    """The Transformer."""

    data: DataConfig = field(default_factory=DataConfig)
    """Pairs, pieces and batches."""

    train: TrainConfig = field(default_factory=TrainConfig)
    """Training."""

    search: SearchConfig = field(default_factory=SearchConfig)
    """Decoding."""


Values = dict[str, Any]
"""Nested plain values of a configuration, as TOML gives them."""
