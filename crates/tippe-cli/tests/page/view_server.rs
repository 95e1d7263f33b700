//! The server of the page against unfriendly clients: it refuses or limits them, stays alive, and the run goes on unharmed.
//!
//! Reads: the built binary.  Writes: nothing.
//! Called by: `cargo test`.
//! Source: docs/page.md, "Access".

use crate::common;

use common::page::flight;
use common::serve::{Server, get};
use common::{PATIENCE, wait_until};
use std::io::{Read, Write};
use std::net::TcpStream;
use tungstenite::Message;

#[test]
fn only_its_own_files_are_served_and_only_to_its_own_page() {
    let server = Server::start(&[]);
    let token = server.token.as_str();
    let own = format!("/{token}/");
    let (status, head, body) = get(server.port, &own, &[]);
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("id=\"tippe\""));
    let head = head.to_lowercase();
    for header in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
    ] {
        assert!(head.contains(header), "{header} is missing: {head}");
    }
    assert_eq!(get(server.port, &format!("{own}gallery.json"), &[]).0, 200);
    // A wrong token, none, and ways out of the folder.
    let wrong = "0".repeat(token.len());
    for path in [
        "/".to_owned(),
        format!("/{wrong}/"),
        format!("/{wrong}/gallery.json"),
        format!("/{}/", &token[..token.len() - 1]),
        format!("{own}../../etc/passwd"),
        format!("{own}..%2f..%2fetc%2fpasswd"),
        format!("{own}picture/../../../../etc/passwd"),
        format!("{own}/etc/passwd"),
        format!("{own}Cargo.toml"),
        format!("{own}scenes/funnel.toml"),
        format!("{own}recording"),
        format!("{own}main.js%00"),
    ] {
        let (status, _, body) = get(server.port, &path, &[]);
        assert_eq!(status, 404, "{path}: {body}");
    }
    // Foreign hosts and origins.
    for (name, value) in [
        ("Host", "evil.example"),
        ("Host", "127.0.0.1"),
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
        ("Origin", "https://localhost"),
    ] {
        assert_eq!(
            get(server.port, &own, &[(name, value)]).0,
            403,
            "{name}: {value}"
        );
    }
    assert_eq!(get(server.port, &own, &[]).0, 200);
}

#[test]
fn sockets_need_token_and_origin() {
    let server = Server::start(&[]);
    assert!(server.connect().is_ok());
    for (host, origin, token) in [
        (None, None, None),
        (None, Some("http://evil.example"), None),
        (Some("evil.example"), Some("own"), None),
        (None, Some("own"), Some("0123456789abcdef0123456789abcdef")),
    ] {
        assert!(
            server.connect_as(host, origin, token).is_err(),
            "{host:?} {origin:?} {token:?}"
        );
    }
}

