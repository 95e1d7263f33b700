//! One page's socket: orders in, the bytes of a recording out.
//!
//! Reads: messages of the page, the log of its run.  Writes: messages to it.
//! Called by: `view::server`.
//! Source: a slow page gets larger messages later, never a longer queue: at most a window is on its way, what comes after it stays in the log.

use std::sync::Arc;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use tippe::Vec3;
use tippe_scene::{Format, LoadOptions, Scene};

use super::live::{Command, Run, Standing};
use super::message::{Answer, Ask, Fault, Order};
use super::server::{Hub, Start};
use super::{ask, gallery};

/// Largest binary message to a page [bytes].
const BATCH_MAX: usize = 1 << 20;
/// No further message is sent while the page has not taken as many bytes as this: a second of 1000 bodies.
const WINDOW: usize = 1 << 20;

/// A run that is watched, until it is dropped.
struct Watched {
    run: Arc<Run>,
    /// Bytes sent, and bytes that the page says it has taken, from the beginning of the recording.
    offset: usize,
    taken: usize,
    changes: tokio::sync::watch::Receiver<u64>,
    told: Option<Standing>,
    hub: Arc<Hub>,
}

impl Watched {
    fn new(run: Arc<Run>, offset: usize, hub: &Arc<Hub>) -> Self {
        run.watch(true);
        Self {
            changes: run.changes(),
            run,
            offset,
            taken: offset,
            told: None,
            hub: Arc::clone(hub),
        }
    }

    /// Forgets the run as well: the page has begun another.
    fn replace(self) {
        let (id, hub) = (self.run.id, Arc::clone(&self.hub));
        drop(self);
        hub.drop_run(id);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.run.watch(false);
        // Nobody looks: stop where it is, and forget it unless the page comes back.
        if self.run.watchers() == 0 {
            self.run.order(Command::Leave(self.hub.leaving()));
            Hub::forget_later(&self.hub, self.run.id);
        }
    }
}

/// Talks to one page until it goes.
pub async fn attend(mut socket: WebSocket, hub: Arc<Hub>) {
    if !hub.enter() {
        let reason = "too many pages are connected: close one and reload this one";
        let refused = Answer::Refused {
            reason: reason.into(),
        };
        let _ = say(&mut socket, &refused).await;
        let frame = CloseFrame {
            code: close_code::AGAIN,
            reason: "too many clients".into(),
        };
        let _ = socket.send(Message::Close(Some(frame))).await;
        return;
    }
    let _ = talk(&mut socket, &hub).await;
    hub.leave();
}

async fn talk(socket: &mut WebSocket, hub: &Arc<Hub>) -> Result<(), axum::Error> {
    let mut watched: Option<Watched> = None;
    loop {
        let more = async {
            match &mut watched {
                Some(w) => {
                    let _ = w.changes.changed().await;
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => order(&text, socket, hub, &mut watched).await?,
                Some(Ok(Message::Binary(_))) => refuse(socket, "orders are text").await?,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_))) | None => return Ok(()),
                Some(Err(e)) => return Err(e),
            },
            () = more => {}
        }
        if let Some(w) = &mut watched {
            send_news(socket, w).await?;
        }
    }
}

/// Sends what the page has not seen yet, one batch after the other, as far as the window allows.
async fn send_news(socket: &mut WebSocket, w: &mut Watched) -> Result<(), axum::Error> {
    loop {
        w.changes.mark_unchanged();
        if w.offset - w.taken >= WINDOW {
            return Ok(());
        }
        let (bytes, standing) = w.run.read(w.offset, BATCH_MAX);
        let last = bytes.len() < BATCH_MAX;
        if !bytes.is_empty() {
            w.offset += bytes.len();
            socket.send(Message::Binary(bytes.into())).await?;
        }
        if last {
            if w.told.as_ref() != Some(&standing) {
                w.told = Some(standing.clone());
                let Standing {
                    time,
                    stopped,
                    paused,
                    order,
                } = standing;
                let status = Answer::Status {
                    time,
                    stopped,
                    paused,
                    order,
                };
                say(socket, &status).await?;
            }
            return Ok(());
        }
    }
}

async fn say(socket: &mut WebSocket, answer: &Answer) -> Result<(), axum::Error> {
    let text = serde_json::to_string(answer).map_err(axum::Error::new)?;
    socket.send(Message::Text(text.into())).await
}

async fn refuse(socket: &mut WebSocket, reason: &str) -> Result<(), axum::Error> {
    let reason = reason.to_owned();
    say(socket, &Answer::Refused { reason }).await
}

