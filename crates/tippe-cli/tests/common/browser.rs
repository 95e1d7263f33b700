//! A real Chromium without a window, driven over chromedriver's WebDriver protocol.
//!
//! Reads: `chromium` and `chromedriver` of the system.  Writes: a fresh profile in the temporary folder of the build.
//! Called by: tests of the page.
//! Source: W3C WebDriver; plain HTTP over a socket is all it takes.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::PATIENCE;

/// By how much to slow the browser down, to see that no test depends on its speed: `TIPPE_TEST_THROTTLE=6`.
const THROTTLE: &str = "TIPPE_TEST_THROTTLE";
/// Two machines' worth of browsers on one: one after the other.
static ONE: Mutex<()> = Mutex::new(());

/// A browser with one page; ends with the test.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: PathBuf,
    /// Kept open: the driver may say more.
    _output: Lines<BufReader<ChildStdout>>,
    _turn: MutexGuard<'static, ()>,
}

fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|dir| names.iter().map(move |n| dir.join(n)))
        .find(|p| p.is_file())
}

/// A browser, or `None` with a loud word where there is none; `cargo xtask test` installs one where it can.
pub fn start(name: &str, size: (u32, u32)) -> Option<Browser> {
    start_with(name, size, &[])
}

/// The same with more flags for the browser.
pub fn start_with(name: &str, size: (u32, u32), flags: &[&str]) -> Option<Browser> {
    if !cfg!(debug_assertions) {
        eprintln!("{name}: the page is tested in debug builds only, it is the same page");
        return None;
    }
    in_any_build(name, size, flags)
}

/// The same in release builds as well, for measurements.
pub fn in_any_build(name: &str, size: (u32, u32), flags: &[&str]) -> Option<Browser> {
    if std::env::var_os("TIPPE_NO_BROWSER").is_some() {
        println!("\n*** {name} SKIPPED: left out by TIPPE_NO_BROWSER ***\n");
        return None;
    }
    let browser = find(&["chromium", "chromium-browser", "google-chrome"]);
    let driver = find(&["chromedriver"]);
    let (Some(browser), Some(driver)) = (browser, driver) else {
        eprintln!(
            "\n*** {name} SKIPPED: no chromium and chromedriver on the PATH (apt-get install chromium chromium-driver) ***\n"
        );
        return None;
    };
    Some(Browser::start(name, size, flags, &browser, &driver))
}

