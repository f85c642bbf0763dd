// Shaders: bodies lit by one sun with its shadow, a floor that fades, and ink over both.

const BODY_VERTEX = `#version 300 es
layout(location = 0) in vec3 corner;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 place;
layout(location = 3) in vec4 turn;
layout(location = 4) in vec3 size;
layout(location = 5) in vec4 tint;
layout(location = 6) in float body;
uniform mat4 camera;
out vec3 point, way, own;
flat out vec3 colour;
flat out float owner;
vec3 turned(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
void main() {
  own = corner;
  point = place + turned(turn, corner * size);
  way = turned(turn, normal / size);
  colour = tint.rgb;
  owner = body;
  gl_Position = camera * vec4(point, 1.0);
}`;

const SHADOW_FRAGMENT = `#version 300 es
precision mediump float;
void main() {}`;

// A frustum of the shadow map, and what each pixel keeps for the ink: normal and owner.
const COMMON = `#version 300 es
precision highp float;
precision highp sampler2DShadow;
uniform mat4 light;
uniform vec3 sun;
uniform sampler2DShadow shadow;
uniform float texel;
layout(location = 0) out vec4 seen;
layout(location = 1) out vec4 ink;
float lit(vec3 point, vec3 normal) {
  vec4 p = light * vec4(point + 2.0 * texel * normal, 1.0);
  vec3 at = p.xyz * 0.5 + 0.5;
  if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0)))) return 1.0;
  float sum = 0.0, cell = 1.5 / float(textureSize(shadow, 0).x);
  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++)
      sum += texture(shadow, vec3(at.xy + cell * vec2(i, j), at.z - 0.0006));
  return sum / 9.0;
}
vec4 inked(vec3 n, float owner) {
  vec3 a = n / (abs(n.x) + abs(n.y) + abs(n.z));
  vec2 side = vec2(a.x >= 0.0 ? 1.0 : -1.0, a.y >= 0.0 ? 1.0 : -1.0);
  vec2 flat2 = a.z >= 0.0 ? a.xy : (1.0 - abs(a.yx)) * side;
  float high = floor((owner + 0.5) / 256.0);
  return vec4(flat2 * 0.5 + 0.5, (owner - 256.0 * high) / 255.0, high / 255.0);
}`;

const BODY_FRAGMENT = COMMON + `
uniform float banded, chosen, pale;
uniform vec3 eye;
in vec3 point, way, own;
flat in vec3 colour;
flat in float owner;
void main() {
  vec3 n = normalize(way);
  if (!gl_FrontFacing) n = -n;
  float shine = max(dot(n, sun), 0.0);
  if (shine > 0.0) shine *= lit(point, n);
  vec3 base = colour;
  if (banded > 0.5) { // a belt and a cap: how a ball turns can be seen
    float mark = smoothstep(0.15, 0.13, abs(own.z)) + smoothstep(0.90, 0.915, own.x);
    base *= 1.0 - 0.16 * min(mark, 1.0);
  }
  if (abs(owner - chosen) < 0.5) base = mix(base, vec3(0.90, 0.50, 0.13), 0.72);
  vec3 sky = vec3(0.60, 0.605, 0.615) + vec3(0.085, 0.085, 0.08) * n.z;
  vec3 h = normalize(sun + normalize(eye - point));
  float gloss = 0.10 * pow(max(dot(n, h), 0.0), 28.0) * step(1e-4, shine);
  vec3 light = sky + vec3(0.455, 0.43, 0.39) * shine;
  vec3 out3 = base * light + gloss * shine;
  if (abs(owner - chosen) > 0.5) out3 = mix(out3, vec3(0.955, 0.948, 0.93), pale);
  seen = vec4(out3, 1.0);
  ink = inked(n, owner);
}`;

const FLOOR_VERTEX = `#version 300 es
uniform mat4 camera;
uniform vec3 foot, right, front;
out vec3 point;
out vec2 flat2;
void main() {
  vec2 s = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  flat2 = s;
  point = foot + s.x * right + s.y * front;
  gl_Position = camera * vec4(point, 1.0);
}`;

const FLOOR_FRAGMENT = COMMON + `
uniform vec3 up, foot, gridRight, gridFront;
uniform float cell, lines;
in vec3 point;
in vec2 flat2;
float ruled(float spacing) {
  vec2 p = vec2(dot(point, gridRight), dot(point, gridFront)) / spacing;
  vec2 w = max(fwidth(p), vec2(1e-6)), d = abs(fract(p - 0.5) - 0.5) / w;
  vec2 line = (1.0 - smoothstep(0.6, 1.6, d)) * clamp(0.35 / w - 0.6, 0.0, 1.0);
  return max(line.x, line.y);
}
void main() {
  float fade = smoothstep(1.0, 0.30, length(flat2));
  if (fade <= 0.0) discard;
  float shade = 1.0 - lit(point, up);
  float grid = lines * fade * max(0.5 * ruled(cell), ruled(5.0 * cell));
  vec3 paper = mix(vec3(0.985, 0.978, 0.962), vec3(0.83, 0.815, 0.78), 0.75 * grid);
  seen = vec4(paper * (1.0 - vec3(0.265, 0.26, 0.245) * shade), fade);
  ink = inked(up, 65534.0);
}`;

const SHEET_VERTEX = `#version 300 es
void main() {
  vec2 s = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
  gl_Position = vec4(s, 0.0, 1.0);
}`;

