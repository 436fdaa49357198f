import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ecs_audio.components import Column, DeadRowError, Row, Table, TableFullError


class Pet(Row):
    pass


class Pets(Table[Pet]):
    row_type = Pet

    age = Column(np.float64, default=1)
    place = Column(np.float64, 3)
    legs = Column(np.uint8, default=4)


def test_a_row_is_an_index():
    pets = Pets(4)
    cat = pets.append(age=3)
    pets.place[cat] = (1, 2, 3)
    assert pets.age[cat] == 3
    assert pets.place[cat].tolist() == [1, 2, 3]
    assert pets.legs[cat] == 4


def test_columns_are_exactly_as_long_as_the_table():
    pets = Pets(4)
    assert pets.age.shape == (0,)
    pets.append()
    assert pets.place.shape == (1, 3)
    assert pets.age.flags.c_contiguous


def test_the_last_row_moves_into_the_hole():
    pets = Pets(4)
    a, b, c = (pets.append(age=n) for n in (1, 2, 3))
    pets.remove(a)
    assert (c.index, b.index) == (0, 1)
    assert pets.age.tolist() == [3, 2]


def test_a_removed_row_raises_whatever_is_done_with_it():
    pets = Pets(4)
    a = pets.append()
    pets.append()
    pets.remove(a)
    assert not a.alive
    with pytest.raises(IndexError):
        pets.age[a]
    with pytest.raises(IndexError):
        pets.age[a] = 3
    with pytest.raises(DeadRowError, match="was removed"):
        pets.remove(a)
    with pytest.raises(DeadRowError):
        pets.rows([a])


def test_a_row_of_another_table_is_refused():
    mine, other = Pets(4), Pets(4)
    mine.append()
    row = other.append()
    with pytest.raises(DeadRowError, match="another table"):
        mine.check(row)


def test_a_full_table_says_so_and_stays_as_it_was():
    pets = Pets(1)
    pets.append(age=7)
    with pytest.raises(TableFullError, match="Pets is full: all 1 rows"):
        pets.append()
    assert pets.age.tolist() == [7]


def test_a_wrong_column_or_value_changes_nothing():
    pets = Pets(2)
    with pytest.raises(TypeError, match="no column 'wings'"):
        pets.append(wings=2)
    with pytest.raises(ValueError, match="could not convert"):
        pets.append(age="old")
    assert pets.count == 0


def test_several_rows_are_read_and_written_at_once():
    pets = Pets(4)
    a, _, c = (pets.append(age=n) for n in (1, 2, 3))
    pets.age[pets.rows([a, c])] += 10
    assert pets.age.tolist() == [11, 2, 13]


class TableAgainstADict(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.table, self.model = Pets(8), {}

    @rule(age=st.floats(-1e6, 1e6), place=st.tuples(*[st.floats(-1e6, 1e6)] * 3))
    def append(self, age, place):
        if len(self.model) == 8:
            with pytest.raises(TableFullError):
                self.table.append(age=age)
        else:
            self.model[self.table.append(age=age, place=place)] = [age, place]

    @rule(data=st.data(), age=st.floats(-1e6, 1e6))
    def write(self, data, age):
        if self.model:
            row = data.draw(st.sampled_from(list(self.model)))
            self.table.age[row] = age
            self.model[row][0] = age

    @rule(data=st.data())
    def remove(self, data):
        if self.model:
            row = data.draw(st.sampled_from(list(self.model)))
            self.table.remove(row)
            del self.model[row]
            assert not row.alive

    @invariant()
    def says_the_same(self):
        assert self.table.count == len(self.model)
        assert sorted(row.index for row in self.model) == list(range(len(self.model)))
        for row, (age, place) in self.model.items():
            assert self.table.age[row] == age
            assert tuple(self.table.place[row]) == place
            assert self.table.alive[row.index] is row


TestTableAgainstADict = TableAgainstADict.TestCase
TestTableAgainstADict.settings = settings(max_examples=60, stateful_step_count=40)
