// Small plots of what the steps report, with a cursor at the present; a click goes there.

const LINE_COLOURS = ["#1f6f9f", "#d9822b", "#22303c", "#b3322c", "#4f8a5b"];
const POWERS = ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];

function number(x, unit = "") {
  if (!Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  let text = String(Number(x.toPrecision(3)));
  if (size > 0 && (size < 1e-3 || size >= 1e6)) {
    const power = Math.floor(Math.log10(size));
    const raised = [...String(Math.abs(power))].map((d) => POWERS[d]).join("");
    text = `${(x / 10 ** power).toFixed(1)}·10${power < 0 ? "⁻" : ""}${raised}`;
  }
  return (unit ? `${text} ${unit}` : text).replace("-", "−");
}

class Plot {
  // lines: { replay, label, values, colour }; all on one scale.
  constructor(holder, { title, unit, least }, lines, seek) {
    Object.assign(this, { lines, unit, least });
    const card = document.createElement("figure"), head = document.createElement("figcaption");
    head.textContent = title;
    this.canvas = document.createElement("canvas");
    this.legend = document.createElement("div");
    this.legend.className = "legend";
    card.append(head, this.canvas, this.legend);
    holder.append(card);
    for (const line of lines) {
      const item = document.createElement("span"), swatch = document.createElement("i");
      swatch.style.background = line.colour;
      line.text = document.createElement("b");
      const name = document.createElement("em"), said = document.createElement("bdi");
      said.textContent = name.title = line.label;
      name.append(said);
      item.append(swatch, name, line.text);
      this.legend.append(item);
    }
    this.bounds();
    const go = (event) => {
      if (event.type === "pointermove" && !event.buttons) return;
      const box = this.canvas.getBoundingClientRect();
      seek(this.x0 + ((event.clientX - box.left) / box.width) * (this.x1 - this.x0));
    };
    this.canvas.addEventListener("pointerdown", go);
    this.canvas.addEventListener("pointermove", go);
  }

  scaled(y) { return this.least ? Math.log10(Math.max(y, this.least)) : y; }

  bounds() {
    const all = this.lines.flatMap(({ values }) =>
      [...values].filter(Number.isFinite).map((y) => this.scaled(y)));
    if (this.least) all.push(this.scaled(0), this.scaled(100 * this.least));
    this.x0 = Math.min(...this.lines.map(({ replay }) => replay.start));
    this.x1 = Math.max(...this.lines.map(({ replay }) => replay.end));
    this.y0 = all.reduce((a, y) => Math.min(a, y), Infinity);
    this.y1 = all.reduce((a, y) => Math.max(a, y), -Infinity);
    if (!(this.y1 > this.y0)) [this.y0, this.y1] = [(this.y0 || 0) - 0.5, (this.y1 || 0) + 0.5];
    if (!Number.isFinite(this.y0)) [this.y0, this.y1] = [0, 1];
  }

  // The curves once, on a sheet of their own; the cursor moves over it.
  curves() {
    const ratio = window.devicePixelRatio || 1, { canvas } = this;
    const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
    if (this.sheet && canvas.width === width && canvas.height === height) return;
    Object.assign(canvas, { width, height });
    this.sheet = document.createElement("canvas");
    Object.assign(this.sheet, { width, height });
    const pen = this.sheet.getContext("2d");
    pen.lineWidth = 1.3 * ratio;
    pen.lineJoin = "round";
    for (const { replay, values, colour } of this.lines) {
      pen.strokeStyle = colour;
      pen.beginPath();
      values.forEach((value, k) => {
        if (!Number.isFinite(value)) return;
        const x = ((replay.time[k] - this.x0) / (this.x1 - this.x0 || 1)) * width;
        const y = (this.scaled(value) - this.y0) / (this.y1 - this.y0);
        pen.lineTo(x, height - 3 * ratio - y * (height - 6 * ratio));
      });
      pen.stroke();
    }
  }

  draw(t) {
    if (!this.canvas.clientWidth) return; // hidden on small screens
    this.curves();
    const pen = this.canvas.getContext("2d"), { width, height } = this.canvas;
    pen.clearRect(0, 0, width, height);
    pen.drawImage(this.sheet, 0, 0);
    const x = ((t - this.x0) / (this.x1 - this.x0 || 1)) * width;
    pen.fillStyle = "rgb(34 48 60 / 55%)";
    pen.fillRect(x - 0.5, 0, Math.max(1, window.devicePixelRatio || 1), height);
    for (const line of this.lines)
      line.text.textContent = number(line.values[line.replay.frame(t)[0]], this.unit);
  }
}

// One plot for each quantity; with several replays, one line for each of them.
function makePlots(holder, replays, seek) {
  const plots = new Map();
  replays.forEach((replay, r) => {
    for (const item of replay.series) {
      if (replays.length > 1 && !item.main) continue;
      if (!plots.has(item.plot)) plots.set(item.plot, { item, lines: [] });
      const { lines } = plots.get(item.plot);
      const colour = LINE_COLOURS[(replays.length > 1 ? r : lines.length) % LINE_COLOURS.length];
      const label = replays.length > 1 ? replay.label : item.label;
      lines.push({ replay, label, colour, values: replay.section(item.section) });
    }
  });
  return [...plots.values()].map(({ item, lines }) =>
    new Plot(holder, { title: item.plot, unit: item.unit, least: item.least }, lines, seek));
}
