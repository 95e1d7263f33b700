//! Who may ask: only this machine's own page. Host, origin, token and the number of connections are checked before anything else.
//!
//! Reads: request heads.  Writes: nothing.
//! Called by: `view::server`.
//! Source: a foreign Host is a name bound to 127.0.0.1 by somebody else (DNS rebinding); a foreign Origin is another site's page.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use axum::http::{HeaderMap, StatusCode, header};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Connections at one time.
const CONNECTIONS_MAX: usize = 64;
/// How long a connection may last that has not shown the token.
const STRANGER_TIME: Duration = Duration::from_secs(10);

/// Whether a request may go on; the error is the answer to give.
pub fn check(
    headers: &HeaderMap,
    path: &str,
    token: &str,
    port: u16,
    socket: bool,
) -> Result<(), (StatusCode, &'static str)> {
    let own =
        |host: &str| host == format!("127.0.0.1:{port}") || host == format!("localhost:{port}");
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().and_then(|h| h.to_str().ok());
    if !host.is_some_and(own) || hosts.next().is_some() {
        return Err((
            StatusCode::FORBIDDEN,
            "this server answers to its own address only\n",
        ));
    }
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let foreign = |o: &axum::http::HeaderValue| {
        !o.to_str()
            .ok()
            .and_then(|o| o.strip_prefix("http://"))
            .is_some_and(own)
    };
    match origins.next() {
        Some(origin) if foreign(origin) || origins.next().is_some() => {
            return Err((
                StatusCode::FORBIDDEN,
                "this server answers its own page only\n",
            ));
        }
        // Browsers name the origin of every socket.
        None if socket => return Err((StatusCode::FORBIDDEN, "a socket must name its origin\n")),
        _ => {}
    }
    let given = path.split('/').nth(1).unwrap_or_default();
    if !same(given.as_bytes(), token.as_bytes()) {
        return Err((StatusCode::NOT_FOUND, "nothing here\n"));
    }
    Ok(())
}

/// Whether two strings are equal, in a time that does not tell where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |d, (x, y)| d | (x ^ y)) == 0
}

/// A listener that keeps only so many connections. Where they are too many, the one goes that has waited longest without an answer
/// that only the page can get: other processes cannot crowd it out by requests that they do not end.
pub struct Door {
    listener: TcpListener,
    guests: VecDeque<Weak<Pass>>,
}

impl Door {
    /// A door over a listener.
    pub fn new(listener: TcpListener) -> Self {
        Self {
            listener,
            guests: VecDeque::new(),
        }
    }

    /// Makes room for one more; `false` if all that are there belong to the page.
    fn make_room(&mut self) -> bool {
        self.guests.retain(|g| g.strong_count() > 0);
        if self.guests.len() < CONNECTIONS_MAX {
            return true;
        }
        let known = |g: &Weak<Pass>| g.upgrade().is_none_or(|p| p.is_known());
        let Some(stranger) = self.guests.iter().position(|g| !known(g)) else {
            return false;
        };
        if let Some(pass) = self.guests.remove(stranger).and_then(|g| g.upgrade()) {
            pass.turn_out();
        }
        true
    }
}

impl axum::serve::Listener for Door {
    type Io = Guest;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guest, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, address)) if self.make_room() => {
                    // Small messages go out at once.
                    let _ = stream.set_nodelay(true);
                    let pass = Arc::new(Pass::default());
                    self.guests.push_back(Arc::downgrade(&pass));
                    let patience = Box::pin(tokio::time::sleep(STRANGER_TIME));
                    return (
                        Guest {
                            stream,
                            pass,
                            patience,
                        },
                        address,
                    );
                }
                Ok(_) => {}
                // No file handles left, or a connection gone at once: others may still come.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// What the door knows of a connection.
#[derive(Debug, Default)]
struct Pass {
    /// It got an answer that needs the token.
    known: AtomicBool,
    /// It has to go.
    out: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Pass {
    fn is_known(&self) -> bool {
        self.known.load(Ordering::Relaxed)
    }

    fn turn_out(&self) {
        self.out.store(true, Ordering::Relaxed);
        let waker = self.waker.lock().unwrap_or_else(|e| e.into_inner()).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// A connection.
pub struct Guest {
    stream: TcpStream,
    pass: Arc<Pass>,
    /// How long a stranger may stay.
    patience: Pin<Box<tokio::time::Sleep>>,
}

impl AsyncRead for Guest {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.pass.is_known() {
            *self.pass.waker.lock().unwrap_or_else(|e| e.into_inner()) = Some(cx.waker().clone());
            let out = self.pass.out.load(Ordering::Relaxed);
            if out || self.patience.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Guest {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        // Without the token there is no answer but a refusal.
        if buf.starts_with(b"HTTP/1.1 200") || buf.starts_with(b"HTTP/1.1 101") {
            self.pass.known.store(true, Ordering::Relaxed);
        }
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(header::HeaderName, &str)]) -> HeaderMap {
        list.iter()
            .map(|(n, v)| (n.clone(), v.parse().unwrap()))
            .collect()
    }

    #[test]
    fn only_the_own_page_may_ask() {
        let ask = |list: &[(header::HeaderName, &str)], path: &str, socket: bool| {
            check(&headers(list), path, "0123456789abcdef", 80, socket).map_err(|e| e.0.as_u16())
        };
        let host = (header::HOST, "127.0.0.1:80");
        let path = "/0123456789abcdef/x";
        assert_eq!(ask(std::slice::from_ref(&host), path, false), Ok(()));
        assert_eq!(ask(&[(header::HOST, "localhost:80")], path, false), Ok(()));
        let own = (header::ORIGIN, "http://127.0.0.1:80");
        assert_eq!(ask(&[host.clone(), own], path, true), Ok(()));
        // No host, a foreign one, another port; a foreign origin, an opaque one, none for a socket; a wrong token.
        assert_eq!(ask(&[], path, false), Err(403));
        assert_eq!(
            ask(&[(header::HOST, "evil.example:80")], path, false),
            Err(403)
        );
        assert_eq!(
            ask(&[(header::HOST, "127.0.0.1:81")], path, false),
            Err(403)
        );
        for origin in [
            "http://evil.example",
            "null",
            "https://127.0.0.1:80",
            "http://127.0.0.1:81",
        ] {
            assert_eq!(
                ask(&[host.clone(), (header::ORIGIN, origin)], path, false),
                Err(403)
            );
        }
        assert_eq!(ask(std::slice::from_ref(&host), path, true), Err(403));
        for path in [
            "/",
            "/0123456789abcdee/x",
            "//0123456789abcdef",
            "/0123456789abcdef0/",
        ] {
            assert_eq!(
                ask(std::slice::from_ref(&host), path, false),
                Err(404),
                "{path}"
            );
        }
    }
}
