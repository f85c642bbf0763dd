// What the file holds, unpacked: frames of bodies, contacts and series as typed arrays.

const TYPES = { f8: Float64Array, f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };
const TURN = 2 * Math.PI;

async function inflate(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

// 16-bit numbers are stored as all low bytes, then all high bytes: like goes with like.
function joined(planes, count) {
  const out = new Uint16Array(count);
  for (let i = 0; i < count; i++) out[i] = planes[i] | (planes[count + i] << 8);
  return out;
}

class Replay {
  constructor(meta, buffer) {
    Object.assign(this, meta);
    this.buffer = buffer;
    this.nb = meta.names.length;
    this.n = meta.frames;
    this.time = this.section("time");
    this.low = this.section("low");
    this.step = this.section("step");
    this.parts = this.dim === 2 ? 3 : 7; // numbers of a body: place, then angle or quaternion
    const count = this.nb * this.parts * this.n;
    this.state = joined(this.section("state"), count);
    for (let c = 0; c < this.nb * this.parts; c++)
      for (let k = 1; k < this.n; k++) this.state[c * this.n + k] += this.state[c * this.n + k - 1];
    this.place = new Float32Array(this.nb * this.dim);
    this.turn = new Float32Array(this.nb * (this.dim === 2 ? 1 : 4)); // angle, or x y z w
    this.readContacts();
    this.strongest = this.strength();
  }

  section(name) {
    const [type, offset, count] = this.sections[name];
    return new TYPES[type](this.buffer, offset, count);
  }

  get start() { return this.time[0]; }
  get end() { return this.time[this.n - 1]; }

  // Last frame not after t, and how far t is on the way to the next one.
  frame(t) {
    let low = 0, high = this.n - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.time[middle] <= t) low = middle; else high = middle - 1;
    }
    const next = Math.min(low + 1, this.n - 1);
    const span = this.time[next] - this.time[low];
    return [low, span > 0 ? Math.min(Math.max((t - this.time[low]) / span, 0), 1) : 0];
  }

  // Fills place and turn with the bodies at time t, between two frames where t is.
  pose(t) {
    const [k, share] = this.frame(t);
    const { n, dim, parts, state } = this, next = Math.min(k + 1, n - 1);
    for (let b = 0; b < this.nb; b++) {
      for (let i = 0; i < dim; i++) {
        const c = (b * parts + i) * n, j = b * dim + i;
        const q = state[c + k] + share * (state[c + next] - state[c + k]);
        this.place[j] = this.low[j] + q * this.step[j];
      }
      if (dim === 2) this.turn[b] = this.angle(b, k, next, share);
      else this.quaternion(b, k, next, share);
    }
  }

  angle(b, k, next, share) {
    const c = (b * 3 + 2) * this.n, q = this.state[c + k];
    let way = this.state[c + next] - q;
    if (way > 32767) way -= 65536;
    if (way < -32768) way += 65536;
    return ((q + share * way) / 65536) * TURN;
  }

  quaternion(b, k, next, share) {
    const at = (i, f) => this.state[(b * 7 + 3 + i) * this.n + f] / 32767.5 - 1;
    let sum = 0;
    const q = [0, 0, 0, 0];
    for (let i = 0; i < 4; i++) {
      q[i] = at(i, k) + share * (at(i, next) - at(i, k));
      sum += q[i] * q[i];
    }
    const scale = 1 / Math.sqrt(sum || 1);
    this.turn.set([q[1] * scale, q[2] * scale, q[3] * scale, q[0] * scale], 4 * b);
  }

  // Speed [m/s] of a body's centre of mass, from its places.
  speed(b, t) {
    const [k] = this.frame(t), a = Math.max(k - 1, 0), z = Math.min(k + 1, this.n - 1);
    if (z === a) return 0;
    let sum = 0;
    for (let i = 0; i < this.dim; i++) {
      const c = (b * this.parts + i) * this.n, j = b * this.dim + i;
      sum += ((this.state[c + z] - this.state[c + a]) * this.step[j]) ** 2;
    }
    return Math.sqrt(sum) / (this.time[z] - this.time[a]);
  }

  // Where a body's centre of mass goes, at most 300 points.
  trail(b) {
    const out = [], stride = Math.max(1, Math.ceil(this.n / 300));
    for (let k = 0; k < this.n; k += stride) {
      const point = [];
      for (let i = 0; i < this.dim; i++) {
        const j = b * this.dim + i;
        point.push(this.low[j] + this.state[(b * this.parts + i) * this.n + k] * this.step[j]);
      }
      out.push(point);
    }
    return out;
  }

  readContacts() {
    const held = this.contacts;
    if (!held) return;
    const { dim } = this, count = held.count;
    held.frame = this.section("contact_frame");
    held.first = this.section("contact_first");
    held.pair = joined(this.section("contact_pair"), 2 * count);
    held.share = this.section("contact_share");
    const point = joined(this.section("contact_point"), dim * count);
    const force = joined(this.section("contact_force"), dim * count);
    held.point = new Float32Array(dim * count);
    held.force = new Float32Array(dim * count);
    for (let i = 0; i < dim; i++)
      for (let c = 0; c < count; c++) {
        held.point[c * dim + i] = held.low[i] + point[i * count + c] * held.step[i];
        const root = force[i * count + c] / 32767 - 1; // signed square roots keep weak forces
        held.force[c * dim + i] = held.most * root * Math.abs(root);
      }
  }

  // Lines of force at time t: those of one pair of bodies as one, at its centre of pressure, from
  // abreast of one body's centre to abreast of the other's: chains in a pile, thrust in an arch.
  forces(t) {
    const held = this.contacts, out = [];
    if (!held || !held.frame.length) return out;
    const [k] = this.frame(t), { dim } = this;
    let m = 0;
    while (m + 1 < held.frame.length && held.frame[m + 1] <= k) m++;
    const pairs = new Map();
    for (let c = held.first[m]; c < held.first[m + 1]; c++) {
      const a = held.pair[2 * c], b = held.pair[2 * c + 1], key = a * 65536 + b;
      const force = held.force.subarray(c * dim, (c + 1) * dim);
      const size = Math.hypot(...force);
      if (!(size > 0)) continue;
      const sum = pairs.get(key) || { a, b, force: [0, 0, 0], point: [0, 0, 0], weight: 0, used: 0 };
      for (let i = 0; i < dim; i++) {
        sum.force[i] += force[i];
        sum.point[i] += size * held.point[c * dim + i];
      }
      sum.weight += size;
      sum.used += size * held.share[c] / 255;
      pairs.set(key, sum);
    }
    for (const sum of pairs.values()) this.addLine(out, sum);
    return out.sort((p, q) => p.size - q.size);
  }

  addLine(out, sum) {
    const size = Math.hypot(...sum.force);
    if (size < 1e-9 * this.contacts.most) return;
    const point = sum.point.map((x) => x / sum.weight), way = sum.force.map((x) => x / size);
    const reach = [sum.a, sum.b].map((body) => {
      if (body === 65535 || !this.free[body]) return 0;
      let along = 0;
      for (let i = 0; i < this.dim; i++)
        along += (this.place[body * this.dim + i] - point[i]) * way[i];
      return Math.abs(along);
    });
    out.push({
      a: sum.a, b: sum.b, size, share: sum.used / sum.weight, force: sum.force,
      from: point.map((x, i) => x + reach[0] * way[i]),
      to: point.map((x, i) => x - reach[1] * way[i]),
    });
  }

  // A force few exceed: sets the width of lines, whatever single blows the run has.
  strength() {
    if (!this.contacts || !this.contacts.count) return 1;
    const { force, count } = this.contacts, { dim } = this, sizes = [];
    for (let c = 0; c < count; c += Math.ceil(count / 20000))
      sizes.push(Math.hypot(...force.subarray(c * dim, (c + 1) * dim)));
    sizes.sort((p, q) => p - q);
    return sizes[Math.floor(0.97 * (sizes.length - 1))] || 1;
  }
}
