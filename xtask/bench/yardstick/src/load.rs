//! The bare load: what asking an endpoint costs a program that only moves bytes.
//!
//! As many connections as are wanted at once, each asking again as soon as it was answered; the same bytes every time, and
//! nothing of a reply is read but its status and length.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::Said;
use crate::endpoint::next;

/// About as long as what jurat sends for a row of `questions`.
const BODY: &str = r#"{"model":"yardstick","messages":[{"role":"system","content":"You judge answers to riddles about towns."},{"role":"user","content":"Question: Which town is meant in riddle 4711?\nAnswer: The town of riddle 4711 is Bergen, because of its rain.\nDoes the answer name a town and give a reason?\n"}],"response_format":{"type":"json_schema","json_schema":{"name":"reply","strict":true,"schema":{"type":"object","properties":{"verdict":{"enum":["right","wrong"]},"reason":{"type":"string"}},"required":["verdict","reason"],"additionalProperties":false}}}}"#;

/// Asks so often, so many at a time. Says how long it took from the first connection to the last reply.
pub(crate) fn ask(address: SocketAddr, calls: u64, concurrency: u64) -> Said {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let start = Instant::now();
    runtime.block_on(ask_all(address, calls, concurrency))?;
    Ok(json!({ "wall_us": start.elapsed().as_micros() as u64 }))
}

async fn ask_all(address: SocketAddr, calls: u64, concurrency: u64) -> io::Result<()> {
    let length = BODY.len();
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{BODY}"
    );
    let (request, left) = (Arc::new(request), Arc::new(AtomicU64::new(calls)));
    let askers = (0..concurrency.min(calls)).map(|_| {
        let (request, left) = (Arc::clone(&request), Arc::clone(&left));
        tokio::spawn(async move { ask_again_and_again(address, &request, &left).await })
    });
    // All start before any is waited for.
    let askers: Vec<_> = askers.collect();
    for asker in askers {
        asker.await??;
    }
    Ok(())
}

async fn ask_again_and_again(address: SocketAddr, request: &str, left: &AtomicU64) -> io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(8192);
    while left.try_update(Ordering::Relaxed, Ordering::Relaxed, |it| it.checked_sub(1)).is_ok() {
        stream.write_all(request.as_bytes()).await?;
        let reply = next(&mut stream, &mut buffer).await?;
        let reply = reply.ok_or_else(|| io::Error::other("the endpoint closed a connection"))?;
        if !buffer.starts_with(b"HTTP/1.1 200 ") {
            return Err(io::Error::other("the endpoint gave another answer than 200"));
        }
        buffer.drain(..reply.whole);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use tokio::net::TcpListener;

    use super::*;
    use crate::endpoint::{Endpoint, accept};

    #[test]
    fn every_call_is_made_and_never_more_at_once_than_asked() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let endpoint = Arc::new(Endpoint::new(Duration::ZERO));
        runtime.block_on(async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(accept(listener, Arc::clone(&endpoint)));
            ask_all(address, 203, 4).await.unwrap();
        });
        let tally = endpoint.tally().clone();
        assert_eq!((tally.requests, tally.connections), (203, 4));
        assert!((1..=4).contains(&tally.peak), "{tally:?}");
    }

    #[test]
    fn an_endpoint_that_is_not_there_is_an_error() {
        // Port 1 is nobody's.
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        assert!(ask(address, 1, 1).is_err());
    }
}
