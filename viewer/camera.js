// The eye: it turns about a target, pans and comes nearer.
//
// Reads: pointer, wheel and keys of the canvas.  Writes: matrices.
// Called by: page.

import { add, cross, dot, lookAt, matMul, mul, perspective, project, sub, unit } from './vec.js';

const FOV = (38 * Math.PI) / 180;

export class Camera {
  constructor() {
    this.target = [0, 0, 0];
    this.distance = 5;
    this.yaw = -1.1; // from x, about z
    this.pitch = 0.42;
    this.aspect = 1;
    this.reach = 1; // size of the scene
  }

  get toward() {
    const c = Math.cos(this.pitch);
    return [c * Math.cos(this.yaw), c * Math.sin(this.yaw), Math.sin(this.pitch)];
  }

  get eye() {
    return add(this.target, mul(this.toward, this.distance));
  }

  get near() {
    return Math.max(this.distance * 0.01, this.reach * 1e-4);
  }

  get matrix() {
    const far = this.distance + 60 * this.reach;
    const view = lookAt(this.eye, this.target, [0, 0, 1]);
    return matMul(perspective(FOV, this.aspect, this.near, far), view);
  }

  // Shows a box as a whole: as near as all its corners allow.
  fit(min, max) {
    this.target = mul(add(min, max), 0.5);
    const half = mul(sub(max, min), 0.5);
    this.reach = Math.max(Math.hypot(...half), 1e-3);
    const right = unit(cross([0, 0, 1], this.toward));
    const up = cross(this.toward, right);
    const t = Math.tan(FOV / 2);
    let distance = 0.6 * this.reach;
    for (let k = 0; k < 8; k++) {
      const p = [k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1], k & 4 ? half[2] : -half[2]];
      const side = Math.max(Math.abs(dot(p, right)) / (t * this.aspect), Math.abs(dot(p, up)) / t);
      distance = Math.max(distance, dot(p, this.toward) + 1.12 * side);
    }
    this.distance = distance;
  }

  orbit(dx, dy) {
    this.yaw -= dx * 0.008;
    this.pitch = Math.min(1.55, Math.max(-1.2, this.pitch + dy * 0.008));
  }

  pan(dx, dy, height) {
    const scale = (2 * this.distance * Math.tan(FOV / 2)) / height;
    const right = unit(cross([0, 0, 1], this.toward));
    const up = cross(this.toward, right);
    this.target = add(this.target, add(mul(right, -dx * scale), mul(up, dy * scale)));
  }

  zoom(factor) {
    this.distance = Math.min(200 * this.reach, Math.max(0.02 * this.reach, this.distance * factor));
  }

  // The ray through a point of the canvas (x, y in −1 … 1).
  ray(x, y) {
    const t = Math.tan(FOV / 2);
    const right = unit(cross([0, 0, 1], this.toward));
    const up = cross(this.toward, right);
    const along = add(add(mul(right, x * t * this.aspect), mul(up, y * t)), mul(this.toward, -1));
    return { from: this.eye, along: unit(along) };
  }

  // Where a point is on a canvas of this size, in pixels; null behind the eye.
  pixel(p, width, height) {
    const [x, y, w] = project(this.matrix, p);
    return w > 0 ? [(x * 0.5 + 0.5) * width, (0.5 - y * 0.5) * height] : null;
  }

  // Metres that one pixel stands for at a point.
  metres(p, height) {
    const depth = Math.max(this.near, Math.hypot(...sub(p, this.eye)));
    return (2 * depth * Math.tan(FOV / 2)) / height;
  }
}
