"""How far two predictions of the same pieces are apart, and what brings them together.

Shapes: C rows, two for each of P pieces and side by side; V classes.

Source: Liang et al. (2021), R-Drop: Regularized Dropout for Neural Networks, §2.
"""

import torch
from torch import Tensor


def disagreement(logprob_CV: Tensor) -> Tensor:
    """Return KL(p‖q) + KL(q‖p) = Σ (p - q) (ln p - ln q) of every two rows, summed (Eq. 2, twice)."""
    first_PV, second_PV = logprob_CV[0::2], logprob_CV[1::2]
    return ((first_PV.exp() - second_PV.exp()) * (first_PV - second_PV)).sum()


def pull_together(logit_CV: Tensor, probability_CV: Tensor, pull: float) -> Tensor:
    """Add the gradient of the disagreement by the logits, times its weight, to the probabilities in place.

    By those of a row p with the other one q, and d = ln p - ln q, it is p (1 + d - Σ p d) - q, in which a
    constant added to d changes nothing: d may be the difference of the logits.

    Args:
        logit_CV: Finite, also where nothing is possible.
        probability_CV: Their softmax.
        pull: The weight, more than zero.

    Returns:
        The disagreement, of which a constant added to d changes nothing either.
    """
    gap_PV = logit_CV[0::2] - logit_CV[1::2]
    first_PV, second_PV = probability_CV[0::2], probability_CV[1::2]
    first_P1 = (first_PV * gap_PV).sum(dim=1, keepdim=True)  # autocast would round a product of vectors
    second_P1 = (second_PV * gap_PV).sum(dim=1, keepdim=True)
    once = 1.0 + 1.0 / pull  # the probability itself is there already
    new_first_PV = torch.addcmul(second_PV, first_PV, (first_P1 - once) - gap_PV)
    new_second_PV = torch.addcmul(first_PV, second_PV, gap_PV.sub_(second_P1 + once))
    torch.mul(new_first_PV, -pull, out=first_PV)
    torch.mul(new_second_PV, -pull, out=second_PV)
    return (first_P1 - second_P1).sum()
