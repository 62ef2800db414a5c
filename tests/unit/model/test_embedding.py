"""Embeddings and positions."""

import math

import pytest
import torch
from torch import Tensor

from dragoman.model.embedding import Embedding, Positions, sinusoids
from tiny_models import tiny_config


def by_hand(position: int, column: int, d_model: int) -> float:
    """PE(pos, 2i) = sin(pos / 10000^(2i / d_model)), PE(pos, 2i + 1) = cos of the same (§3.5)."""
    even = column - column % 2
    angle = position / 10_000 ** (even / d_model)
    return math.cos(angle) if column % 2 else math.sin(angle)


@pytest.mark.parametrize("d_model", [2, 6, 16, 64])
@pytest.mark.parametrize("first_position", [0, 1, 2])
def test_positions_are_the_papers_formula(d_model: int, first_position: int) -> None:
    """Sine and cosine take turns from column to column, with the paper's wavelengths."""
    table = sinusoids(300, d_model, first_position=first_position)
    expected = [[by_hand(p + first_position, c, d_model) for c in range(d_model)] for p in (0, 1, 7, 299)]
    found = table[[0, 1, 7, 299]]

    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-12)


def test_halves_hold_the_same_columns_in_another_order() -> None:
    """Positions in halves are the interleaved ones with all sines left and all cosines right (Marian)."""
    interleaved, halves = sinusoids(50, 12), sinusoids(50, 12, halves=True)

    assert torch.equal(halves, torch.cat([interleaved[:, 0::2], interleaved[:, 1::2]], dim=1))


def test_wavelengths_go_from_two_pi_towards_ten_thousand_times_that() -> None:
    """The first pair of columns comes back after 2π; each next one is slower by the same factor (§3.5)."""
    d_model = 32
    angle = torch.atan2(*sinusoids(2, d_model)[1].view(-1, 2).T)
    wavelength = 2 * math.pi / angle

    torch.testing.assert_close(wavelength[0], torch.tensor(2 * math.pi).double())
    torch.testing.assert_close(
        wavelength[1:] / wavelength[:-1], torch.full((15,), 10_000 ** (2 / d_model)).double()
    )


@pytest.mark.parametrize("offset", [1, 3, 17, 100])
def test_a_fixed_offset_is_one_linear_map(offset: int) -> None:
    """PE(pos + k) is the same linear map of PE(pos) for every pos: a rotation of each pair (§3.5)."""
    d_model, table = 16, sinusoids(500, 16)
    rotation = torch.zeros(d_model, d_model, dtype=torch.float64)
    for even in range(0, d_model, 2):
        angle = offset / 10_000 ** (even / d_model)
        sine, cosine = math.sin(angle), math.cos(angle)
        rotation[even : even + 2, even : even + 2] = torch.tensor(
            [[cosine, sine], [-sine, cosine]], dtype=torch.float64
        )

    torch.testing.assert_close(table[offset:], table[:-offset] @ rotation.T, rtol=0, atol=1e-10)


def embedding(**changes: object) -> Embedding:
    return Embedding(tiny_config(**changes), 24).double().eval()


def test_pieces_are_scaled_and_positions_added() -> None:
    """A piece at a position is its vector times √d_model plus the position's vector (§3.4, §3.5)."""
    layer = embedding()
    token = torch.tensor([[3, 5, 3]])
    expected = layer.weight_VD[token[0]] * 4.0 + sinusoids(3, 16)

    torch.testing.assert_close(layer(token)[0], expected, rtol=0, atol=1e-12)


def test_embedding_can_begin_at_a_later_position() -> None:
    """Piece by piece gives the same vectors as all at once, also beyond the first size of the table."""
    layer = embedding()
    token = torch.arange(2, 23).repeat(30)[None]
    whole = layer(token)
    for place in (0, 1, 255, 256, 257, 600):
        assert torch.equal(layer(token[:, place : place + 1], place)[:, 0], whole[:, place])


def test_padding_stands_for_zeros() -> None:
    """The padding piece adds nothing to its position, so the decoder starts from the zero vector."""
    layer = embedding()
    start: Tensor = layer(torch.tensor([[23]]))[0, 0]

    assert torch.equal(start, sinusoids(1, 16)[0])
    assert start.tolist() == [0.0, 1.0] * 8


@pytest.mark.parametrize("first_position", [0, 1, 2])
@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_first_position_shifts_the_table(first_position: int, layout: str) -> None:
    """The first piece stands at the value that the configuration names."""
    positions = Positions(tiny_config(positions=layout, first_position=first_position))
    table = sinusoids(20, 16, halves=layout == "halves")
    like = torch.zeros((), dtype=torch.float64)

    assert torch.equal(positions(3, 9, like), table[3 + first_position : 9 + first_position])


def test_sinusoids_have_no_limit() -> None:
    """Positions beyond the longest sentence of training are computed as they are asked for."""
    positions = Positions(tiny_config(max_positions=4))

    assert positions(4_999, 5_000, torch.zeros(())).shape == (1, 16)


@pytest.mark.parametrize("kind", ["learned", "table"])
def test_tables_end_where_they_end(kind: str) -> None:
    """Learned and stored positions are taken row by row, and refuse what lies beyond."""
    positions = Positions(tiny_config(positions=kind, max_positions=10))
    with torch.no_grad():
        positions.table_TD.copy_(torch.arange(160.0).view(10, 16))
    like = torch.zeros(())

    assert torch.equal(positions(8, 10, like), torch.arange(128.0, 160.0).view(2, 16))
    with pytest.raises(ValueError, match="beyond the 10 rows"):
        positions(9, 11, like)


def test_learned_positions_are_trained_and_stored_ones_are_not() -> None:
    """Learned positions are parameters; a stored table is saved with the weights but stays as it is."""
    learned = Positions(tiny_config(positions="learned"))
    table = Positions(tiny_config(positions="table"))
    sinusoidal = Positions(tiny_config())

    assert [name for name, _ in learned.named_parameters()] == ["table_TD"]
    assert (list(table.state_dict()), list(table.parameters())) == (["table_TD"], [])
    assert list(sinusoidal.state_dict()) == []
