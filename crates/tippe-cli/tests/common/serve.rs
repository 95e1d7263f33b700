//! A `tippe view` of a test, and clients of its server.
//!
//! Reads: the built binary.  Writes: nothing.
//! Called by: tests of the page.
//! Source: docs/page.md, "Protocol".

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::Value;
use tungstenite::{Message, WebSocket, client::IntoClientRequest};

use super::PATIENCE;

/// A running server; ends with the test.
pub struct Server {
    child: Child,
    /// Its port.
    pub port: u16,
    /// Its token.
    pub token: String,
    /// Address of the page.
    pub address: String,
}

impl Server {
    /// Starts `tippe view` with arguments.
    pub fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tippe"))
            .arg("view")
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim().to_owned();
        let rest = address.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.trim_end_matches('/').split_once('/').unwrap();
        Self {
            port: port.parse().unwrap(),
            token: token.to_owned(),
            child,
            address,
        }
    }

    /// A port that is free now and that the system gives to nobody who does not ask for it by number.
    pub fn free_port() -> u16 {
        let first = 20_000 + std::process::id() % 10_000;
        (first..first + 1000)
            .filter_map(|p| u16::try_from(p).ok())
            .find(|p| TcpListener::bind(("127.0.0.1", *p)).is_ok())
            .unwrap()
    }

    /// Number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends the server.
    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// A socket like that of the page.
    pub fn connect(&self) -> Result<Line, tungstenite::Error> {
        self.connect_as(None, Some("own"), None)
    }

    /// A socket that calls host, origin or token something else; the origin `own` is the right one.
    pub fn connect_as(
        &self,
        host: Option<&str>,
        origin: Option<&str>,
        token: Option<&str>,
    ) -> Result<Line, tungstenite::Error> {
        let own = format!("127.0.0.1:{}", self.port);
        let token = token.unwrap_or(&self.token);
        let mut request = format!("ws://{own}/{token}/socket").into_client_request()?;
        let headers = request.headers_mut();
        headers.insert("host", host.unwrap_or(&own).parse().unwrap());
        let own_origin = format!("http://{own}");
        if let Some(origin) = origin {
            let origin = if origin == "own" { &own_origin } else { origin };
            headers.insert("origin", origin.parse().unwrap());
        }
        let stream = TcpStream::connect(&own)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (socket, _) = tungstenite::client(request, stream).map_err(|e| match e {
            tungstenite::HandshakeError::Failure(e) => e,
            tungstenite::HandshakeError::Interrupted(_) => tungstenite::Error::ConnectionClosed,
        })?;
        Ok(Line {
            socket,
            bytes: Vec::new(),
            run: None,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A socket to the server.
pub struct Line {
    /// The socket.
    pub socket: WebSocket<TcpStream>,
    /// Bytes of the recording so far.
    pub bytes: Vec<u8>,
    /// Its run, and where the bytes begin in its recording; nothing is said about bytes that arrive where there is none.
    pub run: Option<(u64, usize)>,
}

impl Line {
    /// Gives an order.
    pub fn say(&mut self, order: &str) {
        self.socket.send(Message::text(order)).unwrap();
    }

    fn next(&mut self) -> Option<Value> {
        match self.socket.read().unwrap() {
            Message::Text(text) => {
                let answer: Value = serde_json::from_str(&text).unwrap();
                if answer["say"] == "opened" {
                    let number = |name: &str| answer[name].as_u64().unwrap();
                    self.run = Some((number("run"), number("offset") as usize));
                }
                Some(answer)
            }
            Message::Binary(bytes) => {
                self.bytes.extend_from_slice(&bytes);
                self.take();
                None
            }
            _ => None,
        }
    }

    /// Says that all bytes have been read.
    pub fn take(&mut self) {
        if let Some((run, from)) = self.run {
            let offset = from + self.bytes.len();
            self.say(&format!(r#"{{"do":"took","run":{run},"offset":{offset}}}"#));
        }
    }

    /// Waits for an answer of a kind.
    pub fn wait(&mut self, say: &str) -> Value {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            match self.next() {
                Some(answer) if answer["say"] == say => return answer,
                Some(answer) => assert!(answer["say"] != "faults", "{answer}"),
                None => {}
            }
        }
        panic!("no answer {say:?}");
    }

    /// Waits until so many bytes of the recording have come.
    pub fn fill(&mut self, bytes: usize) {
        let start = Instant::now();
        while self.bytes.len() < bytes {
            assert!(start.elapsed() < PATIENCE, "{} bytes", self.bytes.len());
            self.next();
        }
    }

    /// Waits until the run has come to a time [s].
    pub fn until(&mut self, time: f64) {
        while self.wait("status")["time"].as_f64().unwrap() < time - 1e-6 {}
    }

    /// Whether the server hangs up.
    pub fn is_closed(&mut self) -> bool {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            match self.socket.read() {
                Ok(Message::Close(_)) | Err(_) => return true,
                Ok(_) => {}
            }
        }
        false
    }
}

/// A plain request: status, head and body of the answer. Headers given here replace the right ones.
pub fn get(port: u16, path: &str, headers: &[(&str, &str)]) -> (u16, String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut request = format!("GET {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|h| h.0 == "Host") {
        request += &format!("Host: 127.0.0.1:{port}\r\n");
    }
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    stream.write_all((request + "\r\n").as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok());
    (status.unwrap_or(0), head.to_owned(), body.to_owned())
}
