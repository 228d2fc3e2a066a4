# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments of set_item() and set_items(), and the errors for invalid ones."""

import pytest
from gnuradio import spead
from possible_options import ITEMS, TO, x


@pytest.fixture(scope="module")
def two_inputs():
    items = [*ITEMS, x(5), x([6, 7], id=0x3102, name="y")]
    return spead.sink(TO, num_inputs=2, items=items)


@pytest.mark.parametrize(
    "change",
    [
        (0x3101, 0),
        ("x", 2**40 - 1),
        ("y", 8, 0),
        (0x3102, 8, 1),
        (0x3102, 8, -1),
    ],
)
def test_an_immediate_item_is_set_by_id_or_name(two_inputs, change):
    two_inputs.set_item(*change)


@pytest.mark.parametrize(
    ("change", "assignment", "allowed"),
    [
        (("z", 1), 'item = "z"', '0x3101 or "x", 0x3102 or "y"'),
        ((0x3103, 1), "item = 0x3103", '0x3101 or "x", 0x3102 or "y"'),
        ((-1, 1), "item = -1", '0x3101 or "x"'),
        (("timestamp", 1), 'item = "timestamp"', '0x3101 or "x"'),
        ((0x3300, 1), "item = 0x3300", '0x3101 or "x"'),
        (("x", -1), "value = -1", f"0 to {2**40 - 1}"),
        (("x", 2**40), f"value = {2**40}", f"0 to {2**40 - 1}"),
        (("x", 1, 2), "input = 2", "-1 to 1"),
        (("x", 1, -2), "input = -2", "-1 to 1"),
        (("x", 2**40, 1), f"value = {2**40}", f"0 to {2**40 - 1}"),
    ],
    ids=str,
)
def test_an_invalid_argument_of_set_item_is_named(
    two_inputs, change, assignment, allowed
):
    with pytest.raises(ValueError, match=r"^spead\.sink: ") as error:
        two_inputs.set_item(*change)
    message = str(error.value)
    assert f"{assignment} is invalid" in message
    assert allowed in message.split("allowed: ")[1]


@pytest.mark.parametrize(
    ("items", "assignment"),
    [
        (ITEMS, "items = "),
        ([*ITEMS, x(1, id=0x3102, name="y"), x(1)], "items = "),
        ([*ITEMS, x(1), x(1, id=0x3103, name="y")], "items = "),
        ([*ITEMS, x(1), x(1, id=0x3102, name="z")], "items = "),
        ([*ITEMS, x(1), x(2**40, id=0x3102, name="y")], f"value = {2**40}"),
        ([*ITEMS, x([1, 2, 3]), x(1, id=0x3102, name="y")], "value = [1, 2, 3]"),
    ],
    ids=str,
)
def test_an_invalid_list_of_items_is_named(two_inputs, items, assignment):
    with pytest.raises(ValueError, match=r"^spead\.sink: ") as error:
        two_inputs.set_items(items)
    assert assignment in str(error.value)


def test_a_sink_without_immediate_items_says_so():
    with pytest.raises(ValueError, match="allowed: none, as there is no immediate"):
        spead.sink("127.0.0.1:7148").set_item("x", 1)


def test_items_have_a_kind_values_and_a_repr():
    assert [i.kind for i in [*ITEMS, x(1)]] == ["timestamp", "samples", "immediate"]
    assert x([1, 2]).values == [1, 2]
    for item in [*ITEMS, x(5), x([1, 2])]:
        assert eval(repr(item)) == item
    assert x(1) != x(2)
