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


def pull_together(logprob_CV: Tensor, probability_CV: Tensor) -> tuple[Tensor, Tensor]:
    """Return the disagreement and its gradient by the logits (CV).

    By those of a row p with the other one q, and d = ln p - ln q, it is p (d - Σ p d) + p - q. What is
    impossible in both rows has none.
    """
    gap_PV = (logprob_CV[0::2] - logprob_CV[1::2]).nan_to_num_(nan=0.0)
    gap_CV = torch.stack([gap_PV, -gap_PV], dim=1).flatten(0, 1)
    weighted_CV = probability_CV * gap_CV
    mean_C1 = weighted_CV.sum(dim=1, keepdim=True)
    other_CV = probability_CV.view(-1, 2, probability_CV.size(1)).flip(1).flatten(0, 1)
    return mean_C1.sum(), weighted_CV - probability_CV * mean_C1 + probability_CV - other_CV
