//! The page's server under siege: hostile requests, slow clients, pages that are closed in the middle of a long step, evil scenes.
//! Meanwhile one page runs a scene, and what it gets must be what an undisturbed one gets.
//!
//! Reads: the command beside this program.  Writes: one line of counts, the memory of the server.
//! Called by: `cargo build --release -p tippe-cli && cargo run --release -p tippe-cli --example siege -- [REQUESTS [SLOW [CLOSED [SEED]]]]`.
//! Source: docs/reliability.md. Short forms are among the tests (`tests/page/view_server.rs`).

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tippe_scene::recording::Recording;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

/// Longest wait for an answer [s].
const PATIENCE: u64 = 120;
/// Most memory of the server [kB].
const MEMORY: u64 = 500 << 10;
/// A block of bodies put into each other: its first step takes long.
const LONG: &str = "version = 1\n[method]\ndt = 0.02\nseconds = 100\n[[grid]]\ncounts = [16, 16, 16]\npitch = [0.15, 0.15, 0.15]\n\
                    origin = [0, 0, 0]\n[grid.body]\nname = \"box\"\nshape.box = { size = [0.2, 0.2, 0.2] }\n";
/// What an editor may be made to send.
const EVIL: [&str; 12] = [
    "",
    "version = 1\ninclude = [\"/etc/passwd\"]\n",
    "version = 1\ninclude = [\"../../../../etc/shadow\"]\n",
    "version = 1\n[[body]]\nname = \"m\"\nshape.mesh = { file = \"/dev/zero\" }\n",
    "version = 1\n[[body]]\nname = \"m\"\nshape.mesh = { file = \"/dev/stdin\" }\n",
    "version = 1\n[[body]]\nname = \"m\"\nmass = 1e-308\nshape.sphere = { radius = 1e-308 }\n",
    "version = 1\n[[grid]]\ncounts = [1000000, 1000000, 1000000]\npitch = [1, 1, 1]\norigin = [0, 0, 0]\n[grid.body]\nname = \"b\"\nshape.sphere = { radius = 0.1 }\n",
    "version = 1\n[world]\nbody_limit = 18446744073709551615\n[[grid]]\ncounts = [100, 100, 100]\npitch = [1, 1, 1]\norigin = [0, 0, 0]\n[grid.body]\nname = \"b\"\nshape.sphere = { radius = 0.1 }\n",
    "version = 1\n[method]\ndt = 1e-300\nseconds = 1e300\n[[body]]\nname = \"b\"\nshape.sphere = { radius = 0.1 }\n",
    "version = 1\nname = \"\\u001b]0;owned\\u0007<script>alert(1)</script>\"\n[[body]]\nname = \"<img src=x onerror=alert(1)>\"\nshape.sphere = { radius = 0.1 }\n",
    "version = 1\n[record]\nrate = 1e300\n[[body]]\nname = \"b\"\nshape.sphere = { radius = 0.1 }\n",
    "version = 1\n[parameters]\na = \"b\"\nb = \"a\"\n[[body]]\nname = \"b\"\nmass = \"=a\"\nshape.sphere = { radius = 0.1 }\n",
];

/// The same numbers for the same seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

struct Server {
    child: Child,
    port: u16,
    token: String,
}

impl Server {
    fn start() -> Result<Self> {
        let own = std::env::current_exe()?;
        let above = own.parent().and_then(Path::parent);
        let tippe = above.context("no folder above")?.join("tippe");
        let mut child = Command::new(&tippe)
            .arg("view")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{}: build it first", tippe.display()))?;
        let mut line = String::new();
        let out = child.stdout.take().context("no output")?;
        BufReader::new(out).read_line(&mut line)?;
        let rest = line
            .trim()
            .strip_prefix("http://127.0.0.1:")
            .context("no address")?;
        let (port, token) = rest
            .trim_end_matches('/')
            .split_once('/')
            .context("no token")?;
        Ok(Self {
            port: port.parse()?,
            token: token.to_owned(),
            child,
        })
    }

