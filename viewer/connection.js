// The line to the server: orders out, answers and bytes in; it comes back by itself.
//
// Reads: messages as docs/page.md gives them.  Writes: orders.
// Called by: pane.

const WAIT_FIRST = 300; // ms before the first new try
const WAIT_MAX = 3000;

export class Connection {
  // `on.bytes(bytes)`, `on.answer(message)`, `on.line(state)`: connecting, open, lost.
  constructor(on) {
    this.on = on;
    this.run = null;
    this.taken = () => 0;
    this.pending = null;
    this.wait = WAIT_FIRST;
    this.closed = false;
    this.connect();
  }

  connect() {
    const folder = location.pathname.replace(/[^/]*$/, '');
    this.on.line('connecting');
    this.socket = new WebSocket(`ws://${location.host}${folder}socket`);
    this.socket.binaryType = 'arraybuffer';
    this.socket.onopen = () => {
      this.wait = WAIT_FIRST;
      this.on.line('open');
      if (this.pending) this.deliver();
      else if (this.run !== null) this.send({ do: 'resume', run: this.run, offset: this.taken() });
    };
    this.socket.onmessage = ({ data }) => {
      if (typeof data !== 'string') {
        this.on.bytes(new Uint8Array(data));
        return;
      }
      const answer = JSON.parse(data);
      if (['opened', 'faults', 'refused'].includes(answer.say)) this.pending = null;
      if (answer.say === 'opened') this.run = answer.run;
      if (answer.say === 'gone') this.run = null;
      this.on.answer(answer);
    };
    this.socket.onclose = () => {
      if (this.closed) return;
      this.on.line('lost');
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, WAIT_MAX);
    };
  }

  // Opens a scene, now or as soon as there is a line; once more if the line is lost before the answer.
  open(order) {
    this.pending = { do: 'open', ...order };
    if (this.socket.readyState === WebSocket.OPEN) this.deliver();
  }

  deliver() {
    this.run = null;
    this.send(this.pending);
  }

  send(order) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(order));
  }

  close() {
    this.closed = true;
    this.socket.close();
  }
}
