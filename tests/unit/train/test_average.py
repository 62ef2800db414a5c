"""The mean of checkpoints, and the moving average over the steps."""

import json
from pathlib import Path

import pytest
import safetensors.torch
import torch

from dragoman.train.average import AVERAGE, average, exchange_averages, update_moving_average
from tiny_models import tiny_model


def test_the_mean_is_right(shared: Path) -> None:
    """S27: the mean of three checkpoints of a tied model is the one worked out by hand."""
    case = json.loads((shared / "cases" / "S27-average-tied" / "case.json").read_text())
    checkpoints = [
        {name: torch.tensor(values) for name, values in checkpoint.items()}
        for checkpoint in case["checkpoints"]
    ]

    assert {name: tensor.tolist() for name, tensor in average(checkpoints).items()} == case["right"]


def test_a_tied_tensor_is_averaged_once_and_stays_tied() -> None:
    """S27: the mean has one tensor for embeddings and projection, and is no larger on disk."""
    models = [tiny_model(seed) for seed in (1, 2, 3)]
    mean = average(model.state_dict() for model in models)
    target = tiny_model(4)
    target.load_state_dict(mean)
    expected = sum(model.embedding.weight_VD.detach() for model in models) / 3

    torch.testing.assert_close(target.embedding.weight_VD.detach(), expected, rtol=0, atol=1e-15)
    assert target.output_weight_VD is target.embedding.weight_VD
    assert len(safetensors.torch.save(mean)) == len(safetensors.torch.save(models[0].state_dict()))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_short_formats_are_summed_in_float32(dtype: torch.dtype) -> None:
    """S27: sums that 16 bits cannot hold are still right, and the mean has the type of its parts."""
    checkpoints = [{"x": torch.full((4,), 60_000.0 if dtype == torch.float16 else 1.0, dtype=dtype)}] * 300
    mean = average(checkpoints)["x"]

    assert mean.dtype == dtype
    assert torch.equal(mean, checkpoints[0]["x"])


def test_one_checkpoint_is_its_own_mean_and_stays_untouched() -> None:
    """The mean of one is equal to it, and shares no memory with it."""
    model = tiny_model()
    mean = average([model.state_dict()])
    mean["embedding.weight_VD"].zero_()

    assert model.embedding.weight_VD.any()


def test_checkpoints_are_read_one_at_a_time() -> None:
    """No more than one of them is held beside the sum, so their number costs no memory."""
    released = []

    def stream() -> object:
        for number in range(4):
            yield {"x": torch.tensor([float(number)])}
            released.append(number)

    assert average(stream())["x"].tolist() == [1.5]
    assert released == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "checkpoints",
    [[], [{"x": torch.ones(1)}, {"y": torch.ones(1)}], [{"x": torch.ones(1)}, {"x": torch.ones(2)}]],
)
def test_what_does_not_belong_together_is_refused(checkpoints: list[dict[str, torch.Tensor]]) -> None:
    """No checkpoint, other names or other shapes have no mean."""
    with pytest.raises(ValueError, match=r"checkpoint|shape"):
        average(checkpoints)


@pytest.mark.parametrize("decay", [0.5, 0.999])
def test_a_moving_average_follows_its_formula(decay: float) -> None:
    """After each update it is what the same sum in plain numbers says, with a shorter memory at first."""
    parameter = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
    optimizer = torch.optim.SGD([parameter])
    optimizer.state[parameter] = {AVERAGE: torch.tensor([7.0], dtype=torch.float64)}
    expected, found = [7.0], [7.0]
    for number in range(1, 40):
        with torch.no_grad():
            parameter.fill_(float(number**2 % 11))
        update_moving_average(optimizer, decay, number)
        share = min(decay, (1 + number) / (10 + number))
        expected.append(share * expected[-1] + (1 - share) * parameter.item())
        found.append(optimizer.state[parameter][AVERAGE].item())

    assert found == pytest.approx(expected, rel=1e-12)


def test_averages_are_exchanged_and_put_back() -> None:
    """The model holds the averages while they are exchanged, and its own parameters again afterwards."""
    model = tiny_model()
    optimizer = torch.optim.SGD(model.parameters())
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    for parameter in model.parameters():
        optimizer.state[parameter] = {AVERAGE: torch.full_like(parameter, 0.25)}
    exchange_averages(model, optimizer)
    values = {value for tensor in model.state_dict().values() for value in tensor.unique().tolist()}
    exchange_averages(model, optimizer)

    assert values == {0.25}
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
