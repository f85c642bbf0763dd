// A spatial replay by WebGL2: shadow map, bodies with normals and owners, then ink and soft corners.

const SHADOW = 2048;
const MOVING = 7, FIXED_BYTES = 20; // floats that move, bytes that do not, of an instance

class SpatialPicture {
  constructor(canvas, replay, orbit) {
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: false });
    if (!gl) throw new Error("this browser has no WebGL2, which the picture needs");
    Object.assign(this, { canvas, replay, orbit, gl, fine: 0, quality: 2 });
    this.sun = this.direction();
    this.programs = {
      shadow: this.program(BODY_VERTEX, SHADOW_FRAGMENT),
      body: this.program(BODY_VERTEX, BODY_FRAGMENT),
      floor: this.program(FLOOR_VERTEX, FLOOR_FRAGMENT),
      sheet: this.program(SHEET_VERTEX, SHEET_FRAGMENT),
      line: this.program(LINE_VERTEX, LINE_FRAGMENT),
    };
    this.nothing = gl.createVertexArray();
    this.load();
    this.shadowMap();
    this.lineBuffers();
  }

  // To the light: over the viewer's left shoulder at the start; it stays when the viewer moves.
  direction() {
    const { away } = this.orbit.home, angle = Math.atan2(away[1], away[0]) - 0.66, high = 0.86;
    return [Math.cos(high) * Math.cos(angle), Math.cos(high) * Math.sin(angle), Math.sin(high)];
  }

  program(vertex, fragment) {
    const { gl } = this, out = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(out, shader);
    }
    gl.linkProgram(out);
    if (!gl.getProgramParameter(out, gl.LINK_STATUS)) {
      const logs = gl.getAttachedShaders(out).map((s) => gl.getShaderInfoLog(s)).join("\n");
      throw new Error(`shader: ${gl.getProgramInfoLog(out)}\n${logs}`);
    }
    const at = {}, count = gl.getProgramParameter(out, gl.ACTIVE_UNIFORMS);
    for (let i = 0; i < count; i++) {
      const { name } = gl.getActiveUniform(out, i);
      at[name] = gl.getUniformLocation(out, name);
    }
    return { program: out, at };
  }

  // Meshes, and all instances in one buffer, in the order of their meshes.
  load() {
    const { gl, replay } = this, n = replay.instances;
    const vertices = replay.section("vertices"), faces = replay.section("faces");
    this.body = replay.section("instance_body");
    this.offset = replay.section("instance_offset");
    this.spin = replay.section("instance_turn"); // x y z w
    const size = replay.section("instance_size"), colour = replay.section("colours");
    const still = new ArrayBuffer(n * FIXED_BYTES), numbers = new Float32Array(still);
    const bytes = new Uint8Array(still);
    for (let i = 0; i < n; i++) {
      numbers.set(size.subarray(3 * i, 3 * i + 3), 5 * i);
      bytes.set(colour.subarray(3 * this.body[i], 3 * this.body[i] + 3), 20 * i + 12);
      numbers[5 * i + 4] = this.body[i];
    }
    this.moving = new Float32Array(MOVING * n);
    this.buffers = { moving: gl.createBuffer(), still: gl.createBuffer() };
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.moving);
    gl.bufferData(gl.ARRAY_BUFFER, this.moving.byteLength, gl.DYNAMIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.still);
    gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STATIC_DRAW);
    const corners = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, corners);
    gl.bufferData(gl.ARRAY_BUFFER, vertices, gl.STATIC_DRAW);
    const index = gl.createBuffer();
    this.meshes = replay.meshes.map((mesh) => ({ ...mesh, array: gl.createVertexArray() }));
    for (const mesh of this.meshes) {
      gl.bindVertexArray(mesh.array);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, index);
      this.attribute(corners, 0, 3, 24, 24 * mesh.vertex, 0);
      this.attribute(corners, 1, 3, 24, 24 * mesh.vertex + 12, 0);
      this.attribute(this.buffers.moving, 2, 3, 28, 28 * mesh.instance, 1);
      this.attribute(this.buffers.moving, 3, 4, 28, 28 * mesh.instance + 12, 1);
      this.attribute(this.buffers.still, 4, 3, 20, 20 * mesh.instance, 1);
      this.attribute(this.buffers.still, 5, 4, 20, 20 * mesh.instance + 12, 1, true);
      this.attribute(this.buffers.still, 6, 1, 20, 20 * mesh.instance + 16, 1);
    }
    if (this.meshes.length) gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
  }

  attribute(buffer, place, size, stride, offset, each, bytes = false) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, bytes ? gl.UNSIGNED_BYTE : gl.FLOAT, bytes, stride, offset);
    gl.vertexAttribDivisor(place, each);
  }

  texture(inside, format, type, width, height) {
    const { gl } = this, out = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, out);
    gl.texImage2D(gl.TEXTURE_2D, 0, inside, width, height, 0, format, type, null);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
      gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T])
      gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
    return out;
  }

  shadowMap() {
    const { gl } = this, depth = gl.DEPTH_COMPONENT;
    this.shadow = this.texture(gl.DEPTH_COMPONENT24, depth, gl.UNSIGNED_INT, SHADOW, SHADOW);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    this.shadowFrame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowFrame);
    gl.framebufferTexture2D(
      gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.shadow, 0);
    const { low, high } = this.orbit.home, centre = low.map((x, i) => 0.5 * (x + high[i]));
    const reach = 1.15 * this.orbit.size;
    const view = lookAt(along(centre, 3 * reach, this.sun), centre, [0, 0, 1]);
    this.light = product(parallel(reach, reach, 6 * reach), view);
    this.texel = (2 * reach) / SHADOW;
  }

  // The sheets on which bodies are drawn, finer than the canvas where the screen is coarse.
  resize() {
    const { canvas, gl } = this, ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    const fine = this.quality > 1 && width * height < 3e6 ? 2 : 1;
    if (canvas.width === width && canvas.height === height && this.fine === fine) return;
    Object.assign(canvas, { width, height });
    this.fine = fine;
    for (const old of [this.colour, this.ink, this.depth]) gl.deleteTexture(old || null);
    gl.deleteFramebuffer(this.frame || null);
    const size = [width * fine, height * fine];
    this.colour = this.texture(gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, ...size);
    this.ink = this.texture(gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, ...size);
    this.depth = this.texture(gl.DEPTH_COMPONENT24, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, ...size);
    this.frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    const on = (slot, texture) =>
      gl.framebufferTexture2D(gl.FRAMEBUFFER, slot, gl.TEXTURE_2D, texture, 0);
    on(gl.COLOR_ATTACHMENT0, this.colour);
    on(gl.COLOR_ATTACHMENT1, this.ink);
    on(gl.DEPTH_ATTACHMENT, this.depth);
    gl.drawBuffers([gl.COLOR_ATTACHMENT0, gl.COLOR_ATTACHMENT1]);
  }

  place() {
    const { replay, moving, body, offset, spin } = this, { place, turn } = replay;
    for (let i = 0; i < body.length; i++) {
      const b = body[i], k = MOVING * i;
      const arm = turned(turn, 4 * b, [offset[3 * i], offset[3 * i + 1], offset[3 * i + 2]]);
      for (let j = 0; j < 3; j++) moving[k + j] = place[3 * b + j] + arm[j];
      composed(turn, 4 * b, spin, 4 * i, moving, k + 3);
    }
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.moving);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, moving);
  }

  draw(t, { forces, grid, chosen }) {
    const { gl } = this;
    this.resize();
    this.replay.pose(t);
    this.place();
    const look = this.orbit.look(this.canvas.width / this.canvas.height);
    this.drawShadow();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    gl.viewport(0, 0, this.canvas.width * this.fine, this.canvas.height * this.fine);
    gl.clearBufferfv(gl.COLOR, 0, [1, 1, 1, 0]);
    gl.clearBufferfv(gl.COLOR, 1, [1, 1, 1, 1]);
    gl.clearBufferfv(gl.DEPTH, 0, [1]);
    this.drawBodies(look, chosen, forces ? 0.62 : 0);
    this.drawFloors(look, grid);
    this.drawSheet(look);
    const lines = forces ? this.replay.forces(t).map((line) => ({
      ...line,
      width: forceWidth(line.size, this.replay.strongest),
      colour: rampColour(line.share),
    })) : [];
    if (chosen !== null) {
      const way = this.replay.trail(chosen);
      for (let k = 1; k < way.length; k++)
        lines.push({ from: way[k - 1], to: way[k], width: 1, colour: [0.85, 0.51, 0.17] });
    }
    if (lines.length) this.drawLines(look, lines);
  }

  use(name, uniforms) {
    const { gl } = this, { program, at } = this.programs[name];
    gl.useProgram(program);
    for (const [key, value] of Object.entries(uniforms)) {
      if (at[key] === undefined) continue;
      if (value.length === 16) gl.uniformMatrix4fv(at[key], false, value);
      else if (value.length === 9) gl.uniformMatrix3fv(at[key], false, value);
      else if (value.length) gl[`uniform${value.length}fv`](at[key], value);
      else gl.uniform1f(at[key], value);
    }
    return at;
  }

  instances() {
    const { gl } = this;
    for (const mesh of this.meshes) {
      gl.bindVertexArray(mesh.array);
      if (this.bandedAt) gl.uniform1f(this.bandedAt, mesh.banded ? 1 : 0);
      gl.drawElementsInstanced(
        gl.TRIANGLES, 3 * mesh.faces, gl.UNSIGNED_INT, 12 * mesh.face, mesh.count);
    }
  }

  drawShadow() {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowFrame);
    gl.viewport(0, 0, SHADOW, SHADOW);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1.5, 2);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.use("shadow", { camera: this.light });
    this.bandedAt = null;
    this.instances();
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  bind(at, name, unit, texture) {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.uniform1i(at[name], unit);
  }

  drawBodies({ camera, eye }, chosen, pale) {
    const { light, sun, texel } = this;
    const at = this.use("body", { camera, eye, light, sun, texel, chosen: chosen ?? -9, pale });
    this.bind(at, "shadow", 0, this.shadow);
    this.bandedAt = at.banded;
    this.instances();
  }

  drawFloors({ camera }, grid) {
    const { gl, light, sun, texel, replay } = this, reach = 5 * this.orbit.size;
    const { low, high } = this.orbit.home, centre = low.map((x, i) => 0.5 * (x + high[i]));
    const cell = 10 ** Math.floor(Math.log10(0.7 * this.orbit.size));
    gl.bindVertexArray(this.nothing);
    for (const floor of replay.floors) {
      const b = floor.body, up = turned(replay.turn, 4 * b, floor.normal);
      const arm = turned(replay.turn, 4 * b, floor.point);
      const point = arm.map((x, i) => x + replay.place[3 * b + i]);
      const foot = along(centre, dot(minus(point, centre), up), up);
      const x = unit(cross(Math.abs(up[0]) < 0.9 ? [0, 1, 0] : [0, 0, 1], up)), y = cross(up, x);
      const at = this.use("floor", {
        camera, light, sun, texel, foot, up, cell, lines: grid ? 1 : 0, gridRight: x, gridFront: y,
        right: x.map((s) => reach * s), front: y.map((s) => reach * s),
      });
      this.bind(at, "shadow", 0, this.shadow);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
  }

  drawSheet({ view, lens }) {
    const { gl } = this, axes = [0, 1, 2, 4, 5, 6, 8, 9, 10].map((i) => view[i]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.disable(gl.DEPTH_TEST);
    gl.bindVertexArray(this.nothing);
    const dark = this.quality > 0 ? 0.9 : 0;
    const at = this.use("sheet", { axes, lens, grain: this.replay.grain, dark });
    gl.uniform1i(at.fine, this.fine);
    this.bind(at, "colour", 0, this.colour);
    this.bind(at, "ink", 1, this.ink);
    this.bind(at, "depth", 2, this.depth);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    for (let k = 0; k < 3; k++) { // nothing may be read and written at once
      gl.activeTexture(gl.TEXTURE0 + k);
      gl.bindTexture(gl.TEXTURE_2D, null);
    }
  }

  lineBuffers() {
    const { gl } = this;
    this.lines = { array: gl.createVertexArray(), buffer: gl.createBuffer() };
    gl.bindVertexArray(this.lines.array);
    [[0, 3, 0], [1, 3, 12], [2, 1, 24], [3, 3, 28]].forEach(([place, size, offset]) =>
      this.attribute(this.lines.buffer, place, size, 40, offset, 1));
    gl.bindVertexArray(null);
  }

  // Lines over everything: { from, to, width [css pixels], colour }.
  drawLines({ camera }, lines) {
    const { gl } = this, ratio = this.canvas.width / this.canvas.clientWidth;
    const data = new Float32Array(10 * lines.length);
    lines.forEach(({ from, to, width, colour }, k) =>
      data.set([...from, ...to, ratio * width, ...colour], 10 * k));
    gl.bindVertexArray(this.lines.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lines.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STREAM_DRAW);
    this.use("line", { camera, pixels: [0.5 * this.canvas.width, 0.5 * this.canvas.height] });
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, lines.length);
    gl.disable(gl.BLEND);
  }

  // The body seen at a place of the canvas, or null.
  pick(x, y) {
    const { gl } = this, ratio = (this.canvas.width / this.canvas.clientWidth) * this.fine;
    const pixel = new Uint8Array(4);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    gl.readBuffer(gl.COLOR_ATTACHMENT1);
    const row = this.canvas.height * this.fine - 1 - Math.round(y * ratio);
    gl.readPixels(Math.round(x * ratio), row, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    const owner = pixel[2] + 256 * pixel[3];
    return owner < this.replay.nb ? owner : null;
  }
}
