// Shows the history of one figure in the two large charts; a click on a card chooses which.
const past = JSON.parse(document.getElementById("past").textContent);
const { runs, figures } = past;
const cards = [...document.querySelectorAll(".card")];

function ready() {
  const document_ = window.Bokeh?.documents?.[0];
  const models = document_ && [...new Set(document_.roots().flatMap((root) => [...root.references()]))];
  if (!models?.some((model) => model.name === "value target") || !allDrawn(document_)) {
    setTimeout(ready, 50);
    return;
  }
  const named = Object.fromEntries(models.filter((model) => model.name).map((model) => [model.name, model]));
  cards.forEach((card) => card.addEventListener("click", () => show(named, card.dataset.figure)));
  const first = cards.find((card) => figures[card.dataset.figure].peer) ?? cards[0];
  if (first) show(named, first.dataset.figure);
  document.body.dataset.ready = "true";
}

function allDrawn(document_) {
  return document_.roots().every((root) => Bokeh.index.get_by_id(root.id));
}

function show(named, name) {
  const figure = figures[name];
  document.getElementById("shown").textContent = `${figure.title} (${name})`;
  cards.forEach((card) => card.setAttribute("aria-pressed", card.dataset.figure === name));
  document.getElementById("trends").classList.toggle("alone", !figure.peer);
  fill(named, "ratio", figure.ratio, figure.target_ratio, `Times better than ${figure.peer}`, "×");
  const word = figure.better === "lower" ? "less is better" : "more is better";
  fill(named, "value", figure.value, figure.target_value, `Value, ${word}`, figure.unit);
}

function fill(named, which, series, target, title, unit) {
  const there = [...series.at.keys()].filter((k) => series.at[k] !== null);
  const column = (values) => there.map((k) => values[k]);
  const text = (value) => `${+value.toPrecision(4)}${unit === "×" ? "" : " "}${unit}`.trim();
  named[`${which} points`].data = {
    x: there, at: column(series.at), low: column(series.low), high: column(series.high),
    colour: column(runs.colour), fill: there.map((k) => (runs.kind[k] === "quick run" ? "#ffffff" : runs.colour[k])),
    said: there.map((k) => text(series.at[k])), date: column(runs.date),
    commit: column(runs.commit).map((commit) => `commit ${commit}`), processor: column(runs.processor), kind: column(runs.kind),
  };
  // Runs of another machine or size are no neighbours.
  const lines = new Map();
  there.forEach((k) => {
    const key = `${runs.processor[k]} ${runs.kind[k]}`;
    const line = lines.get(key) ?? { xs: [], ys: [], colour: runs.colour[k] };
    line.xs.push(k);
    line.ys.push(series.at[k]);
    lines.set(key, line);
  });
  const all = [...lines.values()];
  named[`${which} lines`].data = { xs: all.map((l) => l.xs), ys: all.map((l) => l.ys), colour: all.map((l) => l.colour) };
  const chart = named[which];
  const highest = Math.max(0, ...column(series.high), ...column(series.at), target ?? 0);
  chart.y_range.setv({ start: 0, end: 1.12 * (highest || 1) });
  chart.x_range.setv({ start: -0.5, end: runs.date.length - 0.5 });
  chart.title.text = target === null ? title : `${title}; the dashed line is the target, ${text(target)}`;
  const axis = chart.below[0];
  const every = Math.max(1, Math.ceil(runs.date.length / 5));
  const marks = [...runs.date.keys()].filter((k) => (runs.date.length - 1 - k) % every === 0);
  axis.ticker.setv({ ticks: marks });
  axis.major_label_overrides = new Map(marks.map((k) => [k, runs.date[k]]));
  chart.left[0].axis_label = there.length ? unit : "";
  named[`${which} target`].setv({ location: target ?? 0, visible: target !== null });
}

ready();