impl Browser {
    fn start(
        name: &str,
        (w, h): (u32, u32),
        flags: &[&str],
        browser: &PathBuf,
        driver: &PathBuf,
    ) -> Self {
        let turn = ONE.lock().unwrap_or_else(|e| e.into_inner());
        let profile = super::folder(&format!("profile-{name}"));
        let mut driver = Command::new(driver)
            .args(["--port=0", "--log-level=SEVERE"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|l| {
                let (_, port) = l.split_once("successfully on port ")?;
                port.trim_end_matches('.').parse().ok()
            })
            .unwrap();
        let mut this = Self {
            driver,
            port,
            session: String::new(),
            profile,
            _output: lines,
            _turn: turn,
        };
        let mut args = vec![
            "--headless".to_owned(),
            "--no-sandbox".into(),
            "--disable-gpu".into(),
            "--disable-quic".into(),
            "--no-first-run".into(),
            "--disable-background-networking".into(),
            "--disable-component-update".into(),
            "--disable-sync".into(),
            "--disable-dev-shm-usage".into(),
            "--use-gl=angle".into(),
            "--use-angle=swiftshader".into(),
            "--enable-unsafe-swiftshader".into(),
            format!("--window-size={w},{h}"),
            format!("--user-data-dir={}", this.profile.display()),
        ];
        args.extend(flags.iter().map(|f| (*f).to_owned()));
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"binary": browser, "args": args},
        }}});
        let made = this.request("POST", "/session", &wanted);
        this.session = made["sessionId"].as_str().unwrap().to_owned();
        let long = PATIENCE.as_millis() as u64;
        this.post("timeouts", &json!({"script": long, "pageLoad": long}));
        if let Some(rate) = std::env::var(THROTTLE).ok().and_then(|r| r.parse().ok()) {
            let rate: f64 = rate;
            this.devtools("Emulation.setCPUThrottlingRate", &json!({ "rate": rate }));
        }
        this
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.ask(method, path, body).unwrap();
        assert!(answer["error"].is_null(), "{path}: {answer}");
        answer
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> std::io::Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        // The driver has as much patience, and says so itself when it is at its end.
        stream.set_read_timeout(Some(2 * PATIENCE))?;
        let body = if method == "POST" {
            body.to_string()
        } else {
            String::new()
        };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all((head + &body).as_bytes())?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            if let Some(n) = line.to_lowercase().strip_prefix("content-length:") {
                length = n.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes)?;
        let answer: Value = serde_json::from_slice(&bytes)?;
        Ok(answer["value"].clone())
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.request("POST", &format!("/session/{}/{path}", self.session), body)
    }

    /// Opens an address.
    pub fn go(&self, address: &str) {
        self.post("url", &json!({ "url": address }));
    }

    /// Runs a script in the page; it may `return` something.
    pub fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({"script": script, "args": []}))
    }

    /// The same, or what went wrong.
    pub fn try_run(&self, script: &str) -> Result<Value, String> {
        let path = format!("/session/{}/execute/sync", self.session);
        let body = json!({"script": script, "args": []});
        match self.ask("POST", &path, &body) {
            Ok(value) if value["error"].is_null() => Ok(value),
            Ok(value) => Err(value["message"].to_string()),
            Err(e) => Err(e.to_string()),
        }
    }

    /// An order of the browser's own protocol, such as another size of screen.
    pub fn devtools(&self, order: &str, params: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({"cmd": order, "params": params}))
    }

    /// Clicks a button that saves a file, and gives what was saved.
    pub fn saved(&self, button: &str, file: &str) -> Vec<u8> {
        let dir = self.profile.join("saved");
        let behaviour = json!({"behavior": "allow", "downloadPath": dir});
        self.devtools("Browser.setDownloadBehavior", &behaviour);
        self.run(&format!("document.querySelector('{button}').click()"));
        // The browser writes under another name until all is there.
        let path = dir.join(file);
        super::wait_until(&format!("a file saved by {button}"), || path.is_file());
        std::fs::read(path).unwrap()
    }

    /// What the page says about itself.
    pub fn state(&self) -> Value {
        self.run("return window.tippe && tippe.state ? tippe.state() : {}")
    }

    /// Waits until something about the page's state holds.
    pub fn wait(&self, what: &str, mut holds: impl FnMut(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let state = self.state();
            if holds(&state) {
                return state;
            }
            if start.elapsed() > PATIENCE {
                panic!(
                    "not in time: {what}: {}; log: {}",
                    brief(&state),
                    self.log()
                );
            }
            std::thread::sleep(Duration::from_millis(60));
        }
    }

    /// Waits until what a script gives holds.
    pub fn wait_for(
        &self,
        what: &str,
        script: &str,
        mut holds: impl FnMut(&Value) -> bool,
    ) -> Value {
        let mut value = Value::Null;
        super::wait_until(what, || {
            value = self.run(script);
            holds(&value)
        });
        value
    }

    /// Clicks an element.
    pub fn click(&self, selector: &str) {
        let found = self.post(
            "element",
            &json!({"using": "css selector", "value": selector}),
        );
        let id = found.as_object().unwrap().values().next().unwrap().clone();
        let id = id.as_str().unwrap();
        self.post(&format!("element/{id}/click"), &json!({}));
    }

    /// Moves the mouse along points of the page with its button down; waits in between [ms].
    pub fn drag(&self, points: &[(f64, f64)], wait: u64, release: bool) {
        let to = |p: &(f64, f64), ms: u64| json!({"type": "pointerMove", "duration": ms, "x": p.0.round() as i64, "y": p.1.round() as i64});
        let mut actions = vec![
            to(&points[0], 0),
            json!({"type": "pointerDown", "button": 0}),
        ];
        for p in &points[1..] {
            actions.push(to(p, 100));
            actions.push(json!({"type": "pause", "duration": wait}));
        }
        if release {
            actions.push(json!({"type": "pointerUp", "button": 0}));
        }
        self.post("actions", &json!({"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]}));
    }

    /// Clicks a point of the page.
    pub fn click_at(&self, p: (f64, f64)) {
        self.drag(&[p], 0, true);
    }

    /// Lets go of the mouse.
    pub fn release(&self) {
        self.request(
            "DELETE",
            &format!("/session/{}/actions", self.session),
            &Value::Null,
        );
    }

    /// Presses a key.
    pub fn press(&self, key: &str) {
        self.press_often(key, 1);
    }

    /// Presses a key several times.
    pub fn press_often(&self, key: &str, times: usize) {
        let once = [
            json!({"type": "keyDown", "value": key}),
            json!({"type": "keyUp", "value": key}),
        ];
        let actions: Vec<&Value> = std::iter::repeat_n(&once, times).flatten().collect();
        self.post(
            "actions",
            &json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]}),
        );
    }

    /// The picture of the scene, as it is drawn now.
    pub fn pixels(&self) -> Picture {
        self.pixels_of("#scene")
    }

    /// The picture of a canvas.
    pub fn pixels_of(&self, canvas: &str) -> Picture {
        let text = self.run(&format!("tippe.draw(); return document.querySelector('{canvas}').toDataURL('image/png').split(',')[1]"));
        Picture::from_base64(text.as_str().unwrap())
    }

    /// The picture of the whole window.
    pub fn screen(&self) -> Picture {
        let path = format!("/session/{}/screenshot", self.session);
        let text = self.request("GET", &path, &Value::Null);
        Picture::read(&from_base64(text.as_str().unwrap()))
    }

    /// What the page wrote to its console.
    pub fn log(&self) -> String {
        self.post("se/log", &json!({"type": "browser"})).to_string()
    }

    /// Fails if the page had an error.
    pub fn no_errors(&self) {
        let log = self.post("se/log", &json!({"type": "browser"}));
        for entry in log.as_array().into_iter().flatten() {
            assert!(entry["level"] != "SEVERE", "{entry}");
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            let path = format!("/session/{}", self.session);
            self.request("DELETE", &path, &Value::Null);
        } else if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            // After a failure: ask the driver to end its browser, whatever it answers.
            let request = format!(
                "DELETE /session/{} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
                self.session
            );
            let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
            let _ = stream.write_all(request.as_bytes());
            let _ = stream.read(&mut [0; 64]);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// A picture of the scene.
#[derive(Clone, PartialEq)]
pub struct Picture {
    width: usize,
    pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Reads a PNG.
    pub fn read(bytes: &[u8]) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut data).unwrap();
        let samples = info.color_type.samples();
        Self {
            width: info.width as usize,
            pixels: data.chunks(samples).map(|p| [p[0], p[1], p[2]]).collect(),
        }
    }

    /// Reads one that a script gave as text.
    pub fn from_base64(text: &str) -> Self {
        Self::read(&from_base64(text))
    }

    /// Its width and height.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.pixels.len() / self.width)
    }

    /// How bright it is on average, 0 to 255.
    pub fn brightness(&self) -> f64 {
        let sum: u64 = self.pixels.iter().flatten().map(|c| u64::from(*c)).sum();
        sum as f64 / (3 * self.pixels.len()) as f64
    }

    /// The colour at a point.
    pub fn at(&self, (x, y): (f64, f64)) -> [u8; 3] {
        self.pixels[y as usize * self.width + x as usize]
    }

    /// How many different colours it has, in steps of eight.
    pub fn colours(&self) -> usize {
        let all = self.pixels.iter().map(|p| p.map(|c| c / 8));
        all.collect::<std::collections::BTreeSet<_>>().len()
    }

    /// Part of the pixels that differ clearly from another picture's.
    pub fn change(&self, other: &Self) -> f64 {
        assert_eq!(self.pixels.len(), other.pixels.len());
        let far = |a: &[u8; 3], b: &[u8; 3]| (0..3).any(|k| a[k].abs_diff(b[k]) > 12);
        let count = self
            .pixels
            .iter()
            .zip(&other.pixels)
            .filter(|(a, b)| far(a, b))
            .count();
        count as f64 / self.pixels.len() as f64
    }

    /// How many pixels near a point are of a colour, about.
    pub fn near(&self, (x, y): (f64, f64), radius: usize, like: [u8; 3]) -> usize {
        let mut count = 0;
        for (i, p) in self.pixels.iter().enumerate() {
            let (px, py) = ((i % self.width) as f64, (i / self.width) as f64);
            if (px - x).abs() <= radius as f64
                && (py - y).abs() <= radius as f64
                && (0..3).all(|k| p[k].abs_diff(like[k]) < 30)
            {
                count += 1;
            }
        }
        count
    }
}

fn brief(state: &Value) -> String {
    let mut text = state.to_string();
    let mut end = text.len().min(900);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

fn from_base64(text: &str) -> Vec<u8> {
    let digit = |b: u8| match b {
        b'A'..=b'Z' => b - b'A',
        b'a'..=b'z' => b - b'a' + 26,
        b'0'..=b'9' => b - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut out = Vec::new();
    for four in text.trim_end_matches('=').as_bytes().chunks(4) {
        let word = four
            .iter()
            .fold(0_u32, |w, b| w << 6 | u32::from(digit(*b)))
            << (6 * (4 - four.len()));
        out.extend(&word.to_be_bytes()[1..four.len()]);
    }
    out
}
