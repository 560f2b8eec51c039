// pg_tokio CONNINFO pipeline|cursor|copy-in|copy-out COUNT - as pg_eddy.c, by tokio-postgres, which
// sends the queries of all tasks over its connection without a wait between them.
//
// The runtime of one thread.

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use std::fmt::Write;
use std::pin::pin;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::Arc;
use tokio_postgres::{Client, NoTls, Statement};

const ITEMS: i64 = 10_000;
const TASKS: i64 = 64;
const WARM_UP: i64 = 640;
const BLOCK_ROWS: i64 = 1000;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

// 1: CLOCK_MONOTONIC; 2: CLOCK_PROCESS_CPUTIME_ID.
fn clock_ns(clock: i32) -> i64 {
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(clock, &mut now) };
    now.seconds * 1_000_000_000 + now.nanoseconds
}

async fn queries(client: &Arc<Client>, statement: &Statement, n: i64) {
    let next = Arc::new(AtomicI64::new(0));
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let (client, statement, next) = (client.clone(), statement.clone(), next.clone());
            tokio::spawn(async move {
                loop {
                    let i = next.fetch_add(1, Relaxed);
                    if i >= n {
                        return;
                    }
                    let row = client.query_one(&statement, &[&(i * 7919 % ITEMS + 1)]).await.unwrap();
                    let name: &str = row.get(0);
                    assert!(!name.is_empty());
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

async fn read_rows(client: &Client, statement: &Statement) {
    let none: [i64; 0] = [];
    let mut rows = pin!(client.query_raw(statement, none).await.unwrap());
    let mut count = 0;
    while let Some(row) = rows.next().await {
        let id: i64 = row.unwrap().get(0);
        count += (id > 0) as i64;
    }
    assert_eq!(count, ITEMS);
}

async fn copy_in(client: &Client, count: i64) {
    let mut block = String::new();
    for i in 1..=BLOCK_ROWS {
        writeln!(block, "{i}\tname of {i}\t{i}.5").unwrap();
    }
    let block = Bytes::from(block);
    let mut sink = pin!(client.copy_in("copy loaded from stdin").await.unwrap());
    for _ in 0..count / BLOCK_ROWS {
        sink.feed(block.clone()).await.unwrap();
    }
    assert_eq!(sink.finish().await.unwrap() as i64, count);
}

async fn copy_out(client: &Client, count: i64) {
    let sql = format!(
        "copy (select id, 'name of ' || id, id * 0.5 from generate_series(1, {count}) id) to stdout"
    );
    let mut stream = pin!(client.copy_out(&sql).await.unwrap());
    let mut rows = 0;
    while let Some(row) = stream.next().await {
        rows += !row.unwrap().is_empty() as i64;
    }
    assert_eq!(rows, count);
}

async fn run(conninfo: &str, row: &str, count: i64) {
    let (client, connection) = tokio_postgres::connect(conninfo, NoTls).await.unwrap();
    tokio::spawn(async move { connection.await.unwrap() });
    let client = Arc::new(client);
    let one = client.prepare("select name, score from items where id = $1").await.unwrap();
    let all = client.prepare("select id, name, score from items").await.unwrap();
    let unit = match row {
        "pipeline" => 1,
        "cursor" => ITEMS,
        _ => BLOCK_ROWS,
    };
    let count = (count + unit - 1) / unit * unit;
    if row == "pipeline" {
        queries(&client, &one, WARM_UP).await;
    } else {
        client.batch_execute("truncate loaded").await.unwrap();
    }
    let (wall, cpu) = (clock_ns(1), clock_ns(2));
    match row {
        "pipeline" => queries(&client, &one, count).await,
        "cursor" => {
            for _ in 0..count / ITEMS {
                read_rows(&client, &all).await;
            }
        }
        "copy-in" => copy_in(&client, count).await,
        "copy-out" => copy_out(&client, count).await,
        _ => panic!("no such row: {row}"),
    }
    let (wall, cpu) = (clock_ns(1) - wall, clock_ns(2) - cpu);
    let version = option_env!("PEER_VERSION").unwrap_or("0.7");
    println!(
        "{{\"peer\": \"tokio-postgres {version}\", \"row\": \"{row}\", \"ops\": {count}, \
         \"cpu_ns\": {cpu}, \"wall_ns\": {wall}}}"
    );
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    runtime.unwrap().block_on(run(&args[1], &args[2], args[3].parse().unwrap()));
}
