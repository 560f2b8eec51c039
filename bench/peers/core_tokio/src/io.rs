// Files and sockets.
//
// tokio::fs has no reads and writes at an offset, and uses `spawn_blocking` for each call: here too,
// with one job for an operation.

use crate::{begin, done_add, end, extra, COUNT};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::spawn_blocking;

const PIECE_BYTES: usize = 4096;
const MESSAGE_MAX: usize = 1024;

pub struct Shared {
    file: File,
    path: String,
}

type Operation = fn(&Shared, &mut [u8], i64);

pub fn read_piece(shared: &Shared, piece: &mut [u8], _task: i64) {
    shared.file.read_exact_at(piece, 0).unwrap();
}

pub fn write_piece(shared: &Shared, piece: &mut [u8], task: i64) {
    shared.file.write_all_at(piece, task as u64 * PIECE_BYTES as u64).unwrap();
}

pub fn write_synced(shared: &Shared, piece: &mut [u8], task: i64) {
    write_piece(shared, piece, task);
    shared.file.sync_all().unwrap();
}

pub fn open_and_read(shared: &Shared, piece: &mut [u8], _task: i64) {
    File::open(&shared.path).unwrap().read_exact(piece).unwrap();
}

// COUNT operations by TASKS tasks, on a file of the current folder.
pub async fn row_file(operation: Operation) {
    static BEGUN: AtomicI64 = AtomicI64::new(0);
    let path = format!("eddy-bench-{}", std::process::id());
    let file = File::options().read(true).write(true).create(true).open(&path).unwrap();
    file.write_all_at(&vec![0; extra() as usize * PIECE_BYTES], 0).unwrap();
    let shared = Arc::new(Shared { file, path });
    let mut tasks = Vec::new();
    begin();
    for task in 0..extra() {
        let shared = shared.clone();
        tasks.push(tokio::spawn(async move {
            let mut piece = vec![0; PIECE_BYTES];
            while BEGUN.fetch_add(1, Relaxed) < COUNT.load(Relaxed) {
                let shared = shared.clone();
                piece = spawn_blocking(move || {
                    operation(&shared, &mut piece, task);
                    piece
                })
                .await
                .unwrap();
                done_add();
            }
        }));
    }
    crate::join_all(tasks).await;
    end();
    std::fs::remove_file(&shared.path).unwrap();
}

// A server of COUNT connections, which prints its port.
pub async fn row_echo() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    let mut tasks = Vec::new();
    for _ in 0..COUNT.load(Relaxed) {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        tasks.push(tokio::spawn(async move {
            let mut buf = [0; MESSAGE_MAX];
            loop {
                let n = stream.read(&mut buf).await.unwrap();
                if n == 0 {
                    break;
                }
                stream.write_all(&buf[..n]).await.unwrap();
                done_add();
            }
        }));
    }
    crate::join_all(tasks).await;
}
