// The shaders. World axes: z up. Colours are linear inside, gamma is applied at the end.
//
// Reads: uniforms and attributes named here.  Writes: pixels.
// Called by: draw.

const HEAD = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp sampler2DShadow;
`;

const PLACE = `
layout(location=0) in vec3 aPos;
layout(location=1) in vec3 aNormal;
layout(location=2) in float aEnd;
layout(location=3) in float aSlot; // which of the shapes that are drawn as one
uniform sampler2D uPlaces; // two texels a shape: position and id, rotation
uniform sampler2D uKinds; // and: scale, colour and pattern
uniform float uFirst; // shape of the batch to begin with
uniform float uCount; // shapes to draw
uniform float uTogether; // shapes drawn as one
uniform mat4 uView;
vec3 iPos; vec4 iRot; vec4 iScale; vec4 iColour; float iId;
// Looks a shape up; false where there is none.
bool found() {
  int k = gl_InstanceID * int(uTogether) + int(aSlot);
  if (k >= int(uCount)) return false;
  int i = int(uFirst) + k;
  ivec2 at = ivec2(2 * (i & 511), i >> 9);
  vec4 place = texelFetch(uPlaces, at, 0);
  iPos = place.xyz; iId = place.w;
  iRot = texelFetch(uPlaces, at + ivec2(1, 0), 0);
  iScale = texelFetch(uKinds, at, 0);
  iColour = texelFetch(uKinds, at + ivec2(1, 0), 0);
  return true;
}
const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);
vec3 turn(vec4 q, vec3 v) { vec3 t = 2.0 * cross(q.xyz, v); return v + q.w * t + cross(q.xyz, t); }
vec3 local() { return aPos * iScale.xyz + vec3(0.0, 0.0, aEnd * iScale.w); }
`;

// Light: sky from above, a warm lamp with shadow, a rim.
const LIGHT = `
uniform sampler2DShadow uShadowMap;
uniform mat4 uShadow;
uniform vec3 uLamp;
uniform vec3 uEye;
uniform float uTexel;
uniform float uBias;
uniform float uSoft; // 2: nine samples, 1: one, 0: no shadow
float lit(vec3 world, vec3 normal) {
  if (uSoft < 0.5) return 1.0;
  vec4 s = uShadow * vec4(world + normal * uBias, 1.0);
  vec3 c = s.xyz / s.w * 0.5 + 0.5;
  if (any(lessThan(c.xy, vec2(0.0))) || any(greaterThan(c, vec3(1.0)))) return 1.0;
  if (uSoft < 1.5) return texture(uShadowMap, vec3(c.xy, c.z - 0.0006));
  float sum = 0.0;
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++)
      sum += texture(uShadowMap, vec3(c.xy + vec2(x, y) * 1.2 * uTexel, c.z - 0.0006));
  return sum / 9.0;
}
vec3 shade(vec3 colour, vec3 world, vec3 normal, float gloss) {
  vec3 base = pow(colour, vec3(2.2));
  vec3 eye = normalize(uEye - world);
  float lamp = max(dot(normal, uLamp), 0.0) * lit(world, normal);
  float sky = 0.5 + 0.5 * normal.z;
  float rim = pow(1.0 - max(dot(normal, eye), 0.0), 3.0);
  float shine = pow(max(dot(normal, normalize(uLamp + eye)), 0.0), 40.0) * lamp;
  vec3 light = vec3(1.0, 0.95, 0.86) * lamp * 1.05 + mix(vec3(0.22, 0.2, 0.2), vec3(0.42, 0.47, 0.56), sky);
  return base * light + gloss * (shine * 0.25 + rim * 0.06);
}
`;

export const BODY = {
  vertex: `${HEAD}${PLACE}
out vec3 vWorld; out vec3 vNormal; out vec3 vLocal; flat out vec4 vColour; flat out vec3 vScale; flat out float vId;
void main() {
  if (!found()) { gl_Position = NOWHERE; return; }
  vLocal = local();
  vWorld = iPos + turn(iRot, vLocal);
  vNormal = turn(iRot, normalize(aNormal / iScale.xyz));
  vColour = iColour; vScale = iScale.xyz; vId = iId;
  gl_Position = uView * vec4(vWorld, 1.0);
}`,
  fragment: `${HEAD}${LIGHT}
