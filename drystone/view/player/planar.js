// A planar replay on a 2D canvas: outlines in ink on paper, forces along their lines of action.

const PAPER = "#fbfaf7", RULE = "#ece8df", GROUND = "#d3ccbf", INK = "#22303c", CHOSEN = "#e8954a";

// Friction mobilisation, from none to slip: the colours of the force pictures.
const RAMP = [[0.122, 0.373, 0.545], [0.357, 0.624, 0.753], [0.91, 0.784, 0.404],
  [0.875, 0.545, 0.247], [0.663, 0.169, 0.149]];

function rampColour(share) {
  const x = 4 * Math.min(Math.max(share, 0), 1), k = Math.min(Math.floor(x), 3);
  return RAMP[k].map((c, i) => c + (x - k) * (RAMP[k + 1][i] - c));
}

const css = (rgb) => `rgb(${rgb.map((c) => Math.round(255 * c)).join(" ")})`;
const forceWidth = (size, strongest) => Math.min(Math.max((6 * size) / strongest, 0.6), 9);

class PlanarPicture {
  constructor(canvas, replay, sheet) {
    Object.assign(this, { canvas, replay, sheet, pen: canvas.getContext("2d") });
    this.body = replay.section("instance_body");
    this.shape = replay.section("instance_shape");
    this.offset = replay.section("instance_offset");
    this.spin = replay.section("instance_turn");
    this.size = replay.section("instance_size");
    this.corners = replay.section("vertices");
    const bytes = replay.section("colours"), hex = (b) =>
      [0, 1, 2].map((i) => bytes[3 * b + i] / 255);
    this.fill = replay.names.map((_, b) => css(hex(b)));
    this.edge = replay.names.map((_, b) => css(hex(b).map((c) => 0.74 * c)));
  }

  resize() {
    const { canvas } = this, ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    this.ratio = ratio;
    this.metre = this.sheet.metre(width, height);
  }

  pixel(x, y) {
    const { centre } = this.sheet;
    return [
      0.5 * this.canvas.width + (x - centre[0]) * this.metre,
      0.5 * this.canvas.height - (y - centre[1]) * this.metre,
    ];
  }

  draw(t, { forces, grid, chosen }) {
    const { pen, canvas, replay } = this;
    this.resize();
    replay.pose(t);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.lineJoin = pen.lineCap = "round";
    pen.fillStyle = PAPER;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    if (grid) this.drawGrid();
    for (let i = 0; i < this.body.length; i++) this.drawInstance(i, chosen);
    this.drawJoints();
    if (chosen !== null) this.drawTrail(chosen);
    if (forces) this.drawForces(t);
    this.drawGround();
    if (grid) this.drawScale();
  }

  // Traces the outline of an instance; false for one too small to see.
  trace(i) {
    const { pen, replay } = this, b = this.body[i], shape = replay.shapes[this.shape[i]];
    const angle = replay.turn[b], c = Math.cos(angle), s = Math.sin(angle);
    const [u, v] = [this.offset[2 * i], this.offset[2 * i + 1]];
    const [x, y] = this.pixel(
      replay.place[2 * b] + c * u - s * v, replay.place[2 * b + 1] + s * u + c * v);
    const whole = angle + this.spin[i], scale = this.size[i] * this.metre;
    const C = scale * Math.cos(whole), S = scale * Math.sin(whole);
    pen.beginPath();
    if (shape.round) {
      pen.arc(x, y, scale, 0, TURN);
    } else {
      for (let k = shape.first; k < shape.first + shape.count; k++) {
        const p = this.corners[2 * k], q = this.corners[2 * k + 1];
        pen.lineTo(x + C * p - S * q, y - S * p - C * q);
      }
      pen.closePath();
    }
    return [x, y, C, S];
  }

  drawInstance(i, chosen) {
    const { pen } = this, b = this.body[i], [x, y, C, S] = this.trace(i);
    pen.fillStyle = b === chosen ? CHOSEN : this.fill[b];
    pen.fill();
    pen.strokeStyle = b === chosen ? INK : this.edge[b];
    pen.lineWidth = 1.1 * this.ratio;
    pen.stroke();
    if (this.replay.shapes[this.shape[i]].round) { // a short radius: how it turns
      pen.beginPath();
      pen.moveTo(x + 0.55 * C, y - 0.55 * S);
      pen.lineTo(x + 0.92 * C, y - 0.92 * S);
      pen.stroke();
    }
  }

  drawJoints() {
    const { pen, replay } = this;
    pen.fillStyle = PAPER;
    pen.strokeStyle = INK;
    pen.lineWidth = 1.2 * this.ratio;
    for (const { body, anchor } of replay.joints) {
      const c = body < 0 ? 1 : Math.cos(replay.turn[body]);
      const s = body < 0 ? 0 : Math.sin(replay.turn[body]);
      const [u, v] = body < 0 ? [0, 0] : [replay.place[2 * body], replay.place[2 * body + 1]];
      const [x, y] = this.pixel(u + c * anchor[0] - s * anchor[1], v + s * anchor[0] + c * anchor[1]);
      pen.beginPath();
      pen.arc(x, y, 3.2 * this.ratio, 0, TURN);
      pen.fill();
      pen.stroke();
    }
  }