const SHEET_FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D colour, ink, depth;
uniform mat3 axes; // world to view
uniform vec4 lens; // half openings, near, far
uniform float grain, dark;
uniform int fine;
out vec4 sheet;
float owner(vec4 i) { return floor(i.z * 255.0 + 0.5) + 256.0 * floor(i.w * 255.0 + 0.5); }
vec3 normal(vec4 i) {
  vec2 f = i.xy * 2.0 - 1.0;
  vec3 n = vec3(f, 1.0 - abs(f.x) - abs(f.y));
  if (n.z < 0.0) n.xy = (1.0 - abs(n.yx)) * vec2(n.x >= 0.0 ? 1.0 : -1.0, n.y >= 0.0 ? 1.0 : -1.0);
  return normalize(n);
}
float distance_(ivec2 p) {
  float d = texelFetch(depth, p, 0).r;
  return lens.z * lens.w / (lens.w - d * (lens.w - lens.z));
}
vec3 spot(ivec2 p, vec2 whole) {
  vec2 s = (vec2(p) + 0.5) / whole * 2.0 - 1.0;
  return vec3(s * lens.xy, -1.0) * distance_(p);
}
float line(ivec2 p, vec4 here, ivec2 last) {
  float mine = owner(here), most = 0.0;
  vec3 n = normal(here);
  for (int k = 0; k < 4; k++) {
    ivec2 q = p + ivec2(k == 0 ? 1 : k == 1 ? -1 : 0, k == 2 ? 1 : k == 3 ? -1 : 0);
    vec4 there = texelFetch(ink, clamp(q, ivec2(0), last), 0);
    float other = owner(there);
    if (other != mine) { if (min(mine, other) < 65000.0) most = max(most, 0.5); }
    else if (mine < 65000.0 && dot(n, normal(there)) < 0.86) most = max(most, 0.34);
  }
  return most;
}
float hidden(ivec2 p, vec4 here, ivec2 last, int part) { // by what stands close: soft corners
  vec3 at = spot(p, vec2(last + 1)), n = axes * normal(here);
  float reach = min(grain / (lens.y * -at.z) * 0.5, 0.06) * float(last.y);
  float sum = 0.0, jitter = 0.4 * fract(52.9829 * fract(dot(vec2(p), vec2(0.06711, 0.00584))));
  int count = fine == 1 ? 16 : 8, all = count * fine * fine;
  for (int k = 0; k < count; k++) {
    int i = k * fine * fine + part; // each part of a pixel looks elsewhere
    float angle = 2.39996 * float(i) + jitter, r = reach * sqrt((float(i) + 0.5) / float(all));
    ivec2 q = clamp(p + ivec2(r * vec2(cos(angle), sin(angle))), ivec2(0), last);
    vec3 way = spot(q, vec2(last + 1)) - at;
    float far = length(way) + 1e-9;
    sum += max(dot(n, way) / far - 0.08, 0.0) * smoothstep(2.2 * grain, 0.6 * grain, far);
  }
  return sum / float(count);
}
void main() {
  ivec2 last = textureSize(ink, 0) - 1, corner = ivec2(gl_FragCoord.xy) * fine;
  float across = gl_FragCoord.y * float(fine) / float(last.y);
  vec3 back = mix(vec3(0.945, 0.936, 0.915), vec3(0.985, 0.982, 0.972), across);
  vec3 sum = vec3(0.0);
  for (int k = 0; k < fine * fine; k++) {
    ivec2 p = corner + ivec2(k % fine, k / fine);
    vec4 here = texelFetch(ink, p, 0), c = texelFetch(colour, p, 0);
    float mine = owner(here);
    vec3 one = c.rgb;
    if (dark > 0.0 && mine < 65535.0)
      one *= 1.0 - dark * hidden(p, here, last, k);
    one = mix(back, one, mine > 65534.5 ? 0.0 : c.a);
    sum += one * (1.0 - line(p, here, last));
  }
  sheet = vec4(sum / float(fine * fine), 1.0);
}`;

const LINE_VERTEX = `#version 300 es
layout(location = 0) in vec3 start;
layout(location = 1) in vec3 end;
layout(location = 2) in float width;
layout(location = 3) in vec3 tint;
uniform mat4 camera;
uniform vec2 pixels;
out vec2 at;
flat out float half_, long_;
flat out vec3 colour;
void main() {
  vec4 a = camera * vec4(start, 1.0), b = camera * vec4(end, 1.0);
  if (a.w <= 0.0 || b.w <= 0.0) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  vec2 p = a.xy / a.w * pixels, q = b.xy / b.w * pixels;
  long_ = length(q - p);
  vec2 way = long_ > 1e-3 ? (q - p) / long_ : vec2(1.0, 0.0), side = vec2(-way.y, way.x);
  half_ = 0.5 * width;
  float room = half_ + 2.0;
  at = vec2((gl_VertexID & 1) == 0 ? -room : long_ + room, (gl_VertexID >> 1) == 0 ? -room : room);
  colour = tint;
  gl_Position = vec4((p + at.x * way + at.y * side) / pixels, 0.0, 1.0);
}`;

const LINE_FRAGMENT = `#version 300 es
precision highp float;
in vec2 at;
flat in float half_, long_;
flat in vec3 colour;
out vec4 seen;
void main() {
  float d = length(vec2(at.x - clamp(at.x, 0.0, long_), at.y));
  float body = 1.0 - smoothstep(half_ - 0.6, half_ + 0.6, d);
  float rim = 1.0 - smoothstep(half_ + 0.3, half_ + 1.5, d);
  seen = vec4(mix(vec3(0.133, 0.188, 0.235), colour, body), 1.0) * max(body, 0.75 * rim * min(half_ - 0.3, 1.0));
}`;
