// Drawing: bodies by instances, shadows, the ground, and what lies over it all.
//
// Reads: bodies, poses, colours, marks.  Writes: the canvas.
// Called by: page.

import { Batches } from './batches.js';
import { ARROW, BODY, DEPTH, GROUND, LINE, MARK, PICK, SKY, WIRE } from './shaders.js';
import { add, cross, dot, lookAt, matMul, mul, orthographic, sub, unit } from './vec.js';

const UNITS = { uShadowMap: 0, uPlaces: 1, uKinds: 2 }; // of textures
// How much is drawn: everything; harder edges and shadows and fewer corners; no shadows and half the pixels.
export const DETAILS = [
  { smooth: true, shadow: 2048, soft: 2, form: 0, pixels: 1 },
  { smooth: false, shadow: 1024, soft: 1, form: 1, pixels: 1 },
  { smooth: false, shadow: 0, soft: 0, form: 1, pixels: 0.5 },
];
const SAMPLES = 4; // of a pixel, for smooth edges
const LAMP = unit([0.45, -0.5, 1.0]);

export const LOOKS = {
  light: { top: [0.93, 0.95, 0.97], bottom: [0.985, 0.975, 0.955], floor: [0.955, 0.945, 0.925], ink: [0.36, 0.4, 0.46], halo: [1, 1, 1, 0.9] },
  dark: { top: [0.07, 0.09, 0.13], bottom: [0.13, 0.15, 0.2], floor: [0.165, 0.185, 0.235], ink: [0.62, 0.68, 0.78], halo: [0.05, 0.06, 0.09, 0.9] },
};

export class Renderer {
  constructor(canvas) {
    const gl = canvas.getContext('webgl2', { antialias: false, alpha: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error('no WebGL2');
    this.gl = gl;
    this.canvas = canvas;
    this.programs = new Map();
    this.batches = new Batches(gl);
    this.quad = this.buffer(new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]));
    this.arrows = this.stream();
    this.marks = this.stream();
    this.lines = this.stream();
    // Tail and neck of the shaft, then the head.
    this.arrowShape = this.buffer(new Float32Array([0, -1, 0, 1, 1, -1, 1, -1, 0, 1, 1, 1, 1, -2, 2, 0, 1, 2]));
    this.shadows = new Map();
    this.makePick();
  }