#[test]
fn nonsense_is_answered_and_the_run_goes_on() {
    let server = Server::start(&[]);
    let mut line = server.connect().unwrap();
    line.say(r#"{"do":"open","scene":"domino.toml"}"#);
    assert_eq!(line.wait("opened")["run"], 0);
    line.say(r#"{"do":"until","time":0.1}"#);
    for nonsense in [
        "",
        "{",
        "null",
        "\u{0}\u{1}",
        r#"{"do":"format the disk"}"#,
        r#"{"do":"until","time":1e999}"#,
        r#"{"do":"open","scene":"../../etc/passwd"}"#,
        r#"{"do":"open","scene":"funnel.toml","ask":{"bad":1}}"#,
        r#"{"do":"step","count":1e99}"#,
    ] {
        line.say(nonsense);
        let answer = line.wait("refused");
        assert!(!answer["reason"].as_str().unwrap().is_empty(), "{nonsense}");
    }
    line.socket.send(Message::binary(vec![0; 100])).unwrap();
    line.wait("refused");
    // A hand on a body that does not exist, with numbers that are none.
    line.say(r#"{"do":"drag","body":99999,"at":[0,0,0],"to":[0,0,0],"strength":1}"#);
    line.say(r#"{"do":"drag","body":1,"at":[0,0,0],"to":[1e308,1e308,0],"strength":1e308}"#);
    line.say(r#"{"do":"release"}"#);
    line.say(r#"{"do":"until","time":0.3}"#);
    line.until(0.3);
    // A text that is no scene is refused with places, and the old run stays.
    line.say(r#"{"do":"open","text":"version = 1\n[[body]]\nname = 3\n"}"#);
    let faults = line.wait("faults");
    let name = &faults["faults"][1];
    assert_eq!(
        (&name["line"], &name["column"]),
        (&3.into(), &8.into()),
        "{faults}"
    );
    line.say(r#"{"do":"until","time":0.35}"#);
    line.until(0.35);
}

#[test]
fn oversized_messages_end_their_sender_only() {
    let server = Server::start(&[]);
    let mut good = server.connect().unwrap();
    good.say(r#"{"do":"open","scene":"domino.toml"}"#);
    good.wait("opened");
    let mut bad = server.connect().unwrap();
    // 2 MB of text; the server may hang up before all of it is sent.
    let _ = bad.socket.send(Message::text("x".repeat(2 << 20)));
    assert!(bad.is_closed());
    // Bytes that are no HTTP, an endless header, a body where none belongs.
    for bytes in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        [b"GET / HTTP/1.1\r\nX: ".to_vec(), vec![b'a'; 1 << 20]].concat(),
        b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n".to_vec(),
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    good.say(r#"{"do":"until","time":0.1}"#);
    good.until(0.1);
}

#[test]
fn too_many_pages_are_told_so() {
    let server = Server::start(&[]);
    // Each has its place before the next one comes.
    let enter = || {
        let mut line = server.connect().unwrap();
        line.say(r#"{"do":"release"}"#);
        let reason = line.wait("refused")["reason"].to_string();
        (line, reason)
    };
    let mut lines: Vec<_> = (0..8)
        .map(|_| {
            let (line, reason) = enter();
            assert!(reason.contains("open a scene first"), "{reason}");
            line
        })
        .collect();
    let mut one_more = server.connect().unwrap();
    let reason = one_more.wait("refused")["reason"].to_string();
    assert!(reason.contains("too many"), "{reason}");
    assert!(one_more.is_closed());
    lines[0].say(r#"{"do":"open","scene":"bounce.toml"}"#);
    lines[0].wait("opened");
    lines.pop();
    // The place of the one that left is free again.
    wait_until("a free place", || enter().1.contains("open a scene first"));
}

#[test]
fn a_lost_line_goes_on_where_it_was() {
    let server = Server::start(&[]);
    let mut line = server.connect().unwrap();
    line.say(r#"{"do":"open","scene":"domino.toml"}"#);
    let run = line.wait("opened")["run"].clone();
    line.say(r#"{"do":"until","time":0.1}"#);
    line.until(0.1);
    let have = line.bytes.clone();
    drop(line);
    let mut again = server.connect().unwrap();
    again.say(&format!(
        r#"{{"do":"resume","run":{run},"offset":{}}}"#,
        have.len()
    ));
    assert_eq!(again.wait("opened")["offset"], have.len());
    again.say(r#"{"do":"until","time":0.2}"#);
    again.until(0.2);
    // Both parts together are one recording, and it is that of an undisturbed run.
    let whole = [have, again.bytes.clone()].concat();
    let mut plain = server.connect().unwrap();
    plain.say(r#"{"do":"open","scene":"domino.toml"}"#);
    plain.wait("opened");
    plain.say(r#"{"do":"until","time":0.2}"#);
    plain.until(0.2);
    let [a, b] = [&whole, &plain.bytes].map(|b| tippe_scene::Recording::read(b).unwrap());
    assert_eq!(a.frames, b.frames);
    assert_eq!(a.contacts, b.contacts);
    assert!(a.frames.len() >= 12 && !a.contacts.is_empty());
    again.say(r#"{"do":"resume","run":12345,"offset":0}"#);
    again.wait("gone");
}

#[test]
fn mc_32_the_same_question_gives_the_same_log_and_another_a_different_one() {
    let server = Server::start(&[]);
    let run = |ask: &str| {
        let mut line = server.connect().unwrap();
        line.say(&format!(
            r#"{{"do":"open","scene":"bounce.toml","ask":{ask}}}"#
        ));
        line.wait("opened");
        line.say(r#"{"do":"until","time":1.0}"#);
        line.until(1.0);
        let r = tippe_scene::Recording::read(&line.bytes).unwrap();
        // How much more is on its way when the line is cut is not the log's business.
        let frames: Vec<_> = r.frames.into_iter().take_while(|f| f.time <= 1.0).collect();
        let reports: Vec<_> = r
            .reports
            .into_iter()
            .take_while(|f| f.time <= 1.0)
            .collect();
        assert!(!frames.is_empty() && !reports.is_empty());
        (frames, reports)
    };
    let plain = run("{}");
    assert!(plain == run("{}"));
    for ask in [
        r#"{"restitution":0.2}"#,
        r#"{"gravity":[0,0,-1.6]}"#,
        r#"{"dt":0.004}"#,
    ] {
        assert!(plain != run(ask), "{ask}");
    }
}

/// A pause rests on a frame; a single step from there is one step of the engine, and many are as many.
#[test]
fn single_steps_are_exact() {
    let server = Server::start(&[]);
    let mut line = server.connect().unwrap();
    // Steps of 1 ms: sixteen or seventeen to a frame.
    line.say(r#"{"do":"open","scene":"bounce.toml","ask":{"dt":0.001}}"#);
    line.wait("opened");
    line.say(r#"{"do":"until","time":0.0555}"#);
    line.until(0.0555);
    let mut rest = |order: &str| {
        line.say(order);
        while line.wait("status")["paused"] != true {}
        let r = tippe_scene::Recording::read(&line.bytes).unwrap();
        let frames: Vec<u64> = r.frames.iter().map(|f| f.step).collect();
        assert_eq!(*frames.last().unwrap(), r.reports.len() as u64);
        frames
    };
    let frames = rest(r#"{"do":"pause"}"#);
    assert_eq!(frames.last(), Some(&56));
    let frames = rest(r#"{"do":"step","count":1}"#);
    assert_eq!(frames[frames.len() - 2..], [56, 57]);
    let frames = rest(r#"{"do":"step","count":3}"#);
    assert_eq!(frames[frames.len() - 4..], [57, 58, 59, 60]);
    // Rest at a time to come: the first step that reaches it; at one that has passed: here.
    let frames = rest(r#"{"do":"pause","at":0.0895,"order":1}"#);
    assert_eq!(frames.last(), Some(&90));
    let frames = rest(r#"{"do":"pause","at":0.01,"order":2}"#);
    assert_eq!(frames.last(), Some(&90));
}

/// A page that does not say that it has read what came gets no more than a window of it; the rest waits in the log, not in a queue.
#[test]
fn a_page_that_does_not_read_is_sent_a_window_and_no_more() {
    const WINDOW: usize = 1 << 20;
    let server = Server::start(&[]);
    let mut slow = server.connect().unwrap();
    let text = serde_json::json!({"do": "open", "text": flight(1000, 600.0)});
    slow.say(&text.to_string());
    let run = slow.wait("opened")["run"].clone();
    let taken = slow.run.take();
    slow.say(r#"{"do":"until","time":3}"#);
    // Another one reads everything.
    let mut quick = server.connect().unwrap();
    quick.say(&format!(r#"{{"do":"resume","run":{run},"offset":0}}"#));
    quick.until(3.0);
    assert!(quick.bytes.len() > 2 * WINDOW, "{}", quick.bytes.len());
    // It is sent a window. All that was sent before the answer comes before it.
    slow.fill(WINDOW);
    slow.say("?");
    slow.wait("refused");
    let got = slow.bytes.len();
    assert!((WINDOW..2 * WINDOW).contains(&got), "{got}");
    // What it has of a run that it does not watch does not count.
    slow.say(&format!(
        r#"{{"do":"took","run":12345,"offset":{}}}"#,
        3 * WINDOW
    ));
    slow.say("?");
    slow.wait("refused");
    assert_eq!(slow.bytes.len(), got);
    // Once it reads, it gets the rest, and both have the same.
    slow.run = taken;
    slow.take();
    slow.until(3.0);
    assert_eq!(slow.bytes.len(), quick.bytes.len());
    assert!(slow.bytes == quick.bytes);
}

/// Requests that another process begins and never ends do not keep the page out, however many they are.
#[test]
fn half_sent_requests_do_not_block_the_page() {
    let server = Server::start(&[]);
    let mut line = server.connect().unwrap();
    line.say(r#"{"do":"open","scene":"domino.toml"}"#);
    line.wait("opened");
    let own = format!("/{}/", server.token);
    let mut held = Vec::new();
    for k in 0..200 {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
        held.push(stream);
        if k % 40 == 39 {
            let start = std::time::Instant::now();
            assert_eq!(get(server.port, &own, &[]).0, 200, "after {k}");
            assert!(start.elapsed().as_secs() < 8, "{:?}", start.elapsed());
        }
    }
    // The page that was there before is served all along.
    line.say(r#"{"do":"until","time":0.2}"#);
    line.until(0.2);
    drop(held);
}

/// A block of bodies put into each other: its first step takes long and much memory.
#[cfg(target_os = "linux")]
const CROWD: &str = "version = 1\n[method]\ndt = 0.02\nseconds = 100\n[[grid]]\ncounts = [16, 16, 16]\npitch = [0.15, 0.15, 0.15]\n\
    origin = [0, 0, 0]\n[grid.body]\nname = \"box\"\nshape.box = { size = [0.2, 0.2, 0.2] }\n";

/// How many threads of a run there are.
#[cfg(target_os = "linux")]
fn runs_of(server: &Server) -> usize {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", server.id()));
    let name = |t: std::fs::DirEntry| std::fs::read_to_string(t.path().join("comm")).ok();
    tasks
        .expect("the server lives")
        .filter_map(|t| name(t.ok()?))
        .filter(|name| name.starts_with("run "))
        .count()
}

/// Pages that are closed end their runs, however long a step takes, and give the memory back.
#[cfg(target_os = "linux")]
#[test]
fn closed_pages_leave_no_threads() {
    let server = Server::start(&[]);
    let runs = || runs_of(&server);
    for _ in 0..4 {
        let mut line = server.connect().unwrap();
        line.say(&serde_json::json!({"do": "open", "text": CROWD}).to_string());
        line.wait("opened");
        line.say(r#"{"do":"until","time":100}"#);
    }
    assert!(runs() > 0);
    wait_until("no thread of a run", || runs() == 0);
}

/// A run that is kept for a page that may come back does not keep the memory that its step worked in.
#[cfg(target_os = "linux")]
#[test]
fn closed_pages_give_working_memory_back_at_once() {
    let server = Server::start(&[]);
    let memory = || -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
        let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
        let number = line.unwrap().trim().trim_end_matches(" kB");
        number.parse::<u64>().unwrap() >> 10
    };
    let empty = memory();
    let mut line = server.connect().unwrap();
    line.say(&serde_json::json!({"do": "open", "text": CROWD}).to_string());
    let run = line.wait("opened")["run"].clone();
    line.say(r#"{"do":"until","time":100}"#);
    wait_until("a step with much memory", || memory() > empty + 120);
    drop(line);
    // Not by forgetting the run: that comes later.
    wait_until("memory given back", || {
        assert!(runs_of(&server) > 0, "forgotten first");
        memory() < empty + 60
    });
    let mut again = server.connect().unwrap();
    again.say(&format!(r#"{{"do":"resume","run":{run},"offset":0}}"#));
    assert_eq!(again.wait("opened")["run"], run);
}

/// What stands outside the folder of the scene is not told, not even whether there is something.
#[test]
fn existence_of_files_outside_the_folder_is_not_told() {
    let dir = common::folder("outside");
    let server = Server::start(&[&common::scene(&dir, common::DROP)]);
    let mut line = server.connect().unwrap();
    let mut reason = |path: &str| {
        let text = format!("version = 1\ninclude = [{path:?}]\n");
        line.say(&serde_json::json!({"do": "open", "text": text}).to_string());
        let start = std::time::Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE);
            let Ok(Message::Text(answer)) = line.socket.read() else {
                continue;
            };
            let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
            if answer["say"] == "faults" {
                let reason = answer["faults"][0]["reason"].as_str().unwrap().to_owned();
                return reason.replace(path, "it");
            }
        }
    };
    for (there, not) in [
        ("/etc/passwd", "/etc/no-such-file"),
        ("../../Cargo.toml", "../../no-such-file"),
        ("/", "/no-such-folder/x"),
    ] {
        assert_eq!(reason(there), reason(not), "{there}");
    }
    assert!(reason("beside.toml").contains("does not exist"));
}
