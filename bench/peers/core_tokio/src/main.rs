// core_tokio - tokio's tasks, channels and timers, measured as core_eddy.c does.
//
//     core_tokio ROW COUNT [TASKS | WAIT_MS]
//
// The runtime of one thread (`new_current_thread`); its I/O driver only for the row of sockets.

mod io;

use std::future::Future;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, Mutex, Notify, Semaphore};
use tokio::task::{yield_now, JoinHandle};
use tokio::time::{sleep, sleep_until, timeout, Instant};

const BATCH: i64 = 1000;

static COUNT: AtomicI64 = AtomicI64::new(0);
static EXTRA: AtomicI64 = AtomicI64::new(1);
static DONE: AtomicI64 = AtomicI64::new(0);
static WALL: AtomicI64 = AtomicI64::new(0);
static CPU: AtomicI64 = AtomicI64::new(0);
static NOTES: OnceLock<String> = OnceLock::new();

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

fn begin() {
    WALL.store(clock_ns(1), Relaxed);
    CPU.store(clock_ns(2), Relaxed);
}

fn end() {
    CPU.store(clock_ns(2) - CPU.load(Relaxed), Relaxed);
    WALL.store(clock_ns(1) - WALL.load(Relaxed), Relaxed);
}

// One thread: no need for an atomic addition.
fn done_add() -> i64 {
    let done = DONE.load(Relaxed) + 1;
    DONE.store(done, Relaxed);
    done
}

fn more() -> bool {
    DONE.load(Relaxed) < COUNT.load(Relaxed)
}

// Count one operation; false: it was the last.
fn go_on() -> bool {
    if !more() {
        return false; // others have done the last one
    }
    if DONE.load(Relaxed) == 0 {
        begin();
    }
    if done_add() == COUNT.load(Relaxed) {
        end();
    }
    more()
}

fn extra() -> i64 {
    EXTRA.load(Relaxed)
}

// Resident memory plus page tables.
fn memory_kib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status
        .lines()
        .filter(|line| line.starts_with("VmRSS:") || line.starts_with("VmPTE:"))
        .map(|line| line.split_whitespace().nth(1).unwrap().parse::<i64>().unwrap())
        .sum()
}

async fn join_all(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        task.await.unwrap();
    }
}

// 'n' tasks of one function.
async fn run_many<F: Future<Output = ()> + Send + 'static>(n: i64, make: impl Fn() -> F) {
    join_all((0..n).map(|_| tokio::spawn(make())).collect()).await;
}

async fn row_yield() {
    run_many(extra(), || async {
        yield_now().await;
        while more() {
            go_on();
            yield_now().await;
        }
    })
    .await;
}

async fn row_start_join() {
    begin();
    while more() {
        tokio::spawn(async { done_add() }).await.unwrap();
    }
    end();
}

async fn row_start_batch() {
    let batch = if extra() > 1 { extra() } else { BATCH };
    for i in 0..=std::cmp::max(COUNT.load(Relaxed) / batch, 1) {
        // The clock starts after the first batch.
        if i == 1 {
            DONE.store(0, Relaxed);
            begin();
        }
        run_many(batch, || async {
            done_add();
        })
        .await;
    }
    end();
}

// TASKS tasks in pairs, each with two channels of capacity one.
async fn row_queue() {
    let pairs = std::cmp::max(extra() / 2, 1);
    let mut tasks = Vec::new();
    for _ in 0..pairs {
        let (there, mut at_other) = mpsc::channel(1);
        let (back, mut at_back) = mpsc::channel(1);
        tasks.push(tokio::spawn(async move {
            while let Some(item) = at_other.recv().await {
                back.send(item).await.unwrap();
            }
        }));
        tasks.push(tokio::spawn(async move {
            loop {
                there.send(1i64).await.unwrap();
                at_back.recv().await.unwrap();
                if !go_on() {
                    break;
                }
            }
        }));
    }
    join_all(tasks).await;
}

async fn row_select() {
    let (there, mut at_other) = mpsc::channel(1);
    let (too, mut at_other_too) = mpsc::channel(1);
    let (back, mut at_back) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            let item: Option<i64> = tokio::select! {
                item = at_other.recv() => item,
                item = at_other_too.recv() => item,
            };
            match item {
                Some(item) => back.send(item).await.unwrap(),
                None => break,
            }
        }
    });
    begin();
    while more() {
        let lane = if DONE.load(Relaxed) % 2 == 0 { &there } else { &too };
        lane.send(DONE.load(Relaxed)).await.unwrap();
        at_back.recv().await.unwrap();
        done_add();
    }
    end();
}

async fn row_event() {
    let pairs = std::cmp::max(extra() / 2, 1);
    let mut asking = Vec::new();
    let mut answering = Vec::new();
    for _ in 0..pairs {
        let events = Arc::new((Notify::new(), Notify::new()));
        let others = events.clone();
        answering.push(tokio::spawn(async move {
            loop {
                others.0.notified().await;
                others.1.notify_one();
            }
        }));
        asking.push(tokio::spawn(async move {
            loop {
                events.0.notify_one();
                events.1.notified().await;
                if !go_on() {
                    break;
                }
            }
        }));
    }
    join_all(asking).await;
    for task in &answering {
        task.abort();
    }
}

