//! Finds the newest report that a company filed with the SEC.
//!
//! `LOOM_SEC_CONTACT="Ana Example ana@example.com" cargo run -p loopx --example filing -- AAPL`; the SEC wants to know
//! who asks. `LOOM_SEC_API_URL` names another place to ask.

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use loopx::LoopXError;
use loopx::value_connectors::finance_probe::fetch_filing;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), LoopXError> {
    let ticker = std::env::args().nth(1).unwrap_or_else(|| "AAPL".to_owned());
    let filing = fetch_filing(&ticker).await?;
    println!("{} {} {}", filing.form, filing.filing_date, filing.accession_number);
    println!("{}", filing.index_url);
    Ok(())
}
