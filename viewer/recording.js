// A recording, read chunk by chunk while it arrives: from a live run, a file or a page that holds it.
//
// Reads: bytes as docs/recording.md gives them.  Writes: frames, certificates, events.
// Called by: page.

const HEAD_BYTES = 12;
const CONTACT_BYTES = 61;
const CONTACTS_KEPT = 50000; // unpacked, for windows of time that are looked at again and again
export const EVENT_KINDS = ['begin', 'end', 'impact', 'sensor begin', 'sensor end', 'joint broke'];

const CRC = (() => {
  const tables = [new Uint32Array(256)];
  for (let i = 0; i < 256; i++) {
    let c = i;
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    tables[0][i] = c;
  }
  for (let lane = 1; lane < 4; lane++) {
    tables.push(tables[lane - 1].map((c) => tables[0][c & 255] ^ (c >>> 8)));
  }
  return tables;
})();

// The checksum of a chunk: over tag and length (its first 8 bytes), then the payload.
function checksum(bytes, from, to) {
  let c = 0xffffffff;
  for (let i = from; i < from + 8; i++) c = CRC[0][(c ^ bytes[i]) & 255] ^ (c >>> 8);
  let i = from + HEAD_BYTES;
  for (; i + 4 <= to; i += 4) {
    c ^= bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24);
    c = CRC[3][c & 255] ^ CRC[2][(c >>> 8) & 255] ^ CRC[1][(c >>> 16) & 255] ^ CRC[0][c >>> 24];
  }
  for (; i < to; i++) c = CRC[0][(c ^ bytes[i]) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

// One contact of a frame after the other.
class Visited {
  constructor() {
    this.point = [0, 0, 0];
    this.normal = [0, 0, 0];
    this.impulse = [0, 0, 0];
  }

  read(view, at) {
    [this.view, this.at] = [view, at];
    this.a = view.getUint32(at, true);
    this.b = view.getUint32(at + 4, true);
    this.steps = view.getUint32(at + 20, true);
    this.sliding = view.getUint8(at + 24) !== 0;
    for (let k = 0; k < 3; k++) {
      this.point[k] = view.getFloat32(at + 25 + 4 * k, true);
      this.normal[k] = view.getFloat32(at + 37 + 4 * k, true);
      this.impulse[k] = view.getFloat32(at + 49 + 4 * k, true);
    }
    return this;
  }

  get key() {
    return keyOf(this.view, this.at);
  }
}

// Bodies, shapes and feature of a contact, as one name.
function keyOf(view, at) {
  const word = (i) => view.getUint32(at + 4 * i, true);
  return `${word(0)}/${word(2)}-${word(1)}/${word(3)}#${word(4)}`;
}

export class Recording {
  constructor() {
    this.rest = new Uint8Array(0);
    this.started = false;
    this.length = 0; // bytes taken, with those that wait for the end of their chunk
    this.header = null;
    this.lists = []; // lists of bodies
    this.trees = []; // joints inside articulations, for each list of bodies
    this.jointLists = [];
    this.frames = [];
    this.events = [];
    this.columns = {}; // name of a certificate's number -> its place
    this.width = 0;
    this.rows = new Float64Array(0);
    this.steps = 0;
    this.wall = [];
    this.ending = null;
    this.problem = ''; // why not all of it can be read
    this.waiting = {};
    this.locked = null; // which links are locked, in the same form
    this.asleep = null; // who sleeps, a bit for each body, from the frame on that comes next
    this.unpacked = new Map(); // place of a frame -> its contacts
    this.unpackedCount = 0;
  }

  // Takes more bytes; true if there is something new to see.
  push(bytes) {
    this.length += bytes.length;
    let data = bytes;
    if (this.rest.length) {
      data = new Uint8Array(this.rest.length + bytes.length);
      data.set(this.rest);
      data.set(bytes, this.rest.length);
    }
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    let at = 0;
    let news = false;
    if (!this.started) {
      if (data.length < 12) {
        this.rest = data.slice();
        return false;
      }
      const magic = String.fromCharCode(...data.subarray(0, 8));
      if (magic !== 'TIPPEREC') throw new Error('These bytes are not a tippe recording.');
      const version = view.getUint32(8, true);
      if (version !== 1) throw new Error(`Recording version ${version}; this page reads version 1.`);
      this.started = true;
      at = 12;
    }
    while (!this.problem && !this.ending && at + HEAD_BYTES <= data.length) {
      const size = view.getUint32(at + 4, true);
      const end = at + HEAD_BYTES + size;
      if (end > data.length) break;
      const tag = String.fromCharCode(data[at], data[at + 1], data[at + 2], data[at + 3]);
      if (checksum(data, at, end) !== view.getUint32(at + 8, true)) {
        this.problem = 'damaged';
        break;
      }
      try {
        this.take(tag, data.subarray(at + HEAD_BYTES, end));
      } catch (e) {
        this.problem = 'damaged';
        break;
      }
      at = end;
      news = true;
    }
    this.rest = at < data.length ? data.slice(at) : new Uint8Array(0);
    return news;
  }

  // Says that no more bytes will come: a file that ends early is cut off.
  end() {
    if (!this.ending && !this.problem) this.problem = this.rest.length ? 'cut off' : 'unfinished';
  }

  take(tag, payload) {
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    const json = () => JSON.parse(new TextDecoder().decode(payload));
    switch (tag) {
      case 'HEAD':
        this.header = json();
        this.header.certificate.forEach((name, i) => (this.columns[name] = i));
        this.width = this.header.certificate.length;
        break;
      case 'BODY':
        this.lists.push(json());
        this.trees.push([]);
        this.asleep = null;
        this.locked = null;
        break;
      case 'TREE':
        this.trees[this.trees.length - 1] = json();
        break;
      case 'LOCK':
        this.locked = payload.slice();
        break;
      case 'DOZE':
        this.asleep = payload.slice();
        break;
      case 'JOIN':
        this.jointLists.push(json());
        break;
      case 'REAC':
        this.waiting.reactions = new Float32Array(payload.slice(8).buffer);
        break;
      case 'CERT':
        this.takeRows(view);
        break;
      case 'WALL':
        for (let i = 0; i + 4 <= payload.length; i += 4) this.wall.push(view.getFloat32(i, true));
        break;
      case 'EVNT':
        for (let i = 0; i + 57 <= payload.length; i += 57) this.events.push(eventAt(view, i));
        break;
      case 'CONT':
        this.waiting.contacts = payload.subarray(8);
        break;
      case 'POSE':
        this.takeFrame(view, payload);
        break;
      case 'DONE':
        this.ending = { time: view.getFloat64(0, true), stopped: new TextDecoder().decode(payload.subarray(24)) };
        break;
      default: // chunks of later versions
    }
  }

  takeRows(view) {
    const count = view.byteLength / 8 / this.width;
    const need = (this.steps + count) * this.width;
    if (need > this.rows.length) {
      const grown = new Float64Array(Math.max(need, 2 * this.rows.length));
      grown.set(this.rows);
      this.rows = grown;
    }
    for (let i = 0; i < count * this.width; i++) this.rows[this.steps * this.width + i] = view.getFloat64(8 * i, true);
    this.steps += count;
  }

  takeFrame(view, payload) {
    const list = this.lists.length - 1;
    const packed = payload.subarray(64);
    if (packed.length !== 16 * this.lists[list].length) throw new Error('a frame of other bodies');
    const corner = (at) => [0, 8, 16].map((d) => view.getFloat64(at + d, true));
    this.frames.push({
      time: view.getFloat64(0, true),
      step: Number(view.getBigUint64(8, true)),
      rows: this.steps,
      list,
      joints: this.jointLists.length - 1,
      min: corner(16),
      max: corner(40),
      packed,
      asleep: this.asleep,
      locked: this.locked,
      contacts: this.waiting.contacts || null,
      reactions: this.waiting.reactions || null,
    });
    this.waiting = {};
  }

  get duration() {
    return this.frames.length ? this.frames[this.frames.length - 1].time : 0;
  }

  // The place of the last frame at or before a time.
  frameAt(time) {
    let low = 0;
    let high = this.frames.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (this.frames[mid].time <= time + 1e-9) low = mid;
      else high = mid - 1;
    }
    return low;
  }

  bodies(frame) {
    return this.lists[frame.list];
  }

  joints(frame) {
    return frame.joints >= 0 ? this.jointLists[frame.joints] : [];
  }

  // Whether a link of the list is locked to what carries it in a frame.
  locks(frame, body) {
    return frame.locked !== null && ((frame.locked[body >> 3] >> (body & 7)) & 1) === 1;
  }

  // Whether a body of the list sleeps in a frame.
  sleeps(frame, body) {
    return frame.asleep !== null && ((frame.asleep[body >> 3] >> (body & 7)) & 1) === 1;
  }

  // Seven numbers for each body: position and quaternion (x, y, z, w).
  poses(frame, out) {
    const n = frame.packed.length / 16;
    const poses = out && out.length >= 7 * n ? out : new Float32Array(7 * n);
    const b = frame.packed;
    const [x, y, z] = frame.min;
    const [sx, sy, sz] = [0, 1, 2].map((k) => (frame.max[k] - frame.min[k]) / 0xffffff);
    const unit = Math.SQRT2 / 0x3ffff; // of a component of a quaternion, from −√½ to √½
    for (let i = 0, p = 0, at = 0; i < n; i++, p += 16, at += 7) {
      poses[at] = x + sx * (b[p] | (b[p + 1] << 8) | (b[p + 2] << 16));
      poses[at + 1] = y + sy * (b[p + 3] | (b[p + 4] << 8) | (b[p + 5] << 16));
      poses[at + 2] = z + sz * (b[p + 6] | (b[p + 7] << 8) | (b[p + 8] << 16));
      // 2 bits: which component is missing; three of 18 bits.
      const low = b[p + 9] | (b[p + 10] << 8) | (b[p + 11] << 16);
      const mid = b[p + 11] | (b[p + 12] << 8) | (b[p + 13] << 16);
      const top = b[p + 13] | (b[p + 14] << 8) | (b[p + 15] << 16);
      const largest = low & 3;
      const q0 = ((low >> 2) & 0x3ffff) * unit - Math.SQRT1_2;
      const q1 = ((mid >> 4) & 0x3ffff) * unit - Math.SQRT1_2;
      const q2 = ((top >> 6) & 0x3ffff) * unit - Math.SQRT1_2;
      const q = at + 3;
      poses[q + (largest > 0 ? 0 : 1)] = q0;
      poses[q + (largest > 1 ? 1 : 2)] = q1;
      poses[q + (largest > 2 ? 2 : 3)] = q2;
      poses[q + largest] = Math.sqrt(Math.max(1 - q0 * q0 - q1 * q1 - q2 * q2, 0));
    }
    return poses;
  }

  // The contacts of a frame, with the mean force on B since the frame before.
  contacts(index) {
    const known = this.unpacked.get(index);
    if (known) return known;
    if (!this.frames[index]) return [];
    const list = this.unpack(index);
    this.unpacked.set(index, list);
    this.unpackedCount += list.length;
    // The oldest go first.
    for (const [i, old] of this.unpacked) {
      if (this.unpackedCount <= CONTACTS_KEPT || i === index) break;
      this.unpacked.delete(i);
      this.unpackedCount -= old.length;
    }
    return list;
  }

  unpack(index) {
    const frame = this.frames[index];
    if (!frame.contacts) return [];
    const span = index > 0 ? frame.time - this.frames[index - 1].time : 1;
    const view = new DataView(frame.contacts.buffer, frame.contacts.byteOffset, frame.contacts.byteLength);
    const list = [];
    for (let at = 0; at + CONTACT_BYTES <= view.byteLength; at += CONTACT_BYTES) {
      const word = (i) => view.getUint32(at + 4 * i, true);
      const vector = (i) => [0, 4, 8].map((d) => view.getFloat32(at + 25 + 12 * i + d, true));
      const normal = vector(1);
      const impulse = vector(2);
      const force = impulse.map((x) => x / span);
      const pressing = force[0] * normal[0] + force[1] * normal[1] + force[2] * normal[2];
      list.push({
        key: keyOf(view, at),
        a: word(0),
        b: word(1),
        shapeA: word(2),
        shapeB: word(3),
        feature: word(4),
        steps: word(5),
        sliding: view.getUint8(at + 24) !== 0,
        point: vector(0),
        normal,
        impulse,
        force,
        pressing,
        friction: force.map((x, k) => x - pressing * normal[k]),
      });
    }
    return list;
  }

  // Visits the contacts of a frame without making anything of them: `visit` gets the same object every time.
  scan(index, visit) {
    const { contacts } = this.frames[index];
    if (!contacts) return;
    const view = new DataView(contacts.buffer, contacts.byteOffset, contacts.byteLength);
    const c = (this.visited ??= new Visited());
    for (let at = 0; at + CONTACT_BYTES <= view.byteLength; at += CONTACT_BYTES) visit(c.read(view, at));
  }

  // One number of the certificate of a step.
  value(step, name) {
    const column = this.columns[name];
    return column === undefined ? 0 : this.rows[step * this.width + column];
  }

  // A table of all certificates.
  csv() {
    const names = [...this.header.certificate, ...(this.wall.length ? ['wall_ms'] : [])];
    const lines = [names.join(',')];
    for (let i = 0; i < this.steps; i++) {
      const row = Array.from(this.rows.subarray(i * this.width, (i + 1) * this.width));
      if (this.wall.length) row.push(this.wall[i] ?? '');
      lines.push(row.join(','));
    }
    return lines.join('\n') + '\n';
  }
}

function eventAt(view, at) {
  return {
    time: view.getFloat64(at, true),
    kind: EVENT_KINDS[view.getUint8(at + 8)] || 'event',
    a: view.getUint32(at + 9, true),
    b: view.getUint32(at + 13, true),
    point: [25, 33, 41].map((d) => view.getFloat64(at + d, true)),
    speed: view.getFloat64(at + 49, true),
  };
}
