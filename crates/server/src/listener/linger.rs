//! The end of a connection: an answer given before the whole body came must still reach its reader.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Bytes thrown away so that the kernel does not reset the connection under the answer.
const DISCARD_BYTES_MAX: usize = 1024 * 1024;
const DISCARD_FOR: Duration = Duration::from_secs(1);
const CHUNK_BYTES: usize = 8 * 1024;

/// Says that nothing more comes, and reads what is still on its way for a moment.
pub(super) async fn close<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S) {
    if stream.shutdown().await.is_err() {
        return;
    }
    let discard = async {
        let mut chunk = [0; CHUNK_BYTES];
        let mut discarded = 0;
        while discarded < DISCARD_BYTES_MAX {
            match stream.read(&mut chunk).await {
                Ok(bytes) if bytes > 0 => discarded += bytes,
                _ => return,
            }
        }
    };
    let _ = tokio::time::timeout(DISCARD_FOR, Box::pin(discard)).await;
}