// Each serves once.
async fn row_future() {
    let (requests, mut at_other) = mpsc::unbounded_channel::<(i64, oneshot::Sender<i64>)>();
    tokio::spawn(async move {
        while let Some((item, back)) = at_other.recv().await {
            back.send(item).unwrap();
        }
    });
    begin();
    while more() {
        let (back, result) = oneshot::channel();
        requests.send((DONE.load(Relaxed), back)).unwrap();
        assert!(result.await.unwrap() == DONE.load(Relaxed));
        done_add();
    }
    end();
}

async fn row_sleep() {
    let before = memory_kib();
    begin();
    let wake = Instant::now() + Duration::from_millis(extra() as u64);
    let parked = Arc::new(AtomicI64::new(0));
    let mut tasks = Vec::new();
    for _ in 0..COUNT.load(Relaxed) {
        let parked = parked.clone();
        tasks.push(tokio::spawn(async move {
            parked.store(parked.load(Relaxed) + 1, Relaxed);
            sleep_until(wake).await;
            done_add();
        }));
    }
    while parked.load(Relaxed) < COUNT.load(Relaxed) {
        yield_now().await;
    }
    let during = memory_kib();
    if Instant::now() >= wake {
        eprintln!("WAIT_MS is too short: not all were parked in time");
        std::process::exit(1);
    }
    join_all(tasks).await;
    end();
    let each = (during - before) as f64 / COUNT.load(Relaxed) as f64;
    NOTES.set(format!(", \"kib_per_task\": {each:.2}")).unwrap();
}

async fn row_lock() {
    let lock = Mutex::new(());
    begin();
    while more() {
        let held = lock.lock().await;
        done_add();
        drop(held);
    }
    end();
}

// All want one lock, and give way while they hold it.
async fn row_lock_line() {
    let lock = Arc::new(Mutex::new(()));
    run_many(extra(), || {
        let lock = lock.clone();
        async move {
            loop {
                let held = lock.lock().await;
                yield_now().await;
                let again = go_on();
                drop(held);
                if !again {
                    break;
                }
            }
        }
    })
    .await;
}

async fn row_semaphore() {
    let semaphore = Semaphore::new(1);
    begin();
    while more() {
        let unit = semaphore.acquire().await.unwrap();
        done_add();
        drop(unit);
    }
    end();
}

// A timeout around what is done at once is not armed: one turn of others is inside.
async fn row_deadline() {
    begin();
    while more() {
        timeout(Duration::from_secs(5), yield_now()).await.unwrap();
        done_add();
    }
    end();
}

async fn row_deadline_among() {
    let sleepers: Vec<_> =
        (0..extra()).map(|_| tokio::spawn(sleep(Duration::from_secs(1000)))).collect();
    yield_now().await;
    row_deadline().await;
    for sleeper in &sleepers {
        sleeper.abort();
    }
}

async fn run(row: &str) {
    match row {
        "yield" => row_yield().await,
        "start-join" => row_start_join().await,
        "start-batch" => row_start_batch().await,
        "queue" | "queue-many" => row_queue().await,
        "select" => row_select().await,
        "event" | "event-many" => row_event().await,
        "future" => row_future().await,
        "sleep" => row_sleep().await,
        "lock" => row_lock().await,
        "lock-line" => row_lock_line().await,
        "semaphore" => row_semaphore().await,
        "deadline" => row_deadline().await,
        "deadline-among" => row_deadline_among().await,
        "file-read" => io::row_file(io::read_piece).await,
        "file-write" => io::row_file(io::write_piece).await,
        "file-sync" => io::row_file(io::write_synced).await,
        "file-open" => io::row_file(io::open_and_read).await,
        "echo" => io::row_echo().await,
        _ => panic!("no such row"),
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize| args.get(i).map_or(1, |text| text.parse().unwrap());
    COUNT.store(number(2), Relaxed);
    EXTRA.store(number(3), Relaxed);
    let mut builder = tokio::runtime::Builder::new_current_thread();
    if args[1] == "echo" {
        builder.enable_io();
    }
    let runtime = builder.enable_time().build().unwrap();
    runtime.block_on(async { tokio::spawn(async move { run(&args[1]).await }).await.unwrap() });
    println!(
        "{{\"peer\": \"tokio {}\", \"row\": \"{}\", \"ops\": {}, \"cpu_ns\": {}, \"wall_ns\": {}{}}}",
        option_env!("PEER_VERSION").unwrap_or("1"),
        std::env::args().nth(1).unwrap(),
        DONE.load(Relaxed),
        CPU.load(Relaxed),
        WALL.load(Relaxed),
        NOTES.get().map_or("", |notes| notes)
    );
}
