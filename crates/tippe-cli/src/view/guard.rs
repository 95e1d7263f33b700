//! Who may ask: only this machine's own page. Host, origin, token and the number of connections are checked before anything else.
//!
//! Reads: request heads.  Writes: nothing.
//! Called by: `view::server`.
//! Source: a foreign Host is a name bound to 127.0.0.1 by somebody else (DNS rebinding); a foreign Origin is another site's page.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::http::{HeaderMap, StatusCode, header};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections at one time; more wait until one closes.
const CONNECTIONS_MAX: usize = 64;

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

/// A listener that keeps only so many connections.
pub struct Door {
    listener: TcpListener,
    places: Arc<Semaphore>,
}

impl Door {
    /// A door over a listener.
    pub fn new(listener: TcpListener) -> Self {
        Self {
            listener,
            places: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
        }
    }
}

impl axum::serve::Listener for Door {
    type Io = Guest;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guest, SocketAddr) {
        loop {
            let place = Arc::clone(&self.places).acquire_owned().await;
            match (place, self.listener.accept().await) {
                (Ok(place), Ok((stream, address))) => {
                    // Small messages go out at once.
                    let _ = stream.set_nodelay(true);
                    let guest = Guest {
                        stream,
                        _place: place,
                    };
                    return (guest, address);
                }
                // No file handles left, or a connection gone at once: others may still come.
                _ => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection and its place.
pub struct Guest {
    stream: TcpStream,
    _place: OwnedSemaphorePermit,
}

impl AsyncRead for Guest {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Guest {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
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
