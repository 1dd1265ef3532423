//! Connections to names that programs may reach.
//!
//! Programs that honour `HTTPS_PROXY` ask for a name, and get a connection that jurat does not read. Others have no way out.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;

use super::record::Tunnelled;
use super::serve::Shared;

impl Shared {
    /// Opens a tunnel to an allowed name.
    pub(super) async fn tunnel(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let said = |status, message: String| {
            let mut response = Response::new(Full::new(Bytes::from(message)));
            *response.status_mut() = status;
            response
        };
        let Some(authority) = request.uri().authority().cloned() else {
            return said(StatusCode::BAD_REQUEST, "a host name and a port are required".to_owned());
        };
        if self.options.key.is_some() {
            // Any user of the machine could ask; programs outside of a sandbox need no tunnel.
            return said(StatusCode::FORBIDDEN, "this port opens no tunnels".to_owned());
        }
        let port = authority.port_u16().unwrap_or(443);
        let is_allowed = self.options.names.allow(authority.host(), port);
        self.state().record.tunnelled.push(Tunnelled { authority: authority.to_string(), is_allowed });
        if !is_allowed {
            let message = format!("`{}` is not among the names that may be reached", authority.host());
            return said(StatusCode::FORBIDDEN, message);
        }
        let mut stream = match self.dialer.tunnel(authority.host(), port).await {
            Ok(stream) => stream,
            Err(error) => return said(StatusCode::BAD_GATEWAY, format!("no connection: {}", error.message)),
        };
        tokio::spawn(async move {
            if let Ok(upgraded) = hyper::upgrade::on(request).await {
                // It ends when either side does.
                tokio::io::copy_bidirectional(&mut TokioIo::new(upgraded), &mut stream)
                    .await
                    .map(drop)
                    .unwrap_or_default();
            }
        });
        Response::new(Full::default())
    }
}
