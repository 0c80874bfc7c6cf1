//! Programs that talk over the loopback interface, and tell how much.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::thread::{scope, sleep};
use std::time::Duration;

use rustix::net::listen;
use rustix::net::sockopt::set_socket_linger;
use rustix::time::ClockId;

use super::programs::{clock, tell};

/// Names of the ports that the server tells the client.
const PORTS: &str = "TALKING_PORTS";
/// Bytes that each side sends in one go, and how often.
pub(super) const SENDS: (usize, usize) = (1000, 10);
pub(super) const ANSWERS: (usize, usize) = (700, 5);
pub(super) const DATAGRAMS: (usize, usize) = (50, 3);
/// Connections whose only purpose is the time that they take.
pub(super) const CONNECTS: usize = 20;

fn pid() -> i64 {
    std::process::id().into()
}

fn local(stream: &TcpStream) -> i64 {
    stream.local_addr().unwrap().port().into()
}

fn send(stream: &mut TcpStream, (bytes, times): (usize, usize)) -> i64 {
    let data = vec![7; bytes];
    for _ in 0..times {
        stream.write_all(&data).unwrap();
    }
    (bytes * times).try_into().unwrap()
}

fn receive(stream: &mut TcpStream, (bytes, times): (usize, usize)) -> i64 {
    let mut data = vec![0; bytes * times];
    stream.read_exact(&mut data).unwrap();
    data.len().try_into().unwrap()
}

