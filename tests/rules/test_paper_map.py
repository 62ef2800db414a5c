"""The code says where in the paper it comes from."""

from pathlib import Path

import pytest

from paper_map import METHOD, SECTIONS, cited, page, places


@pytest.fixture
def package(root: Path) -> Path:
    return root / "src" / "dragoman"


@pytest.mark.parametrize("section", METHOD)
def test_every_part_of_the_method_is_in_the_code(section: str, package: Path) -> None:
    """Each section that describes what is computed is cited by the code that computes it."""
    cited_by = [place.name for place in places(package) if section in place.sections]

    assert cited_by, f"no docstring under src has 'Source: Vaswani et al. (2017), §{section}'"


def test_every_cited_section_exists(package: Path) -> None:
    """No docstring cites a section that the paper does not have."""
    unknown = {place.name: set(place.sections) - set(SECTIONS) for place in places(package)}

    assert {name: sections for name, sections in unknown.items() if sections} == {}


def test_the_page_lists_every_place(package: Path) -> None:
    """The page of the documentation names each part that cites the paper."""
    text = page(package)

    assert [place.name for place in places(package) if f"`{place.name}`" not in text] == []


@pytest.mark.parametrize(
    ("docstring", "sections"),
    [
        ("Sum.\n\nSource: Vaswani et al. (2017), §3.2.1, Eq. 1.", ("3.2.1",)),
        ("Sum.\n\nSource: Vaswani et al. (2017), §3 and Figure 1; §3.4 for the tensor.", ("3", "3.4")),
        ("Sum.\n\nSource: Vaswani et al. (2017), §5.4; Szegedy et al. (2015), §7.", ("5.4",)),
        ("Sum.\n\nSource: Wu et al. (2016), §7, Eq. 14.", ()),
        ("Sum of Vaswani et al. (2017), §3.", ()),
    ],
)
def test_only_the_paper_s_own_sections_count(docstring: str, sections: tuple[str, ...]) -> None:
    """A section that follows another author's name is not the paper's."""
    assert cited(docstring) == sections
