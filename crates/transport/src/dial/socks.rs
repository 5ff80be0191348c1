//! SOCKS version 5 (RFC 1928) without a login.

use std::net::IpAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Socket, proxy_fault};
use crate::backend::Destination;
use crate::fault::NetworkFault;

const VERSION: u8 = 5;
const NO_LOGIN: u8 = 0;
const CONNECT: u8 = 1;
const ADDRESS_V4: u8 = 1;
const ADDRESS_NAME: u8 = 3;
const ADDRESS_V6: u8 = 4;

/// Asks for the connection.
pub(super) async fn ask(mut socket: Socket, to: &Destination) -> Result<Socket, NetworkFault> {
    write(&mut socket, &[VERSION, 1, NO_LOGIN]).await?;
    if read::<2>(&mut socket).await? != [VERSION, NO_LOGIN] {
        return Err(proxy_fault("it wants a login"));
    }
    write(&mut socket, &request(to)?).await?;
    let [version, reply, _, kind] = read::<4>(&mut socket).await?;
    if version != VERSION || reply != 0 {
        return Err(proxy_fault(&format!("it answered {reply}")));
    }
    skip_address(&mut socket, kind).await?;
    Ok(socket)
}

fn request(to: &Destination) -> Result<Vec<u8>, NetworkFault> {
    let mut message = vec![VERSION, CONNECT, 0];
    match to.addresses.first() {
        Some(IpAddr::V4(ip)) => {
            message.push(ADDRESS_V4);
            message.extend_from_slice(&ip.octets());
        }
        Some(IpAddr::V6(ip)) => {
            message.push(ADDRESS_V6);
            message.extend_from_slice(&ip.octets());
        }
        None => {
            message.push(ADDRESS_NAME);
            message.push(u8::try_from(to.host.len()).map_err(|_| proxy_fault("the host name is too long"))?);
            message.extend_from_slice(to.host.as_bytes());
        }
    }
    message.extend_from_slice(&to.port.to_be_bytes());
    Ok(message)
}

async fn skip_address(socket: &mut Socket, kind: u8) -> Result<(), NetworkFault> {
    let length = match kind {
        ADDRESS_V4 => 4,
        ADDRESS_V6 => 16,
        ADDRESS_NAME => usize::from(read::<1>(socket).await?[0]),
        _ => return Err(proxy_fault("its answer cannot be read")),
    };
    let mut rest = vec![0; length + 2];
    socket.read_exact(&mut rest).await.map_err(|_| proxy_fault("it closed the connection"))?;
    Ok(())
}

async fn write(socket: &mut Socket, bytes: &[u8]) -> Result<(), NetworkFault> {
    socket.write_all(bytes).await.map_err(|_| proxy_fault("it closed the connection"))
}

async fn read<const N: usize>(socket: &mut Socket) -> Result<[u8; N], NetworkFault> {
    let mut bytes = [0; N];
    socket.read_exact(&mut bytes).await.map_err(|_| proxy_fault("it closed the connection"))?;
    Ok(bytes)
}