  buffer(data) {
    const { gl } = this;
    const b = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, b);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    return b;
  }

  stream() {
    return { buffer: this.gl.createBuffer(), data: new Float32Array(0), count: 0 };
  }

  program(source) {
    const { gl } = this;
    if (this.programs.has(source)) return this.programs.get(source);
    const compile = (type, text) => {
      const s = gl.createShader(type);
      gl.shaderSource(s, text);
      gl.compileShader(s);
      if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(s));
      return s;
    };
    const p = gl.createProgram();
    gl.attachShader(p, compile(gl.VERTEX_SHADER, source.vertex));
    gl.attachShader(p, compile(gl.FRAGMENT_SHADER, source.fragment));
    gl.linkProgram(p);
    if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(p));
    const places = new Map();
    const at = (name) => {
      if (!places.has(name)) places.set(name, gl.getUniformLocation(p, name));
      return places.get(name);
    };
    const set = (values) => {
      for (const [name, v] of Object.entries(values)) {
        const where = at(name);
        if (!where) continue;
        if (typeof v === 'number') gl.uniform1f(where, v);
        else if (v.length === 16) gl.uniformMatrix4fv(where, false, v);
        else gl[`uniform${v.length}fv`](where, v);
      }
    };
    gl.useProgram(p);
    for (const [name, unit] of Object.entries(UNITS)) if (at(name)) gl.uniform1i(at(name), unit);
    const made = { p, at, set };
    this.programs.set(source, made);
    return made;
  }

  // A map of shadows of a size; of the least size where none are drawn.
  shadow(size) {
    const { gl } = this;
    if (this.shadows.has(size)) return this.shadows.get(size);
    const map = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, map);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, Math.max(1, size), Math.max(1, size));
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, map, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.shadows.set(size, { map, frame });
    return this.shadows.get(size);
  }

  makePick() {
    const { gl } = this;
    this.pickFrame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.pickFrame);
    const ids = gl.createRenderbuffer();
    gl.bindRenderbuffer(gl.RENDERBUFFER, ids);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.RGBA32UI, 1, 1);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, ids);
    const depth = gl.createRenderbuffer();
    gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, 1, 1);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  // Which body is at a pixel, and where its surface is; null for none.
  pick(camera, x, y) {
    const { gl } = this;
    const { width, height } = this.canvas;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.pickFrame);
    const px = Math.floor(x);
    const py = Math.floor(height - 1 - y);
    gl.viewport(-px, -py, width, height);
    gl.clearBufferuiv(gl.COLOR, 0, [0, 0, 0, 0]);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    const program = this.program(PICK);
    gl.useProgram(program.p);
    program.set({ uView: camera.matrix });
    this.batches.draw(program, (b, clear) => !clear && b.layer !== 'sensor');
    const out = new Uint32Array(4);
    gl.readPixels(0, 0, 1, 1, gl.RGBA_INTEGER, gl.UNSIGNED_INT, out);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    if (out[0] === 0) return null;
    const depth = new Float32Array(out.buffer)[1] * 2 - 1;
    const m = camera.matrix;
    const ray = camera.ray((2 * (x + 0.5)) / width - 1, 1 - (2 * (y + 0.5)) / height);
    // Clip z over w falls with distance along the ray: solve for it.
    const row = (i, v, w) => m[i] * v[0] + m[4 + i] * v[1] + m[8 + i] * v[2] + (w ? m[12 + i] : 0);
    const t = (depth * row(3, ray.from, 1) - row(2, ray.from, 1)) / (row(2, ray.along, 0) - depth * row(3, ray.along, 0));
    return { body: out[0] - 1, point: add(ray.from, mul(ray.along, t)) };
  }

  render(camera, scene) {
    const { gl, canvas } = this;
    const look = LOOKS[scene.look];
    const view = camera.matrix;
    const lampView = this.lampView(scene);
    const detail = DETAILS[scene.detail];
    this.batches.round = detail.form;
    const shadow = this.shadow(detail.shadow);
    gl.bindFramebuffer(gl.FRAMEBUFFER, shadow.frame);
    gl.viewport(0, 0, detail.shadow, detail.shadow);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    gl.disable(gl.CULL_FACE);
    if (!scene.wire && detail.soft) {
      const depth = this.program(DEPTH);
      gl.useProgram(depth.p);
      depth.set({ uView: lampView });
      this.batches.draw(depth, (b, clear) => !clear && b.layer !== 'sensor');
    }
    const smooth = detail.smooth && this.smoothFrame(canvas.width, canvas.height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, smooth ? smooth.frame : null);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.fullQuad(SKY, { uTop: look.top, uBottom: look.bottom });
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, shadow.map);
    const light = {
      uView: view, uShadow: lampView, uLamp: LAMP, uEye: camera.eye,
      uTexel: 1 / Math.max(1, detail.shadow), uBias: (3 * scene.radius) / Math.max(1, detail.shadow), uSoft: detail.soft, uInk: look.ink, uSelected: scene.selected ?? -9,
    };
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.drawGround(camera, scene, look, light);
    const body = this.program(BODY);
    gl.useProgram(body.p);
    body.set({ ...light, uAlpha: 1 });
    const ghost = scene.clear || scene.wire;
    if (!ghost) this.batches.draw(body, (b, clear) => !clear);
    const wire = this.program(WIRE);
    const inLines = (which, alpha) => {
      gl.useProgram(wire.p);
      wire.set({ ...light, uAlpha: alpha });
      this.batches.draw(wire, which, true);
    };
    if (scene.wire) inLines(() => true, 0.9);
    gl.depthMask(false);
    gl.useProgram(body.p);
    if (scene.clear && !scene.wire) {
      body.set({ ...light, uAlpha: 0.32 });
      this.batches.draw(body, (b, clear) => !clear);
      inLines((b, clear) => !clear, 0.5);
      gl.useProgram(body.p);
    }
    body.set({ ...light, uAlpha: 0.07 });
    if (!scene.wire) this.batches.draw(body, (b, clear) => clear);
    inLines((b, clear) => clear, 0.35);
    gl.depthMask(true);
    this.drawOver(view, scene, look);
    if (smooth) {
      const { width, height } = canvas;
      gl.bindFramebuffer(gl.READ_FRAMEBUFFER, smooth.frame);
      gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
      gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    }
  }

  // Where smooth edges are drawn before they go to the canvas, which by itself has none: software draws them slowly.
  smoothFrame(width, height) {
    const { gl } = this;
    const old = this.smooth;
    if (old?.width === width && old?.height === height) return old;
    if (old) {
      gl.deleteFramebuffer(old.frame);
      for (const x of old.parts) gl.deleteRenderbuffer(x);
    }
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    const samples = Math.min(SAMPLES, gl.getParameter(gl.MAX_SAMPLES));
    // The same kind of colours as the canvas has.
    const parts = [[gl.RGB8, gl.COLOR_ATTACHMENT0], [gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]].map(([kind, place]) => {
      const x = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, x);
      gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, kind, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, x);
      return x;
    });
    this.smooth = { frame, parts, width, height };
    return this.smooth;
  }

  // Marks the end of a drawing; `drawn(ms)` is called once the graphics have finished it.
  watch(drawn) {
    const { gl } = this;
    if (this.mark) gl.deleteSync(this.mark.sync);
    this.mark = { sync: gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0), at: performance.now(), drawn };
    gl.flush();
  }

  // Whether the graphics still work on the last drawing: a further one would hold up the page.
  get busy() {
    if (!this.mark) return false;
    const { sync, at, drawn } = this.mark;
    if (this.gl.clientWaitSync(sync, 0, 0) === this.gl.TIMEOUT_EXPIRED) return true;
    this.gl.deleteSync(sync);
    this.mark = null;
    drawn(performance.now() - at);
    return false;
  }

  lampView(scene) {
    const r = scene.radius;
    const view = lookAt(add(scene.center, mul(LAMP, 3 * r)), scene.center, [0, 1, 0]);
    return matMul(orthographic(1.25 * r, 0.5 * r, 6 * r), view);
  }

  fullQuad(source, values) {
    const { gl } = this;
    const program = this.program(source);
    gl.useProgram(program.p);
    program.set(values);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.quad);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.disableVertexAttribArray(0);
  }

  drawGround(camera, scene, look, light) {
    const planes = scene.planes.length ? scene.planes : [{ point: [0, 0, scene.low], normal: [0, 0, 1], faint: true }];
    for (const plane of planes) {
      const n = plane.normal;
      const side = Math.abs(n[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
      const u = unit(sub(side, mul(n, dot(side, n))));
      const foot = sub(scene.center, mul(n, dot(n, sub(scene.center, plane.point))));
      const power = 10 ** Math.floor(Math.log10(scene.radius / 4));
      const cell = power * (scene.radius / 4 / power >= 5 ? 5 : scene.radius / 4 / power >= 2 ? 2 : 1);
      this.fullQuad(GROUND, {
        ...light, uOrigin: foot, uU: u, uV: cross(n, u), uSize: 8 * scene.radius, uNormal: n, uFloor: look.floor,
        uCell: cell, uCenter: foot, uReach: scene.radius, uSolid: plane.faint ? 0 : 1,
      });
    }
  }

  // What is drawn over the bodies: lines, then arrows with a halo, then marks.
  drawOver(view, scene, look) {
    const { gl, canvas } = this;
    gl.disable(gl.DEPTH_TEST);
    const scale = scene.scale;
    this.drawStream(this.lines, scene.lines, [3, 4], LINE, { uView: view }, gl.LINES);
    for (const grow of [1.4 * scale, 0]) {
      const values = { uView: view, uCanvas: [canvas.width, canvas.height], uHalo: look.halo, uGrow: grow };
      this.drawStream(this.arrows, scene.arrows, [3, 3, 4, 2], ARROW, values, null);
    }
    this.drawStream(this.marks, scene.marks, [3, 4, 2], MARK, { uView: view, uScale: scale, uHalo: look.halo }, gl.POINTS);
    gl.enable(gl.DEPTH_TEST);
  }

  drawStream(stream, list, sizes, source, values, mode) {
    const { gl } = this;
    const width = sizes.reduce((a, b) => a + b);
    const count = list.length / width;
    if (!count) return;
    const program = this.program(source);
    gl.useProgram(program.p);
    program.set(values);
    const first = mode === null ? 1 : 0; // arrows: their shape is attribute 0
    if (first) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.arrowShape);
      gl.enableVertexAttribArray(0);
      gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, stream.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(list), gl.DYNAMIC_DRAW);
    sizes.reduce((at, n, i) => {
      gl.enableVertexAttribArray(first + i);
      gl.vertexAttribPointer(first + i, n, gl.FLOAT, false, 4 * width, 4 * at);
      gl.vertexAttribDivisor(first + i, first);
      return at + n;
    }, 0);
    if (first) gl.drawArraysInstanced(gl.TRIANGLES, 0, 9, count);
    else gl.drawArrays(mode, 0, count);
    for (let i = 0; i < first + sizes.length; i++) {
      gl.vertexAttribDivisor(i, 0);
      gl.disableVertexAttribArray(i);
    }
  }
}