    fn stream(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(PATIENCE)))?;
        stream.set_write_timeout(Some(Duration::from_secs(PATIENCE)))?;
        Ok(stream)
    }

    fn page(&self) -> Result<Page> {
        let own = format!("127.0.0.1:{}", self.port);
        let mut request = format!("ws://{own}/{}/socket", self.token).into_client_request()?;
        let origin = format!("http://{own}").parse()?;
        request.headers_mut().insert("origin", origin);
        let (socket, _) = tungstenite::client(request, self.stream()?)
            .map_err(|e| anyhow::anyhow!("handshake: {e}"))?;
        Ok(Page {
            socket,
            bytes: Vec::new(),
            run: None,
        })
    }

    /// Memory now and at its highest [kB].
    fn memory(&self) -> Result<[u64; 2]> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let of = |key: &str| {
            let line = status.lines().find_map(|l| l.strip_prefix(key));
            line.and_then(|l| l.trim().trim_end_matches(" kB").trim().parse().ok())
                .unwrap_or(0)
        };
        Ok([of("VmRSS:"), of("VmHWM:")])
    }

    /// How long the page itself takes to be served.
    fn alive(&self) -> Result<Duration> {
        let start = Instant::now();
        let answer = self.send(
            format!(
                "GET /{}/ HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n",
                self.token, self.port
            )
            .as_bytes(),
        )?;
        ensure!(
            answer.starts_with("HTTP/1.1 200"),
            "the page is not served: {answer:.40}"
        );
        Ok(start.elapsed())
    }

    /// Sends bytes, reads what comes until the server hangs up.
    fn send(&self, bytes: &[u8]) -> Result<String> {
        let mut stream = self.stream()?;
        // It may hang up before all is sent.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A page's socket and the recording it gets.
struct Page {
    socket: WebSocket<TcpStream>,
    bytes: Vec<u8>,
    run: Option<(u64, usize)>,
}

impl Page {
    fn say(&mut self, order: &Value) -> Result<()> {
        Ok(self.socket.send(Message::text(order.to_string()))?)
    }

    /// Waits for one of these answers.
    fn wait(&mut self, kinds: &[&str]) -> Result<Value> {
        let start = Instant::now();
        while start.elapsed().as_secs() < PATIENCE {
            match self.socket.read()? {
                Message::Text(text) => {
                    let answer: Value = serde_json::from_str(&text)?;
                    if answer["say"] == "opened" {
                        let offset = answer["offset"].as_u64().unwrap_or(0) as usize;
                        self.run = answer["run"].as_u64().map(|run| (run, offset));
                    }
                    if kinds.iter().any(|k| answer["say"] == *k) {
                        return Ok(answer);
                    }
                }
                Message::Binary(bytes) => {
                    self.bytes.extend_from_slice(&bytes);
                    if let Some((run, from)) = self.run {
                        let offset = from + self.bytes.len();
                        self.say(&json!({"do": "took", "run": run, "offset": offset}))?;
                    }
                }
                _ => {}
            }
        }
        bail!("none of {kinds:?} within {PATIENCE} s")
    }

    fn until(&mut self, time: f64) -> Result<()> {
        self.say(&json!({"do": "until", "time": time}))?;
        while self.wait(&["status"])?["time"].as_f64().unwrap_or(0.0) < time - 1e-6 {}
        Ok(())
    }
}

/// One hostile request; what was answered.
fn request(server: &Server, random: &mut Random) -> Result<&'static str> {
    let (port, token) = (server.port, &server.token);
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let get = |path: &str, more: &str| {
        format!("GET {path} HTTP/1.1\r\n{host}{more}Connection: close\r\n\r\n").into_bytes()
    };
    let count = random.below(4000);
    let bytes = match random.below(14) {
        0 => random.bytes(count),
        1 => get("/../../etc/passwd", ""),
        2 => get(&format!("/{token}/..%2f..%2f..%2fetc%2fpasswd"), ""),
        3 => get(&format!("/{token}/"), "Origin: http://evil.example\r\n"),
        4 => format!("GET /{token}/ HTTP/1.1\r\nHost: evil.example\r\n\r\n").into_bytes(),
        5 => get(&format!("/{}/", "f".repeat(token.len())), ""),
        6 => get(&format!("/{token}/{}", "a".repeat(count * 16)), ""),
        7 => get(&format!("/{token}/"), &"X: y\r\n".repeat(count)),
        8 => format!("POST /{token}/ HTTP/1.1\r\n{host}Content-Length: 99999999999999999999\r\n\r\n").into_bytes(),
        9 => format!("POST /{token}/ HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n").into_bytes(),
        10 => get(&format!("/{token}/socket"), "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n"),
        11 => [get(&format!("/{token}/socket"), ""), random.bytes(count)].concat(),
        12 => return message(server, random),
        _ => {
            let mut good = get(&format!("/{token}/gallery.json"), "");
            for _ in 0..1 + random.below(6) {
                let at = random.below(good.len());
                good[at] = random.next() as u8;
            }
            good
        }
    };
    let answer = server.send(&bytes)?;
    ensure!(
        !answer.contains("root:"),
        "a file of the system was served: {answer}"
    );
    Ok(match answer.get(9..10) {
        None => "hung up",
        Some("2") => "answered",
        Some("4") => "refused",
        Some("5") => bail!("an error of the server: {answer:.60}"),
        Some(_) => "other",
    })
}