  drawTrail(b) {
    const { pen } = this;
    pen.beginPath();
    for (const [x, y] of this.replay.trail(b)) pen.lineTo(...this.pixel(x, y));
    pen.strokeStyle = "#d9822b";
    pen.lineWidth = 1.2 * this.ratio;
    pen.stroke();
  }

  drawForces(t) {
    const { pen, replay } = this, lines = replay.forces(t);
    for (const rim of [true, false])
      for (const line of lines) {
        const width = this.ratio * forceWidth(line.size, replay.strongest);
        pen.beginPath();
        pen.moveTo(...this.pixel(line.from[0], line.from[1]));
        pen.lineTo(...this.pixel(line.to[0], line.to[1]));
        pen.strokeStyle = rim ? INK : css(rampColour(line.share));
        pen.lineWidth = rim ? width + Math.min(0.35 * width, 1.2 * this.ratio) : width;
        pen.stroke();
      }
  }

  // Half-planes, over the forces, so that their round ends stop at the surface. Their edges come
  // first, twice as wide: the fill covers the inner half, and edges that run inside another one.
  drawGround() {
    const { pen, canvas, replay } = this, reach = canvas.width + canvas.height;
    pen.fillStyle = GROUND;
    pen.strokeStyle = INK;
    pen.lineWidth = 2.4 * this.ratio;
    const outlines = replay.floors.map(({ body, point, normal }) => {
      const c = Math.cos(replay.turn[body]), s = Math.sin(replay.turn[body]);
      const [x, y] = this.pixel(
        replay.place[2 * body] + c * point[0] - s * point[1],
        replay.place[2 * body + 1] + s * point[0] + c * point[1]);
      const n = [c * normal[0] - s * normal[1], -(s * normal[0] + c * normal[1])];
      const w = [-n[1], n[0]], middle = [0.5 * canvas.width - x, 0.5 * canvas.height - y];
      const shift = middle[0] * w[0] + middle[1] * w[1];
      const at = (a, d) => [x + (shift + a) * w[0] - d * n[0], y + (shift + a) * w[1] - d * n[1]];
      return [at(-reach, 0), at(reach, 0), at(reach, reach), at(-reach, reach)];
    });
    const trace = (points) => {
      pen.beginPath();
      for (const p of points) pen.lineTo(...p);
    };
    for (const corners of outlines) { trace(corners.slice(0, 2)); pen.stroke(); }
    for (const corners of outlines) { trace(corners); pen.fill(); }
  }

  get cell() { // a round number of metres, about 90 pixels
    const rough = (90 * this.ratio) / this.metre, ten = 10 ** Math.floor(Math.log10(rough));
    return ten * [1, 2, 5, 10].find((k) => k * ten >= rough * 0.7);
  }

  drawGrid() {
    const { pen, canvas, cell } = this, { centre } = this.sheet;
    const half = [0.5 * canvas.width / this.metre, 0.5 * canvas.height / this.metre];
    pen.strokeStyle = RULE;
    pen.lineWidth = this.ratio;
    pen.beginPath();
    for (let k = Math.ceil((centre[0] - half[0]) / cell); k * cell < centre[0] + half[0]; k++) {
      const x = this.pixel(k * cell, 0)[0];
      pen.moveTo(x, 0);
      pen.lineTo(x, canvas.height);
    }
    for (let k = Math.ceil((centre[1] - half[1]) / cell); k * cell < centre[1] + half[1]; k++) {
      const y = this.pixel(0, k * cell)[1];
      pen.moveTo(0, y);
      pen.lineTo(canvas.width, y);
    }
    pen.stroke();
  }

  drawScale() {
    const { pen, ratio, cell, canvas } = this, long = cell * this.metre;
    const x = canvas.width - 16 * ratio, y = canvas.height - 14 * ratio;
    pen.beginPath();
    pen.moveTo(x - long, y - 4 * ratio);
    for (const p of [[x - long, y], [x, y], [x, y - 4 * ratio]]) pen.lineTo(...p);
    pen.strokeStyle = pen.fillStyle = "#6b7883";
    pen.lineWidth = 1.2 * ratio;
    pen.stroke();
    pen.font = `${11 * ratio}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.fillText(`${Number(cell.toPrecision(3))} m`, x - 0.5 * long, y - 6 * ratio);
  }

  pick(x, y) {
    for (let i = this.body.length - 1; i >= 0; i--) {
      this.trace(i);
      if (this.pen.isPointInPath(x * this.ratio, y * this.ratio)) return this.body[i];
    }
    return null;
  }
}