in vec3 vWorld; in vec3 vNormal; in vec3 vLocal; flat in vec4 vColour; flat in vec3 vScale; flat in float vId;
uniform float uAlpha; uniform float uSelected; uniform vec3 uLine;
out vec4 oColour;
void main() {
  vec3 colour = vColour.rgb;
  int pattern = int(vColour.a + 0.5);
  float edge = 0.0;
  if (pattern == 1) {
    vec3 a = vScale - abs(vLocal);
    float least = min(a.x, min(a.y, a.z)), most = max(a.x, max(a.y, a.z));
    float d = a.x + a.y + a.z - least - most;
    float w = fwidth(d) + 1e-9;
    float bevel = 0.03 * min(vScale.x, min(vScale.y, vScale.z));
    edge = 1.0 - smoothstep(bevel, bevel + 1.5 * w, d);
  } else if (pattern == 2) {
    vec3 s = sign(vLocal);
    if (s.x * s.y * s.z > 0.0) colour = mix(colour, vec3(1.0), 0.28);
  } else if (pattern == 3) {
    float turns = atan(vLocal.y, vLocal.x) / 6.2831853;
    if (fract(turns * 4.0) < 0.5) colour = mix(colour, vec3(1.0), 0.16);
  }
  vec3 normal = normalize(vNormal) * (gl_FrontFacing ? 1.0 : -1.0);
  vec3 c = shade(colour, vWorld, normal, 1.0);
  c = mix(c, c * 0.55, edge * 0.6);
  if (abs(vId - uSelected) < 0.5) c = mix(c, vec3(1.0, 0.85, 0.4), 0.35);
  oColour = vec4(pow(c, vec3(1.0 / 2.2)), uAlpha) ;
}`,
};

// Lines of a mesh, in one colour.
export const WIRE = {
  vertex: `${HEAD}${PLACE}
flat out vec4 vColour;
void main() {
  if (!found()) { gl_Position = NOWHERE; return; }
  vColour = iColour;
  gl_Position = uView * vec4(iPos + turn(iRot, local()), 1.0);
  gl_Position.z -= 0.0002 * gl_Position.w;
}`,
  fragment: `${HEAD}
flat in vec4 vColour; uniform float uAlpha; uniform vec3 uInk; out vec4 oColour;
void main() { oColour = vec4(mix(vColour.rgb, uInk, 0.4), uAlpha); }`,
};

export const DEPTH = {
  vertex: `${HEAD}${PLACE}
void main() { gl_Position = found() ? uView * vec4(iPos + turn(iRot, local()), 1.0) : NOWHERE; }`,
  fragment: `${HEAD} void main() {}`,
};

// Which body is under the pointer, and how deep.
export const PICK = {
  vertex: `${HEAD}${PLACE}
flat out float vId;
void main() { gl_Position = found() ? uView * vec4(iPos + turn(iRot, local()), 1.0) : NOWHERE; vId = iId; }`,
  fragment: `${HEAD}
flat in float vId; out uvec4 oId;
void main() { oId = uvec4(uint(vId) + 1u, floatBitsToUint(gl_FragCoord.z), 0u, 0u); }`,
};

// A plane with a grid that fades into the background.
export const GROUND = {
  vertex: `${HEAD}
layout(location=0) in vec2 aPos;
uniform mat4 uView; uniform vec3 uOrigin; uniform vec3 uU; uniform vec3 uV; uniform float uSize;
out vec3 vWorld; out vec2 vPlane;
void main() {
  vWorld = uOrigin + (uU * aPos.x + uV * aPos.y) * uSize;
  vPlane = vec2(dot(vWorld, uU), dot(vWorld, uV));
  gl_Position = uView * vec4(vWorld, 1.0);
}`,
  fragment: `${HEAD}${LIGHT}
in vec3 vWorld; in vec2 vPlane;
uniform vec3 uNormal; uniform vec3 uFloor; uniform vec3 uInk; uniform float uCell; uniform vec3 uCenter; uniform float uReach; uniform float uSolid;
out vec4 oColour;
float grid(float cell) {
  vec2 g = vPlane / cell;
  vec2 w = fwidth(g);
  vec2 d = abs(fract(g - 0.5) - 0.5) / max(w, vec2(1e-6));
  float fade = 1.0 - smoothstep(0.2, 0.6, max(w.x, w.y));
  return (1.0 - min(min(d.x, d.y), 1.0)) * fade;
}
void main() {
  float away = length(vWorld - uCenter) / uReach;
  float fade = 1.0 - smoothstep(1.2, 6.0, away);
  float lines = max(grid(uCell) * 0.35, grid(uCell * 5.0) * 0.6);
  float lamp = mix(0.62, 1.0, lit(vWorld, uNormal));
  vec3 c = mix(uFloor * lamp, uInk, lines * 0.35);
  oColour = vec4(c, fade * mix(lines * 0.5, 1.0, uSolid));
}`,
};

export const SKY = {
  vertex: `${HEAD}
