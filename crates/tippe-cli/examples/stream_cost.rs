//! What it costs to stream a run to the page: processor time of everything but the simulation.
//!
//! Reads: nothing.  Writes: a table on standard output.
//! Called by: `cargo run --release -p tippe-cli --example stream_cost`.
//! Source: docs/page.md, "Speed". As in `tippe view`: a frame is packed into memory, copied out and sent over a loopback socket, 60 times a simulated second.

use std::cell::RefCell;
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;

use cpu_time::ThreadTime;
use tippe_scene::recording::{Holds, RecordingWriter};
use tippe_scene::{Format, LoadOptions, load_str};

/// Messages a second.
const RATE: f64 = 60.0;
/// Messages of a measurement; the first ones hold the scene and fill caches.
const FRAMES: u32 = 130;
const FRAMES_FIRST: u32 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "| bodies | contacts sent | bytes a message | processor time a message [ms] | of one core at 60 messages a second |"
    );
    println!("|---|---|---|---|---|");
    for bodies in [1000, 10_000] {
        for contacts in [true, false] {
            let row = measure(bodies, contacts)?;
            println!(
                "| {bodies} | {} | {} | {:.3} | {:.1} % |",
                row.contacts,
                row.bytes,
                1e3 * row.seconds,
                100.0 * RATE * row.seconds
            );
        }
    }
    Ok(())
}

struct Row {
    contacts: usize,
    bytes: usize,
    seconds: f64,
}

/// Boxes that rest on the floor in stacks of two, with four contacts and more each.
fn stacks(bodies: u32) -> String {
    let side = (f64::from(bodies) / 2.0).sqrt().ceil() as u32;
    format!(
        r#"
version = 1
[method]
dt = "1/60"
[record]
rate = {RATE}
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = {{ normal = [0, 0, 1] }}
[[grid]]
counts = [{side}, {side}, 2]
pitch = [0.5, 0.5, 0.2]
origin = [0, 0, 0.1]
count = {bodies}
body = {{ name = "box", mass = 1, shape.box = {{ size = [0.2, 0.2, 0.2] }} }}
"#
    )
}

/// The memory that frames are written to and taken from.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn measure(bodies: u32, contacts: bool) -> Result<Row, Box<dyn Error>> {
    let text = stacks(bodies);
    let mut scene = load_str(&text, "stacks", Format::Toml, &LoadOptions::default())
        .map_err(|e| format!("{e:?}"))?;
    let holds = Holds {
        contacts,
        snapshots: false,
        certificates: true,
    };
    // Another thread reads, as the browser would.
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut stream = TcpStream::connect(listener.local_addr()?)?;
    let (mut other, _) = listener.accept()?;
    let reader = std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(1..) = other.read(&mut buffer) {}
    });
    let log = Log::default();
    let mut writer = RecordingWriter::holding(log.clone(), &scene, holds)?;
    let (mut seconds, mut bytes) = (0.0, 0);
    for frame in 0..FRAMES {
        let report = scene.world.step(scene.dt)?;
        let start = ThreadTime::try_now()?;
        writer.step(&scene.world, &report)?;
        let message = log.0.borrow().clone();
        stream.write_all(&message)?;
        let cost = start.try_elapsed()?.as_secs_f64();
        log.0.borrow_mut().clear();
        if frame >= FRAMES_FIRST {
            seconds += cost;
            bytes += message.len();
        }
    }
    drop(stream);
    let _ = reader.join();
    let sent = if contacts {
        scene.world.contacts().len()
    } else {
        0
    };
    let count = FRAMES - FRAMES_FIRST;
    Ok(Row {
        contacts: sent,
        bytes: bytes / count as usize,
        seconds: seconds / f64::from(count),
    })
}
