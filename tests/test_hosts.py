"""Hosts that use esper themselves, and the engine's own entities beside theirs."""

import esper
import pytest
from conftest import FRAMES, TICK, play
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import ecs_audio as ea


class Health:
    pass


@pytest.fixture(autouse=True)
def _host_world():
    esper.switch_world("host")
    esper.clear_database()
    yield
    esper.switch_world("default")
    esper.delete_world("host")


def test_the_hosts_world_stays_current_and_sees_none_of_ours(clips, open_world):
    mine = esper.create_entity(Health())
    with ea.Engine(open_world, clips) as engine:
        row = engine.spawn("tone", position=(1, 0, 0))
        play(engine, 0.1)
        assert esper.current_world == "host"
        assert [entity for entity, _ in esper.get_component(Health)] == [mine]
        assert list(esper.get_component(ea.Source)) == []
        engine.despawn(row)
    assert esper.current_world == "host"
    assert "host" in esper.list_worlds()
    assert not [name for name in esper.list_worlds() if name == engine._esper]


def test_a_hosts_entity_makes_sound_until_the_host_deletes_it(clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        entity = esper.create_entity(Health())
        row = engine.attach(entity, "tone", position=(1, 0, 0), looping=True)
        assert esper.component_for_entity(entity, ea.Source) is row
        assert play(engine, 0.1).any()
        esper.delete_entity(entity)
        engine.tick(TICK)
        assert not row.alive
        assert engine.sources.count == 0
        engine.render(FRAMES)
        engine.tick(TICK)
        assert not engine.render(FRAMES).any()


def test_a_used_again_entity_number_does_not_keep_a_source_alive(clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        entity = esper.create_entity(Health())
        row = engine.attach(entity, "tone", looping=True)
        esper.clear_database()
        assert esper.create_entity(Health()) == entity
        engine.tick(TICK)
        assert not row.alive


def test_a_world_deleted_by_the_host_silences_its_sources(clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        esper.switch_world("level 1")
        row = engine.attach(esper.create_entity(Health()), "tone", looping=True)
        esper.switch_world("host")
        esper.delete_world("level 1")
        engine.tick(TICK)
        assert not row.alive


def test_despawning_leaves_the_hosts_entity(clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        entity = esper.create_entity(Health())
        row = engine.attach(entity, "tone")
        engine.despawn(row)
        assert esper.entity_exists(entity)
        assert not esper.has_component(entity, ea.Source)


def test_attaching_to_nothing_or_twice_is_refused_and_adds_nothing(clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        with pytest.raises(KeyError, match="no entity 99"):
            engine.attach(99, "tone")
        entity = esper.create_entity(Health())
        engine.attach(entity, "tone")
        with pytest.raises(ValueError, match="has a Source already"):
            engine.attach(entity, "tone")
        assert engine.sources.count == 1


def test_a_processor_ticks_the_engine_with_the_hosts_world(clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        engine.attach(esper.create_entity(Health()), "tone", looping=True)
        esper.add_processor(ea.AudioProcessor(engine))
        esper.process(TICK)
        esper.process(TICK)
        assert engine.time == pytest.approx(2 * TICK)
        assert engine.telemetry.voices_playing == 1


def test_a_finished_one_shot_despawns_itself(clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        row = engine.spawn("ramp", position=(0, 0, -10))
        play(engine, 0.03)
        assert row.alive
        play(engine, 0.3)
        assert not row.alive
        assert engine.sources.count == 0


class EngineAgainstADict(RuleBasedStateMachine):
    """Spawn, attach, write, despawn, delete on the host's side, tick: in any order."""

    def __init__(self):
        super().__init__()
        esper.switch_world("host")
        esper.clear_database()
        clips = ea.Clips()
        clips.add("tone", [0.1] * 480)
        world = ea.World.empty(size=(16, 16, 16))
        self.engine = ea.Engine(world, clips, settings=ea.Settings(max_sources=6, max_voices=4))
        self.model = {}  # row -> [position, host entity or None, doomed]

    places = st.tuples(*[st.floats(-100, 100)] * 3)

    @rule(place=places)
    def spawn(self, place):
        if len(self.model) == 6:
            with pytest.raises(ea.TableFullError):
                self.engine.spawn("tone", position=place)
        else:
            self.model[self.engine.spawn("tone", position=place, looping=True)] = [place, None, False]

    @rule(place=places)
    def attach(self, place):
        entity = esper.create_entity(Health())
        if len(self.model) < 6:
            row = self.engine.attach(entity, "tone", position=place, looping=True)
            self.model[row] = [place, entity, False]

    @rule(data=st.data(), place=places)
    def write(self, data, place):
        if self.model:
            row = data.draw(st.sampled_from(list(self.model)))
            self.engine.sources.position[row] = place
            self.model[row][0] = place

    @rule(data=st.data())
    def despawn(self, data):
        if self.model:
            row = data.draw(st.sampled_from(list(self.model)))
            self.engine.despawn(row)
            del self.model[row]

    @rule(data=st.data())
    def host_deletes(self, data):
        hosted = [row for row, (_, entity, doomed) in self.model.items() if entity is not None and not doomed]
        if hosted:
            row = data.draw(st.sampled_from(hosted))
            esper.delete_entity(self.model[row][1], immediate=data.draw(st.booleans()))
            self.model[row][2] = True

    @rule()
    def tick(self):
        self.engine.tick(TICK)
        self.engine.render(64)
        self.model = {row: entry for row, entry in self.model.items() if not entry[2]}

    @invariant()
    def says_the_same(self):
        sources = self.engine.sources
        assert sources.count == len(self.model)
        for row, (place, entity, _) in self.model.items():
            assert tuple(sources.position[row]) == place
            if entity is not None:
                assert sources.entity[row] == entity
        lanes = sources.voice[sources.voice >= 0].tolist()
        assert len(lanes) == len(set(lanes))

    def teardown(self):
        self.engine.close()
        esper.clear_database()
        esper.switch_world("default")
        esper.delete_world("host")


def test_engine_against_a_dict():
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(EngineAgainstADict, settings=settings(max_examples=40, stateful_step_count=30))
    esper.switch_world("host")
