// Where one looks from, shared by all panels; pointers, wheel and touch move it.

const OPENING = Math.tan((14 * Math.PI) / 180); // half, of the smaller side

class Orbit { // in space
  constructor(replay) {
    const { eye, target } = replay.camera;
    this.home = { target, away: unit(minus(eye, target)), low: replay.bounds[0], high: replay.bounds[1] };
    this.up = [0, 0, 1];
    this.reset();
  }

  reset() {
    const { away, low, high } = this.home;
    this.azimuth = Math.atan2(away[1], away[0]);
    this.height = Math.min(Math.max(Math.asin(away[2]), -1.5), 1.5);
    this.target = low.map((x, i) => 0.5 * (x + high[i]));
    this.size = Math.max(0.5 * Math.hypot(...minus(high, low)), 1e-9);
    this.zoom = 1;
    this.fitted = null;
  }

  get away() {
    const c = Math.cos(this.height);
    return [c * Math.cos(this.azimuth), c * Math.sin(this.azimuth), Math.sin(this.height)];
  }

  // Distance from which the corners of the bounds fill a picture of this shape.
  fit(aspect) {
    if (this.fitted && Math.abs(this.fitted.aspect - aspect) < 0.01) return this.fitted.distance;
    this.fitted = { aspect, distance: this.fitting(aspect) };
    return this.fitted.distance;
  }

  fitting(aspect) {
    const { away, low, high } = this.home, target = low.map((x, i) => 0.5 * (x + high[i]));
    const right = unit(cross(this.up, away)), top = cross(away, right);
    const tall = OPENING * Math.min(1, 1 / aspect), wide = tall * aspect;
    let distance = 0;
    for (let k = 0; k < 8; k++) {
      const corner = [0, 1, 2].map((i) => ((k >> i) & 1 ? high[i] : low[i]) - target[i]);
      const out = Math.max(Math.abs(dot(corner, right)) / wide, Math.abs(dot(corner, top)) / tall);
      distance = Math.max(distance, dot(corner, away) + out / 0.88);
    }
    return Math.max(distance, 1e-6);
  }

  // How large things are in a picture of this size, for comparison with other sizes.
  largeness(width, height) {
    const aspect = width / height;
    return height / (Math.min(1, 1 / aspect) * this.fitting(aspect));
  }

  // Matrices for a canvas of this shape.
  look(aspect) {
    const tall = OPENING * Math.min(1, 1 / aspect), away = this.away;
    const distance = this.fit(aspect) / this.zoom, eye = along(this.target, distance, away);
    const near = Math.max(distance - 6 * this.size, 0.02 * distance), far = distance + 30 * this.size;
    const view = lookAt(eye, this.target, this.up);
    const camera = product(perspective(tall, aspect, near, far), view);
    return { eye, view, camera, lens: [tall * aspect, tall, near, far], distance };
  }

  drag(dx, dy, tall, pan) {
    if (!pan) {
      this.azimuth -= 0.006 * dx;
      this.height = Math.min(Math.max(this.height + 0.006 * dy, -1.5), 1.5);
      return;
    }
    const distance = (this.fitted ? this.fitted.distance : this.size) / this.zoom;
    const right = unit(cross(this.up, this.away)), top = cross(this.away, right);
    const metre = (2 * OPENING * distance) / tall;
    this.target = along(along(this.target, -dx * metre, right), dy * metre, top);
  }

  scale(factor) { this.zoom = Math.min(Math.max(this.zoom * factor, 0.05), 200); }
}

class Sheet { // in the plane
  constructor(replay) {
    [this.low, this.high] = replay.bounds;
    this.reset();
  }

  reset() {
    this.centre = [0, 1].map((i) => 0.5 * (this.low[i] + this.high[i]));
    this.zoom = 1;
  }

  // Pixels per metre on a canvas of this size.
  metre(width, height) {
    return (this.last = this.zoom * this.largeness(width, height) * 0.96);
  }

  largeness(width, height) {
    const [x, y] = [0, 1].map((i) => Math.max(this.high[i] - this.low[i], 1e-9));
    return Math.min(width / x, height / y);
  }

  drag(dx, dy) {
    this.centre = [this.centre[0] - dx / this.last, this.centre[1] + dy / this.last];
  }

  scale(factor) { this.zoom = Math.min(Math.max(this.zoom * factor, 0.05), 500); }
}

// Drag turns (or moves a sheet), shift, right button or two fingers move, wheel and pinch zoom.
function handle(canvas, view, changed, click) {
  const down = new Map();
  let travelled = 0, spread = 0;
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, [event.clientX, event.clientY]);
    travelled = down.size > 1 ? 1e9 : 0;
    spread = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    if (!before) return;
    const dx = event.clientX - before[0], dy = event.clientY - before[1];
    down.set(event.pointerId, [event.clientX, event.clientY]);
    travelled += Math.abs(dx) + Math.abs(dy);
    if (down.size === 2) {
      const [p, q] = [...down.values()], now = Math.hypot(p[0] - q[0], p[1] - q[1]);
      if (spread > 0) view.scale(now / spread);
      spread = now;
    }
    if (travelled > 4) {
      const pan = down.size > 1 || event.shiftKey || (event.buttons & 2) > 0;
      view.drag(dx / down.size, dy / down.size, canvas.clientHeight, pan);
      changed();
    }
  });
  const up = (event) => {
    if (!down.delete(event.pointerId)) return;
    if (event.type === "pointerup" && travelled <= 4) {
      const box = canvas.getBoundingClientRect();
      click(event.clientX - box.left, event.clientY - box.top);
    }
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    view.scale(Math.exp(-0.0012 * event.deltaY));
    changed();
  }, { passive: false });
}