/// What `ss` says of the connection of a port: bytes that were acknowledged, with 1 for the request, and received; retransmissions; the
/// round-trip time, ns.
fn ss(port: i64) -> Option<[i64; 4]> {
    let output = Command::new("ss").args(["-tinH", &format!("sport = :{port}")]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let figure = |key: &str| text.split_whitespace().find_map(|word| word.strip_prefix(key)).map(str::to_owned);
    let number = |key: &str| figure(key).and_then(|figure| figure.parse().ok()).unwrap_or(0);
    let again = figure("retrans:").and_then(|figure| figure.split_once('/')?.1.parse().ok()).unwrap_or(0);
    let milliseconds = figure("rtt:").and_then(|figure| figure.split_once('/')?.0.parse::<f64>().ok()).unwrap_or(0.0);
    let round_trip = (milliseconds * 1e6).round() as i64;
    (!text.is_empty()).then(|| [number("bytes_acked:"), number("bytes_received:"), again, round_trip])
}

/// The server; it starts the client.
#[test]
#[ignore = "a program that a test records"]
fn talking() {
    let bind = |address: IpAddr| TcpListener::bind((address, 0)).ok();
    let v4 = bind(Ipv4Addr::LOCALHOST.into()).unwrap();
    let v6 = bind(Ipv6Addr::LOCALHOST.into());
    let full = bind(Ipv4Addr::LOCALHOST.into()).unwrap();
    listen(&full, 0).unwrap();
    let datagrams = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let closed = bind(Ipv4Addr::LOCALHOST.into()).unwrap();
    let port = |address: std::io::Result<SocketAddr>| address.map_or(0, |address| address.port());
    let ports = [
        port(v4.local_addr()),
        v6.as_ref().map_or(0, |v6| port(v6.local_addr())),
        port(full.local_addr()),
        port(datagrams.local_addr()),
        port(closed.local_addr()),
    ];
    drop(closed);
    let ports = ports.map(|port| port.to_string()).join(",");
    let executable = std::env::current_exe().unwrap();
    let arguments = ["--exact", "known::talking::calling", "--ignored", "--nocapture"];
    let mut client = Command::new(executable).args(arguments).env(PORTS, ports).spawn().unwrap();
    let answer = |name: &str, listener: &TcpListener| {
        let (mut stream, from) = listener.accept().unwrap();
        let received = receive(&mut stream, SENDS);
        let sent = send(&mut stream, ANSWERS);
        // The client closes first.
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        tell(name, &[("pid", pid()), ("port", from.port().into()), ("sent", sent), ("received", received)]);
    };
    answer("server", &v4);
    if let Some(v6) = &v6 {
        answer("server6", v6);
    }
    // One that is reset.
    let (mut stream, _) = v4.accept().unwrap();
    receive(&mut stream, (100, 1));
    set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
    for _ in 0..CONNECTS {
        drop(v4.accept().unwrap());
    }
    let (bytes, times) = DATAGRAMS;
    let mut data = [0; 100];
    let received: usize = (0..times).map(|_| datagrams.recv(&mut data).unwrap()).sum();
    assert_eq!(received, bytes * times);
    tell("datagrams", &[("pid", pid()), ("received", received.try_into().unwrap())]);
    // The place for those that wait is taken until here, so that the request of the second one is lost.
    sleep(Duration::from_millis(300));
    let waiting: Vec<TcpStream> = (0..2).map(|_| full.accept().unwrap().0).collect();
    assert!(client.wait().unwrap().success());
    drop(waiting);
}

#[test]
#[ignore = "a program that a test records"]
fn calling() {
    let ports = std::env::var(PORTS).unwrap();
    let ports: Vec<u16> = ports.split(',').map(|port| port.parse().unwrap()).collect();
    let [v4, v6, full, datagrams, closed] = ports[..] else { panic!("{ports:?}") };
    let home = IpAddr::from(Ipv4Addr::LOCALHOST);
    let now = || clock(ClockId::Monotonic);
    talk("client", (home, v4));
    if v6 != 0 {
        talk("client6", (Ipv6Addr::LOCALHOST.into(), v6));
    }
    let mut stream = TcpStream::connect((home, v4)).unwrap();
    let sent = send(&mut stream, (100, 1));
    assert!(stream.read(&mut [0]).is_err(), "it is reset");
    tell("reset", &[("pid", pid()), ("port", local(&stream)), ("remote", v4.into()), ("sent", sent)]);
    for number in 0..CONNECTS {
        let from = now();
        let stream = TcpStream::connect((home, v4)).unwrap();
        let until = now();
        tell(&format!("connect{number}"), &[("port", local(&stream)), ("from", from), ("until", until)]);
    }
    let from = now();
    assert!(TcpStream::connect((home, closed)).is_err());
    tell("refused", &[("pid", pid()), ("remote", closed.into()), ("from", from), ("until", now())]);
    // Of three requests at once the first one takes the only place.
    let waiting = TcpStream::connect((home, full)).unwrap();
    scope(|scope| {
        scope.spawn(|| {
            sleep(Duration::from_millis(100));
            let (bytes, times) = DATAGRAMS;
            let socket = UdpSocket::bind((home, 0)).unwrap();
            for _ in 0..times {
                socket.send_to(&vec![1; bytes], (home, datagrams)).unwrap();
            }
        });
        let from = now();
        let late = TcpStream::connect((home, full)).unwrap();
        let [_, _, again, _] = ss(local(&late)).unwrap_or_default();
        tell("late", &[("port", local(&late)), ("from", from), ("until", now()), ("again", again)]);
    });
    drop(waiting);
}

/// A connection with data in both directions.
fn talk(name: &str, to: (IpAddr, u16)) {
    let from = clock(ClockId::Monotonic);
    let mut stream = TcpStream::connect(to).unwrap();
    let until = clock(ClockId::Monotonic);
    let sent = send(&mut stream, SENDS);
    let received = receive(&mut stream, ANSWERS);
    let port = local(&stream);
    let mut figures = vec![("pid", pid()), ("port", port), ("remote", to.1.into()), ("sent", sent)];
    figures.extend([("received", received), ("from", from), ("until", until)]);
    if let Some([acked, got, again, round_trip]) = ss(port) {
        figures.extend([("acked", acked - 1), ("got", got), ("again", again), ("rtt", round_trip)]);
    }
    tell(name, &figures);
}

/// Segments that this machine (of its own, with `unshare`) has sent again.
fn sent_again() -> i64 {
    let text = std::fs::read_to_string("/proc/net/snmp").unwrap();
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let (names, figures) = (lines.next().unwrap(), lines.next().unwrap());
    let place = names.split(' ').position(|name| name == "RetransSegs").unwrap();
    figures.split(' ').nth(place).unwrap().parse().unwrap()
}

/// Much data at once, for a network that loses some of it.
#[test]
#[ignore = "a program that a test records"]
fn losing() {
    const BULK: (usize, usize) = (100_000, 20);
    let before = sent_again();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let (sent, port) = scope(|scope| {
        let sender = scope.spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            let sent = send(&mut stream, BULK);
            // The other side has all of it when it closes.
            assert_eq!(stream.read(&mut [0]).unwrap(), 0);
            (sent, local(&stream))
        });
        let (mut stream, _) = listener.accept().unwrap();
        receive(&mut stream, BULK);
        drop(stream);
        sender.join().unwrap()
    });
    tell("sender", &[("port", port), ("sent", sent), ("again", sent_again() - before)]);
}
