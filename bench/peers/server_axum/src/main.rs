// server_axum - a server of axum on one thread of tokio that answers a short JSON text; see
// server_eddy.c.
//
//     server_axum respond|known|unknown|json|route|routes [CERT KEY]
//
// Connections are served as axum::serve() does, by hyper, but only with HTTP/1.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::extract::Path;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use bytes::Bytes;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use openssl::ssl::{Ssl, SslAcceptor, SslFiletype, SslMethod, SslVersion};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{signal, SignalKind};
use tokio_openssl::SslStream;

const BODY: &str = "{\"message\":\"Hello, World!\"}";
const TYPE: &str = "application/json";
static ANSWERS: AtomicU64 = AtomicU64::new(0);

#[derive(serde::Serialize)]
struct Hello {
    message: &'static str,
}

async fn respond() -> Response {
    ANSWERS.fetch_add(1, Ordering::Relaxed);
    ([(CONTENT_TYPE, TYPE)], BODY).into_response()
}

fn body_stream() -> Body {
    ANSWERS.fetch_add(1, Ordering::Relaxed);
    Body::from_stream(futures_util::stream::iter([Ok::<_, Infallible>(Bytes::from_static(BODY.as_bytes()))]))
}

async fn known() -> Response {
    ([(CONTENT_TYPE, TYPE.to_owned()), (CONTENT_LENGTH, BODY.len().to_string())], body_stream()).into_response()
}

async fn unknown() -> Response {
    ([(CONTENT_TYPE, TYPE)], body_stream()).into_response()
}

async fn json() -> Json<Hello> {
    ANSWERS.fetch_add(1, Ordering::Relaxed);
    Json(Hello { message: "Hello, World!" })
}

async fn item(Path(id): Path<String>) -> Response {
    assert!(!id.is_empty());
    respond().await
}

fn router(way: &str) -> Router {
    let routes = |count| {
        (0..count).fold(Router::new(), |router, i| router.route(&format!("/api/r{i:03}/{{id}}"), get(item)))
    };

    match way {
        "respond" => Router::new().route("/", get(respond)),
        "known" => Router::new().route("/", get(known)),
        "unknown" => Router::new().route("/", get(unknown)),
        "json" => Router::new().route("/", get(json)),
        "route" => routes(1),
        "routes" => routes(1000),
        _ => panic!("no such way to answer"),
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin + 'static>(stream: S, router: Router) {
    let service = TowerToHyperService::new(router);

    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn serve_tls(stream: TcpStream, tls: SslAcceptor, router: Router) {
    let ssl = Ssl::new(tls.context()).expect("a session");
    let mut stream = SslStream::new(ssl, stream).expect("a stream");

    if std::pin::Pin::new(&mut stream).accept().await.is_ok() {
        serve(stream, router).await;
    }
}

async fn accept(listener: TcpListener, tls: Option<SslAcceptor>, router: Router) {
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");

        stream.set_nodelay(true).expect("TCP_NODELAY");
        match &tls {
            Some(tls) => tokio::task::spawn_local(serve_tls(stream, tls.clone(), router.clone())),
            None => tokio::task::spawn_local(serve(stream, router.clone())),
        };
    }
}

fn acceptor(cert: &str, key: &str) -> SslAcceptor {
    let mut tls = SslAcceptor::mozilla_modern_v5(SslMethod::tls()).expect("OpenSSL");

    tls.set_min_proto_version(Some(SslVersion::TLS1_3)).expect("TLS 1.3");
    tls.set_certificate_chain_file(cert).expect("the certificate");
    tls.set_private_key_file(key, SslFiletype::PEM).expect("the key");
    tls.build()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");

    tokio::task::LocalSet::new().block_on(&runtime, async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let mut ended = signal(SignalKind::terminate()).expect("SIGTERM");
        let tls = (args.len() == 4).then(|| acceptor(&args[2], &args[3]));

        println!("{}", listener.local_addr().expect("an address").port());
        tokio::task::spawn_local(accept(listener, tls, router(&args[1])));
        ended.recv().await;
    });
    println!(
        "{{\"peer\": \"axum {}\", \"ops\": {}}}",
        env!("PEER_VERSION"),
        ANSWERS.load(Ordering::Relaxed)
    );
}
