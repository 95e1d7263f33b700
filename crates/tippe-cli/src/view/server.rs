//! The server of the page: its own files, the gallery, a recording, and the socket of a live run. Nothing else.
//!
//! Reads: requests.  Writes: answers.
//! Called by: `view`.
//! Source: none; the page may load nothing from elsewhere (content security policy).

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State, WebSocketUpgrade};
use axum::http::{Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::json;
use tippe_scene::{Format, LoadOptions};
use tokio::net::TcpListener;

use super::guard::{self, Door};
use super::live::Run;
use super::{files, gallery, socket};

/// Pages, or sides of a page, that may be connected at one time.
const CLIENTS_MAX: usize = 8;
/// Runs kept at one time; the oldest that nobody watches makes room.
const RUNS_MAX: usize = 8;
/// How long a run is kept for a page that has gone.
const RETURN_TIME: Duration = Duration::from_secs(10);
/// How often a new run looks whether runs that were left have given their memory back, and how many times at most: 2 s.
const LEAVING_LOOK: Duration = Duration::from_millis(10);
const LEAVING_LOOKS_MAX: usize = 200;
/// Largest message of a client [bytes]: a long scene text.
const MESSAGE_MAX: usize = 1 << 20;

/// What the page shows first.
pub enum Start {
    /// All scenes of the repository.
    Gallery,
    /// A scene, live.
    Scene {
        /// Name of the file, for messages.
        file: String,
        /// What it says.
        text: String,
        /// How it is written.
        format: Format,
        /// Where it may include from.
        options: LoadOptions,
    },
    /// A recording.
    Recording(Bytes),
}

/// Everything the server knows.
pub struct Hub {
    token: String,
    port: u16,
    /// What the page shows first.
    pub start: Start,
    runs: Mutex<Runs>,
    /// Bytes of the logs of all runs.
    held: Arc<AtomicUsize>,
    /// Held by every run that was left and is still ending its step.
    leaving: Arc<()>,
}

#[derive(Default)]
struct Runs {
    next: u64,
    clients: usize,
    runs: BTreeMap<u64, Arc<Run>>,
}

impl Hub {
    /// A server's state.
    pub fn new(token: String, port: u16, start: Start) -> Arc<Self> {
        Arc::new(Self {
            token,
            port,
            start,
            runs: Mutex::default(),
            held: Arc::default(),
            leaving: Arc::default(),
        })
    }

    /// What a run that is left holds until it has given its memory back.
    pub fn leaving(&self) -> Arc<()> {
        Arc::clone(&self.leaving)
    }

    /// Waits until runs that were left have ended their steps: pages opened and closed one after the other need the memory
    /// of one step, not of as many as there were pages. After two seconds it does not wait any more.
    pub async fn wait_for_leaving(&self) {
        for _ in 0..LEAVING_LOOKS_MAX {
            if Arc::strong_count(&self.leaving) == 1 {
                return;
            }
            tokio::time::sleep(LEAVING_LOOK).await;
        }
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        // A thread that panicked inside can only have left whole entries.
        self.runs.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Takes a place for a client; `false` if there is none.
    pub fn enter(&self) -> bool {
        let mut runs = self.runs();
        let free = runs.clients < CLIENTS_MAX;
        runs.clients += usize::from(free);
        free
    }

    /// Gives the place back.
    pub fn leave(&self) {
        self.runs().clients -= 1;
    }

    /// A run by its number.
    pub fn find(&self, id: u64) -> Option<Arc<Run>> {
        self.runs().runs.get(&id).cloned()
    }

    /// Keeps a new run; the oldest ones that nobody watches make room.
    pub fn keep(&self, start: impl FnOnce(u64, &Arc<AtomicUsize>) -> Arc<Run>) -> Option<Arc<Run>> {
        let mut runs = self.runs();
        while runs.runs.len() >= RUNS_MAX {
            let idle = runs.runs.values().find(|r| r.watchers() == 0)?.id;
            runs.runs.remove(&idle);
        }
        let id = runs.next;
        runs.next += 1;
        let run = start(id, &self.held);
        runs.runs.insert(id, Arc::clone(&run));
        Some(run)
    }

    /// Forgets a run that nobody watches, unless a page comes back to it soon: a line may be lost for a moment.
    pub fn forget_later(hub: &Arc<Self>, id: u64) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let hub = Arc::downgrade(hub);
        runtime.spawn(async move {
            tokio::time::sleep(RETURN_TIME).await;
            if let Some(hub) = hub.upgrade() {
                hub.drop_run(id);
            }
        });
    }

    /// Forgets a run that its only watcher has replaced.
    pub fn drop_run(&self, id: u64) {
        let mut runs = self.runs();
        if runs.runs.get(&id).is_some_and(|r| r.watchers() == 0) {
            runs.runs.remove(&id);
        }
    }
}

/// Serves until the process ends.
pub async fn serve(listener: TcpListener, hub: Arc<Hub>) -> Result<()> {
    let app = Router::new()
        .route("/{token}/socket", get(upgrade))
        .fallback(answer)
        .layer(middleware::from_fn_with_state(Arc::clone(&hub), watch))
        .with_state(hub);
    axum::serve(Door::new(listener), app)
        .await
        .context("the server stopped")
}

/// Checks every request, and gives every answer the headers that keep browsers strict.
async fn watch(State(hub): State<Arc<Hub>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let socket = path.ends_with("/socket");
    let checked = guard::check(request.headers(), path, &hub.token, hub.port, socket);
    let mut response = match checked {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, files::POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, header::HeaderValue::from_static(value));
    }
    response
}

async fn upgrade(State(hub): State<Arc<Hub>>, upgrade: WebSocketUpgrade) -> Response {
    upgrade
        .max_message_size(MESSAGE_MAX)
        .max_frame_size(MESSAGE_MAX)
        .on_upgrade(move |socket| socket::attend(socket, hub))
}

async fn answer(State(hub): State<Arc<Hub>>, request: Request) -> Response {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return (StatusCode::METHOD_NOT_ALLOWED, "only GET\n").into_response();
    }
    let path = request.uri().path();
    let name = path.splitn(3, '/').nth(2).unwrap_or("");
    if let Some((kind, bytes)) = files::file(name) {
        return ([(header::CONTENT_TYPE, kind)], bytes).into_response();
    }
    let json = |value: serde_json::Value| {
        (
            [(header::CONTENT_TYPE, "application/json")],
            value.to_string(),
        )
            .into_response()
    };
    match (name, &hub.start) {
        ("start.json", Start::Gallery) => json(json!({"show": "gallery"})),
        ("start.json", Start::Scene { file, .. }) => json(json!({"show": "scene", "file": file})),
        ("start.json", Start::Recording(_)) => json(json!({"show": "recording"})),
        ("gallery.json", _) => json(gallery::list()),
        ("recording", Start::Recording(bytes)) => (
            [(header::CONTENT_TYPE, "application/octet-stream")],
            bytes.clone(),
        )
            .into_response(),
        _ => match picture(name).await {
            Some(png) => ([(header::CONTENT_TYPE, "image/png")], png).into_response(),
            None => (StatusCode::NOT_FOUND, "nothing here\n").into_response(),
        },
    }
}

/// A picture of the gallery, drawn on a thread of its own: sockets go on meanwhile.
async fn picture(name: &str) -> Option<Vec<u8>> {
    let name = name.strip_prefix("picture/")?.to_owned();
    let drawn = tokio::task::spawn_blocking(move || gallery::picture(&name)).await;
    drawn.ok().flatten()
}