layout(location=0) in vec2 aPos; out vec2 vPos;
void main() { vPos = aPos; gl_Position = vec4(aPos, 0.99999, 1.0); }`,
  fragment: `${HEAD}
in vec2 vPos; uniform vec3 uTop; uniform vec3 uBottom; out vec4 oColour;
void main() { oColour = vec4(mix(uBottom, uTop, smoothstep(-1.0, 1.0, vPos.y)), 1.0); }`,
};

// Flat arrows and rods of a width in pixels, over everything.
export const ARROW = {
  vertex: `${HEAD}
layout(location=0) in vec2 aPos; // along (0 tail, 1 neck, 2 tip), side
layout(location=1) in vec3 iFrom;
layout(location=2) in vec3 iTo;
layout(location=3) in vec4 iColour;
layout(location=4) in vec2 iWidth; // pixels; whether it has a head
uniform mat4 uView; uniform vec2 uCanvas; uniform float uGrow;
out vec4 vColour;
void main() {
  vec4 a = uView * vec4(iFrom, 1.0), b = uView * vec4(iTo, 1.0);
  if (a.w <= 0.0 || b.w <= 0.0) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  vec2 pa = a.xy / a.w * uCanvas * 0.5, pb = b.xy / b.w * uCanvas * 0.5;
  vec2 d = pb - pa;
  float l = length(d);
  vec2 t = l > 1e-4 ? d / l : vec2(0.0, 1.0);
  vec2 n = vec2(-t.y, t.x);
  float w = iWidth.x;
  float head = iWidth.y > 0.5 ? min(4.2 * w, 0.8 * l + 1.0) : 0.0;
  float grow = uGrow;
  vec2 p;
  if (aPos.x < 0.5) p = pa - t * grow;
  else if (aPos.x < 1.5) p = pb - t * (head - (head > 0.0 ? grow * 0.5 : -grow));
  else p = pb + t * grow * 2.0;
  if (aPos.x > 1.5 && head == 0.0) p = pb;
  float side = abs(aPos.y) > 1.5 ? sign(aPos.y) * head * 0.42 : aPos.y * w * 0.5;
  if (abs(aPos.y) > 1.5) p = pb - t * (head + grow);
  if (aPos.y != 0.0) side += sign(aPos.y) * grow;
  p += n * side;
  vColour = iColour;
  gl_Position = vec4(p / (uCanvas * 0.5), 0.0, 1.0);
}`,
  fragment: `${HEAD}
in vec4 vColour; uniform vec4 uHalo; uniform float uGrow; out vec4 oColour;
void main() { oColour = uGrow > 0.0 ? vec4(uHalo.rgb, uHalo.a * vColour.a) : vColour; }`,
};

// Marks of contact points: a disc sticks, a hollow diamond slips.
export const MARK = {
  vertex: `${HEAD}
layout(location=0) in vec3 iPos; layout(location=1) in vec4 iColour; layout(location=2) in vec2 iKind; // slips, size in pixels
uniform mat4 uView; uniform float uScale; out vec4 vColour; flat out float vSlips;
void main() { vColour = iColour; vSlips = iKind.x; gl_Position = uView * vec4(iPos, 1.0); gl_PointSize = iKind.y * uScale; }`,
  fragment: `${HEAD}
in vec4 vColour; flat in float vSlips; uniform vec4 uHalo; out vec4 oColour;
void main() {
  vec2 p = gl_PointCoord * 2.0 - 1.0;
  float d = vSlips > 0.5 ? abs(p.x) + abs(p.y) : length(p);
  if (d > 1.0) discard;
  bool hollow = vSlips > 0.5 && d < 0.42;
  oColour = d > 0.78 || hollow ? uHalo : vColour;
  if (hollow) oColour.a *= 0.25;
}`,
};

// Thin lines.
export const LINE = {
  vertex: `${HEAD}
layout(location=0) in vec3 aPos; layout(location=1) in vec4 aColour; uniform mat4 uView; out vec4 vColour;
void main() { vColour = aColour; gl_Position = uView * vec4(aPos, 1.0); }`,
  fragment: `${HEAD} in vec4 vColour; out vec4 oColour; void main() { oColour = vColour; }`,
};