/// A page that says something senseless or evil.
fn message(server: &Server, random: &mut Random) -> Result<&'static str> {
    let Ok(mut page) = server.page() else {
        return Ok("no place for a page");
    };
    let count = random.below(3000);
    let order = match random.below(8) {
        0 => Message::binary(random.bytes(count)),
        1 => Message::text(String::from_utf8_lossy(&random.bytes(count)).into_owned()),
        2 => Message::text(json!({"do": "step", "count": 1e99}).to_string()),
        3 => Message::text("[".repeat(count)),
        4 => Message::text(
            json!({"do": "resume", "run": random.next(), "offset": random.next()}).to_string(),
        ),
        5 => Message::text("x".repeat(2 << 20)),
        _ => {
            let text = EVIL[random.below(EVIL.len())];
            Message::text(json!({"do": "open", "text": text}).to_string())
        }
    };
    if page.socket.send(order).is_err() {
        return Ok("page hung up");
    }
    Ok(match page.wait(&["refused", "faults", "opened", "gone"]) {
        Ok(answer) if answer["say"] == "opened" => "scene opened",
        Ok(_) => "page refused",
        Err(_) => "page hung up",
    })
}

fn frames(bytes: &[u8], until: f64) -> Result<Vec<tippe_scene::recording::Frame>> {
    let found = Recording::read(bytes).map_err(|e| anyhow::anyhow!("{e}"))?;
    Ok(found
        .frames
        .into_iter()
        .take_while(|f| f.time <= until)
        .collect())
}

fn siege([requests, slow, closed, seed]: [u64; 4]) -> Result<bool> {
    let server = Server::start()?;
    let mut good = server.page()?;
    good.say(&json!({"do": "open", "scene": "domino.toml"}))?;
    good.wait(&["opened"])?;
    good.until(0.1)?;
    let mut held = Vec::new();
    for _ in 0..slow {
        let mut stream = server.stream()?;
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
        held.push(stream);
    }
    println!(
        "{slow} slow clients: the page is served in {:?}",
        server.alive()?
    );
    let mut random = Random(seed);
    let mut tally = BTreeMap::<&str, u64>::new();
    let mut slowest = Duration::ZERO;
    for i in 0..requests {
        *tally
            .entry(request(&server, &mut random).with_context(|| format!("request {i}"))?)
            .or_default() += 1;
        // A slow client says one letter more now and then.
        if let Some(stream) = held.get_mut(random.below(slow.max(1) as usize)) {
            let _ = stream.write_all(b"y");
        }
        if i % 500 == 499 {
            slowest = slowest.max(server.alive()?);
        }
    }
    println!(
        "{requests} hostile requests of seed {seed}: {tally:?}; the page was served within {slowest:?}"
    );
    for _ in 0..closed {
        let mut page = server.page()?;
        page.say(&json!({"do": "open", "text": LONG}))?;
        match page.wait(&["opened", "refused"])?["say"].as_str() {
            Some("opened") => page.say(&json!({"do": "until", "time": 100}))?,
            _ => println!("no place for another page yet"),
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    let start = Instant::now();
    let threads = || -> Result<usize> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", server.child.id()))?;
        let names = tasks.filter_map(|t| std::fs::read_to_string(t.ok()?.path().join("comm")).ok());
        Ok(names.filter(|n| n.starts_with("run ")).count())
    };
    while threads()? > 1 && start.elapsed().as_secs() < PATIENCE {
        std::thread::sleep(Duration::from_millis(100));
    }
    let left = threads()?;
    println!(
        "{closed} closed pages: {left} thread of a run left after {:?}",
        start.elapsed()
    );
    good.until(1.0)?;
    let mut plain = server.page()?;
    plain.say(&json!({"do": "open", "scene": "domino.toml"}))?;
    plain.wait(&["opened"])?;
    plain.until(1.0)?;
    let same = frames(&good.bytes, 1.0)? == frames(&plain.bytes, 1.0)?;
    let [now, highest] = server.memory()?;
    let served = server.alive()?;
    println!(
        "the run is {}; memory {} MB, at its highest {} MB; the page is served in {served:?}",
        if same { "unharmed" } else { "HARMED" },
        now >> 10,
        highest >> 10
    );
    Ok(same && left <= 1 && highest < MEMORY)
}

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut numbers = [10_000, 200, 12, 1];
    for (number, word) in numbers.iter_mut().zip(&words) {
        *number = word.parse()?;
    }
    Ok(ExitCode::from(u8::from(!siege(numbers)?)))
}