async fn order(
    text: &str,
    socket: &mut WebSocket,
    hub: &Arc<Hub>,
    watched: &mut Option<Watched>,
) -> Result<(), axum::Error> {
    let order: Order = match serde_json::from_str(text) {
        Ok(order) => order,
        Err(e) => return refuse(socket, &format!("not understood: {e}")).await,
    };
    let command = match order {
        Order::Open {
            scene,
            text,
            json,
            ask,
        } => return open(scene, text, json, ask, socket, hub, watched).await,
        Order::Resume { run, offset } => {
            let Some(run) = hub.find(run).filter(|r| offset <= r.length()) else {
                return say(socket, &Answer::Gone).await;
            };
            let opened = Answer::Opened {
                run: run.id,
                offset,
                methods: std::collections::BTreeMap::new(),
                warnings: Vec::new(),
            };
            *watched = Some(Watched::new(run, offset, hub));
            return say(socket, &opened).await;
        }
        Order::Took { run, offset } => {
            // One of a run that is no longer watched is late, and no fault.
            if let Some(w) = watched.as_mut().filter(|w| w.run.id == run) {
                w.taken = w.taken.max(offset.min(w.offset));
            }
            return Ok(());
        }
        Order::Until { time } if time.is_finite() => Command::Until(time),
        Order::Pause { at, order } if at.is_none_or(f64::is_finite) => Command::Pause(at, order),
        Order::Until { .. } | Order::Pause { .. } => {
            return refuse(socket, "time must be finite").await;
        }
        Order::Step { count, order } => Command::Steps(count, order),
        Order::Drag {
            body,
            at,
            to,
            strength,
        } => Command::Drag(Some((
            body,
            Vec3::from_array(at),
            Vec3::from_array(to),
            strength,
        ))),
        Order::Release => Command::Drag(None),
        Order::Contacts { on } => Command::Contacts(on),
    };
    match watched {
        Some(w) => w.run.order(command),
        None => return refuse(socket, "open a scene first").await,
    }
    Ok(())
}

async fn open(
    scene: Option<String>,
    text: Option<String>,
    json: bool,
    asked: Ask,
    socket: &mut WebSocket,
    hub: &Arc<Hub>,
    watched: &mut Option<Watched>,
) -> Result<(), axum::Error> {
    let place = Arc::clone(hub);
    // A large scene takes a while to load; other pages go on meanwhile.
    let loaded = tokio::task::spawn_blocking(move || load(scene, text, json, &asked, &place)).await;
    let scene = match loaded {
        Ok(Ok(scene)) => *scene,
        Ok(Err(answer)) => return say(socket, &answer).await,
        Err(e) => return refuse(socket, &format!("the scene could not be loaded: {e}")).await,
    };
    let methods = ask::methods(&scene);
    let warnings = scene.warnings.iter().map(Fault::from).collect();
    if let Some(old) = watched.take() {
        old.replace();
    }
    hub.wait_for_leaving().await;
    let Some(run) = hub.keep(|id, held| Run::start(id, scene, held)) else {
        return refuse(socket, "too many runs are open: close a page").await;
    };
    let opened = Answer::Opened {
        run: run.id,
        offset: 0,
        methods,
        warnings,
    };
    *watched = Some(Watched::new(run, 0, hub));
    say(socket, &opened).await
}

fn load(
    scene: Option<String>,
    text: Option<String>,
    json: bool,
    asked: &Ask,
    hub: &Hub,
) -> Result<Box<Scene>, Answer> {
    let refused = |reason: &str| Answer::Refused {
        reason: reason.to_owned(),
    };
    let nowhere = LoadOptions::default();
    // Texts of the page may include what the scene of the command line may, and nothing else.
    let (file, given, format, options) = match (&scene, &hub.start) {
        (Some(name), _) => {
            let text = gallery::text(name).ok_or_else(|| refused("no such scene"))?;
            (name.as_str(), text, Format::Toml, &nowhere)
        }
        (
            None,
            Start::Scene {
                file,
                text,
                format,
                options,
            },
        ) => (file.as_str(), text.as_str(), *format, options),
        (None, _) => ("scene", "", Format::Toml, &nowhere),
    };
    let (given, format) = match &text {
        Some(text) if json => (text.as_str(), Format::Json),
        Some(text) => (text.as_str(), Format::Toml),
        None => (given, format),
    };
    Ok(Box::new(ask::load(given, file, format, options, asked)?))
}
