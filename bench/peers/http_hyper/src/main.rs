// http_hyper - hyper on one thread of tokio, a kept connection for each task.
//
//     http_hyper URL REQUESTS CONNECTIONS
//
// hyper::client::conn, the lower interface of hyper, is its fastest: a task uses its connection
// without a pool.  TLS is that of native-tls, which is OpenSSL here and trusts
// SSL_CERT_FILE.  Each body is read to its end and counted.
use std::cell::Cell;
use std::error::Error;
use std::rc::Rc;
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::{handshake, SendRequest};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::{spawn_local, LocalSet};

type Failure = Box<dyn Error>;
type Sender = SendRequest<Empty<Bytes>>;

struct Bench {
    uri: Uri,
    requests: u64,
    started: Cell<u64>,
    done: Cell<u64>,
    ok: Cell<u64>,
    opened: Cell<u64>,
    body_bytes: Cell<Option<u64>>, // of every body, learned from the first
    tls: tokio_native_tls::TlsConnector,
}

fn cpu_ns() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

async fn connect(bench: &Bench) -> Result<Sender, Failure> {
    let host = bench.uri.host().ok_or("no host")?;
    let stream = TcpStream::connect((host, bench.uri.port_u16().ok_or("no port")?)).await?;

    stream.set_nodelay(true)?;
    bench.opened.set(bench.opened.get() + 1);
    if bench.uri.scheme_str() == Some("https") {
        let stream = bench.tls.connect(host, stream).await?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        spawn_local(connection);
        return Ok(sender);
    }
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    spawn_local(connection);
    Ok(sender)
}

async fn fetch(bench: &Bench, sender: &mut Sender) -> Result<(), Failure> {
    let request = Request::get(bench.uri.path())
        .header("host", bench.uri.authority().ok_or("no host")?.as_str())
        .body(Empty::new())?;
    let mut response = sender.send_request(request).await?;
    let mut bytes = 0;

    while let Some(frame) = response.frame().await {
        bytes += frame?.data_ref().map_or(0, |data| data.len() as u64);
    }
    if bench.body_bytes.get().is_none() {
        bench.body_bytes.set(Some(bytes));
    }
    if response.status() == 200 && bench.body_bytes.get() == Some(bytes) {
        bench.ok.set(bench.ok.get() + 1);
    }
    Ok(())
}

async fn worker(bench: Rc<Bench>) {
    let mut sender = connect(&bench).await.expect("connect");

    while bench.started.get() < bench.requests {
        bench.started.set(bench.started.get() + 1);
        sender.ready().await.expect("the connection is kept");
        fetch(&bench, &mut sender).await.expect("request");
        bench.done.set(bench.done.get() + 1);
    }
}

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().collect();
    if args.len() != 4 {
        return Err("usage: http_hyper URL REQUESTS CONNECTIONS".into());
    }
    let (cpu, wall) = (cpu_ns(), Instant::now());
    let bench = Rc::new(Bench {
        uri: args[1].parse()?,
        requests: args[2].parse()?,
        started: Cell::new(0),
        done: Cell::new(0),
        ok: Cell::new(0),
        opened: Cell::new(0),
        body_bytes: Cell::new(None),
        tls: native_tls::TlsConnector::new()?.into(),
    });
    let width: u64 = args[3].parse()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = LocalSet::new();

    local.block_on(&runtime, async {
        let workers: Vec<_> = (0..width).map(|_| spawn_local(worker(bench.clone()))).collect();
        for one in workers {
            one.await.expect("a worker ends");
        }
    });
    println!(
        "{{\"client\": \"hyper {}\", \"requests\": {}, \"ok\": {}, \"connections\": {}, \
         \"cpu_ns\": {}, \"wall_ns\": {}}}",
        env!("PEER_VERSION"),
        bench.done.get(),
        bench.ok.get(),
        bench.opened.get(),
        cpu_ns() - cpu,
        wall.elapsed().as_nanos()
    );
    Ok(())
}
