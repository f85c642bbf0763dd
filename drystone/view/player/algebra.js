// Vectors as arrays of three, matrices as columns, as WebGL reads them.

const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const along = (a, s, b) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const unit = (a) => { const n = Math.hypot(...a) || 1; return a.map((x) => x / n); };
const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
];

function product(a, b) {
  const out = new Float32Array(16);
  for (let j = 0; j < 4; j++)
    for (let i = 0; i < 4; i++)
      for (let k = 0; k < 4; k++) out[4 * j + i] += a[4 * k + i] * b[4 * j + k];
  return out;
}

// From the world to axes right, up, back at the eye.
function lookAt(eye, target, up) {
  const back = unit(minus(eye, target)), right = unit(cross(up, back)), top = cross(back, right);
  return new Float32Array([
    right[0], top[0], back[0], 0, right[1], top[1], back[1], 0, right[2], top[2], back[2], 0,
    -dot(right, eye), -dot(top, eye), -dot(back, eye), 1,
  ]);
}

function perspective(tall, aspect, near, far) {
  const f = 1 / tall, d = 1 / (near - far);
  return new Float32Array([
    f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (near + far) * d, -1, 0, 0, 2 * near * far * d, 0,
  ]);
}

function parallel(half, near, far) {
  const d = 1 / (near - far);
  return new Float32Array([
    1 / half, 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, 2 * d, 0, 0, 0, (near + far) * d, 1,
  ]);
}

// v turned by the unit quaternion (x, y, z, w) at q[i].
function turned(q, i, v) {
  const a = [q[i], q[i + 1], q[i + 2]], w = q[i + 3];
  const c = cross(a, v), d = cross(a, along(c, w, v));
  return along(v, 2, d);
}

// First turned by q at j, then by p at i; into out at k.
function composed(p, i, q, j, out, k) {
  const [a, b, c, w] = [p[i], p[i + 1], p[i + 2], p[i + 3]];
  const [x, y, z, s] = [q[j], q[j + 1], q[j + 2], q[j + 3]];
  out[k] = w * x + a * s + b * z - c * y;
  out[k + 1] = w * y - a * z + b * s + c * x;
  out[k + 2] = w * z + a * y - b * x + c * s;
  out[k + 3] = w * s - a * x - b * y - c * z;
}
