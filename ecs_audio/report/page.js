"use strict";
// The time that the page shows: one slider, the sound, a line in every chart, and the map.

const scene = JSON.parse(document.getElementById("scene").textContent);
const tiers = ["FREE", "DIRECT", "FULL"];
const sizes = [6, 9, 13];
const waiting = 0, playing = 1;
const clearest = -6; // [dB] A path that lets through more is called clear.

const floats = (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Float32Array(bytes.buffer);
};
for (const [name, value] of Object.entries(scene)) {
  if (typeof value === "string") scene[name] = floats(value);
}
const $ = (id) => document.getElementById(id);

function start() {
  const doc = window.Bokeh && Bokeh.documents[0];
  if (!doc || !doc.is_idle) return setTimeout(start, 30);
  const models = [...new Set(doc.roots().flatMap((root) => [...root.references()]))];
  const named = (name) => models.find((model) => model.name === name);
  const cursors = models.filter((model) => model.name === "cursor");
  const map = named("map");
  const [slider, audio] = [$("time"), $("audio")];
  let shown = -1;

  // The last look that is not after this time.
  const lookAt = (time) => {
    let low = 0, high = scene.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (scene.times[middle] <= time + 0.001) low = middle; else high = middle - 1;
    }
    return low;
  };

  function show(time) {
    for (const cursor of cursors) cursor.location = time;
    $("now").textContent = `${time.toFixed(1)} s`;
    const look = lookAt(time);
    if (look !== shown) draw((shown = look));
  }

  function draw(look) {
    const [x, y, z] = scene.listener.subarray(3 * look, 3 * look + 3);
    const forward = scene.forward.subarray(3 * look, 3 * look + 3);
    named("listener").data = { x: [x], y: [z], angle: [Math.atan2(-forward[0], -forward[2])] };
    const seen = sourcesAt(look);
    named("sources").data = columns(seen, ["x", "y", "of", "level", "size", "alpha", "tier", "distance", "height"]);
    const lines = $("lines").value;
    const ends = seen.filter((s) => s.heard && (lines === "all" || (lines === "full" && s.tier === "FULL")));
    const segments = (some) => ({
      x0: some.map(() => x), y0: some.map(() => z), x1: some.map((s) => s.x), y1: some.map((s) => s.y),
    });
    named("clear").data = segments(ends.filter((s) => s.level >= clearest));
    named("blocked").data = segments(ends.filter((s) => s.level < clearest));
    named("echoes").data = columns(echoesAt(look), ["x", "y", "of", "milliseconds", "level"]);
    label(seen, x, z);
    list(seen, look, y);
  }

  function sourcesAt(look) {
    const seen = [];
    for (let k = scene.firstSource[look]; k < scene.firstSource[look + 1]; k++) {
      seen.push({
        x: scene.position[3 * k], y: scene.position[3 * k + 2], height: scene.position[3 * k + 1],
        of: scene.names[scene.name[k]], level: scene.level[k], tier: tiers[scene.tier[k]],
        size: sizes[scene.tier[k]], alpha: scene.state[k] === playing ? 1 : 0.35,
        distance: scene.distance[k], heard: scene.state[k] !== waiting,
      });
    }
    return seen;
  }

  function echoesAt(look) {
    const found = [];
    for (let k = scene.firstEcho[look]; k < scene.firstEcho[look + 1]; k++) {
      found.push({
        x: scene.echoPosition[3 * k], y: scene.echoPosition[3 * k + 2], of: scene.names[scene.echoName[k]],
        milliseconds: 1000 * scene.echoDelay[k], level: scene.echoLevel[k],
      });
    }
    return found;
  }

  const columns = (rows, names) =>
    Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])]));

  // Names where there is room for them, FULL sources and near ones first; zooming in makes room.
  function label(seen, x, z) {
    const wanted = $("names").value;
    const perMetre = map.inner_width / Math.abs(map.x_range.end - map.x_range.start);
    const order = { FULL: 0, DIRECT: 1, FREE: 2 };
    const some = seen
      .filter((s) => s.heard && (wanted === "all" || (wanted === "full" && s.tier === "FULL")))
      .sort((a, b) => order[a.tier] - order[b.tier] || a.distance - b.distance);
    const around = (x, y, half) => ({
      left: x * perMetre - half, right: x * perMetre + half, top: y * perMetre - half, bottom: y * perMetre + half,
    });
    const taken = [around(x, z, 12), ...some.map((s) => around(s.x, s.y, 6))];
    const shown = some.filter((s) => {
      const [left, top] = [s.x * perMetre + 8, s.y * perMetre - 8];
      const box = { left, right: left + 7 * s.of.length + 4, top, bottom: top + 16 };
      const free = taken.every(
        (t) => box.right < t.left || box.left > t.right || box.bottom < t.top || box.top > t.bottom);
      if (free) taken.push(box);
      return free;
    });
    named("names").data = columns(shown, ["x", "y", "of"]);
  }

  // The table beside the map.
  function list(seen, look, height) {
    const count = (tier) => seen.filter((s) => s.tier === tier).length;
    $("place").textContent = scene.rooms[look];
    $("height").textContent = `y = ${height.toFixed(1)} m`;
    $("tiers").textContent = `${count("FULL")} FULL, ${count("DIRECT")} DIRECT, ${count("FREE")} FREE`;
    const heard = seen.filter((s) => s.heard);
    const clear = heard.filter((s) => s.level >= clearest).length;
    $("paths").textContent = `${clear} clear, ${heard.length - clear} occluded`;
    $("echo-count").textContent = scene.firstEcho[look + 1] - scene.firstEcho[look];
    const past = scene.events.filter(([at]) => at <= scene.times[look] + 0.001);
    const [at, what] = past.length ? past[past.length - 1] : [0, "nothing yet"];
    $("event").textContent = past.length ? `${what}, at ${at.toFixed(1)} s` : what;
    const rows = heard.sort((a, b) => a.distance - b.distance).slice(0, 12).map((s) => {
      const row = document.createElement("tr");
      const level = s.level <= -60 ? "≤ −60" : s.level.toFixed(1).replace("-", "−");
      for (const text of [s.of, s.distance.toFixed(1), level, s.tier]) {
        row.appendChild(document.createElement("td")).textContent = text;
      }
      return row;
    });
    $("nearest").replaceChildren(...rows);
  }

  // As many metres a pixel in both directions, whatever the width of the window.
  const view = {
    x: (map.x_range.start + map.x_range.end) / 2, y: (map.y_range.start + map.y_range.end) / 2,
    width: map.x_range.end - map.x_range.start, height: map.y_range.start - map.y_range.end,
  };
  function fit() {
    if (!(map.inner_width > 0 && map.inner_height > 0)) return;
    const metres = Math.max(view.width / map.inner_width, view.height / map.inner_height) / 2;
    const [w, h] = [metres * map.inner_width, metres * map.inner_height];
    map.x_range.setv({ start: view.x - w, end: view.x + w, reset_start: view.x - w, reset_end: view.x + w });
    map.y_range.setv({ start: view.y + h, end: view.y - h, reset_start: view.y + h, reset_end: view.y - h });
  }
  map.properties.inner_width.change.connect(fit);
  map.properties.inner_height.change.connect(fit);
  map.x_range.change.connect(() => label(sourcesAt(shown), ...mapListener()));
  const mapListener = () => [scene.listener[3 * shown], scene.listener[3 * shown + 2]];

  const seek = (time) => {
    slider.value = time;
    if (audio) audio.currentTime = Number(slider.value);
    show(Number(slider.value));
  };
  slider.addEventListener("input", () => seek(slider.value));
  for (const id of ["lines", "names"]) $(id).addEventListener("change", () => draw(shown));
  for (const cursor of cursors) {
    const chart = models.find((model) => model.center && model.center.includes(cursor));
    if (chart) chart.on_event("tap", (event) => seek(event.x));
  }
  if (audio) {
    const follow = () => {
      slider.value = audio.currentTime;
      show(audio.currentTime);
      if (!audio.paused) requestAnimationFrame(follow);
    };
    audio.addEventListener("play", follow);
    audio.addEventListener("seeked", () => { if (audio.paused) follow(); });
  }
  fit();
  seek(slider.value);
  document.body.dataset.ready = "true";
}
start();
