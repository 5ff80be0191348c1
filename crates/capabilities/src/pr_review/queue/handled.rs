//! That somebody dealt with an offered head.

use loom_domain::{Code, Error, Result, Timestamp};

use super::{Receipt, State};
use crate::pr_review::input::HandledInput;
use crate::sha256_of;

/// Writes the receipt; `current` is the key of the head that the pull request has now. A repeat changes nothing.
pub(crate) fn handled(
    state: &mut State,
    input: &HandledInput,
    current: &str,
    principal: &str,
    now: Timestamp,
) -> Result<Receipt> {
    let known = state.receipts.iter().find(|one| one.key == input.key && one.offer_id == input.offer);
    if let Some(receipt) = known.filter(|one| one.outcome == input.outcome && one.evidence == input.evidence)
    {
        return Ok(receipt.clone());
    }
    let refused = |pointer: &str, why: &str| {
        Err(Error::new(Code::InvalidInput, why.to_owned()).with_detail("pointer", pointer))
    };
    if known.is_some() || state.is_handled(&input.key) {
        return refused("/key", "this head was handled before, with another outcome or offer");
    }
    let Some(head) = state.heads.values().find(|head| head.key == input.key) else {
        return refused("/key", "this head is not in the queue: it was never offered, or a push replaced it");
    };
    if head.offer.as_ref().is_none_or(|offer| offer.id != input.offer) {
        return refused("/offer", "this is not the offer of that head");
    }
    if current != input.key {
        return refused("/key", "the pull request has another head now: look at that one");
    }
    let mut receipt = Receipt {
        key: input.key.clone(),
        offer_id: input.offer.clone(),
        outcome: input.outcome,
        evidence: input.evidence.clone(),
        principal: principal.to_owned(),
        time: now,
        digest: String::new(),
    };
    receipt.digest = sha256_of(&receipt);
    state.receipts.push(receipt.clone());
    Ok(receipt)
}
