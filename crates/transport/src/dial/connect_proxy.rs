//! HTTP proxies: a CONNECT tunnel for every target.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Socket, proxy_fault, spoken_host};
use crate::backend::Destination;
use crate::fault::NetworkFault;

/// Longest head of the proxy's answer.
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// Asks for the tunnel.
pub(super) async fn ask(mut socket: Socket, to: &Destination) -> Result<Socket, NetworkFault> {
    let authority = format!("{}:{}", spoken_host(to), to.port);
    let head = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    socket.write_all(head.as_bytes()).await.map_err(|_| proxy_fault("it closed the connection"))?;
    let answer = read_head(&mut socket).await?;
    match answer.split(' ').nth(1) {
        Some("200") => Ok(socket),
        Some(status @ ("403" | "407" | "502" | "503" | "504")) => {
            Err(proxy_fault(&format!("it answered {status}")))
        }
        _ => Err(proxy_fault("it refused the tunnel")),
    }
}

/// Reads to the empty line and not a byte further: what follows belongs to the target.
async fn read_head(socket: &mut Socket) -> Result<String, NetworkFault> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= HEAD_BYTES_MAX {
            return Err(proxy_fault("its answer is too long"));
        }
        head.push(socket.read_u8().await.map_err(|_| proxy_fault("it closed the connection"))?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
