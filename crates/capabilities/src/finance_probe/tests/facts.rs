use super::*;

const INCOME: &str = "us-gaap:NetIncomeLoss";

/// CAP-102: figures are exact, with everything that says what they are.
#[tokio::test]
async fn cap_102_figures_are_exact() {
    let twin = twin().await;
    twin.edit(APPLE, |company| {
        let mut fact = company.facts.iter().find(|fact| fact.tag == "NetIncomeLoss").unwrap().clone();
        fact.value = "9007199254740993.10".into();
        company.facts.push(fact);
    });
    let known: Vec<_> =
        twin.company("AAPL").unwrap().facts.into_iter().filter(|fact| fact.tag == "NetIncomeLoss").collect();
    let payload = ask(&twin, "facts", json!({"ticker": "AAPL", "concept": INCOME})).await;
    assert_eq!((payload.ok, payload.complete, payload.items.len()), (true, true, known.len()));
    for (item, fact) in payload.items.iter().zip(&known) {
        assert_eq!((&item["value"], &item["unit"]), (&json!(fact.value), &json!("USD")));
        assert_eq!(
            (&item["start"], &item["end"]),
            (&json!(fact.start.map(|d| d.to_string())), &json!(fact.end.to_string()))
        );
        assert_eq!((&item["form"], &item["filed"]), (&json!(fact.form), &json!(fact.filed.to_string())));
        assert_eq!((&item["frame"], &item["accession_number"]), (&json!(fact.frame), &json!(fact.accession)));
        assert_eq!((&item["fy"], &item["fp"]), (&json!(fact.fiscal.0), &json!(fact.fiscal.1)));
        assert_eq!((&item["taxonomy"], &item["tag"]), (&json!("us-gaap"), &json!("NetIncomeLoss")));
    }
    assert_eq!(payload.items.last().unwrap()["value"], "9007199254740993.10");
    assert_eq!(payload.source_refs.last().unwrap().kind, "sec_company_concept");
}

/// CAP-102: all facts of a company are read as they come, and give the same.
#[tokio::test]
async fn cap_102_all_facts_are_streamed() {
    let twin = twin().await;
    let all = ask(&twin, "facts", json!({"cik": "320193"})).await;
    assert_eq!(all.items.len(), twin.company("AAPL").unwrap().facts.len());
    let one = ask(&twin, "facts", json!({"cik": "320193", "concept": INCOME})).await;
    let same: Vec<&Value> = all.items.iter().filter(|item| item["tag"] == "NetIncomeLoss").collect();
    assert_eq!(same, one.items.iter().collect::<Vec<_>>());
    let shares =
        ask(&twin, "facts", json!({"cik": "320193", "unit": "shares", "period_from": "2024-01-01"})).await;
    assert!(!shares.items.is_empty());
    assert!(
        shares
            .items
            .iter()
            .all(|item| item["unit"] == "shares" && item["end"].as_str().unwrap() >= "2024-01-01")
    );
    let mut few = request(&twin, "facts", json!({"cik": "320193"}));
    few.limits.limit = Some(3);
    let few = crate::run(&world(), &FinanceProbe::new(), few, None, &mut NoObserver).await.unwrap();
    assert_eq!((few.items.len(), few.stop_reason), (3, StopReason::Limit));
}

/// CAP-101: figures that were filed or restated later are not there.
#[tokio::test]
async fn cap_101_as_of_hides_restated_facts() {
    let twin = twin().await;
    let facts = twin.company("AAPL").unwrap().facts;
    let restated = facts.iter().find(|fact| fact.form == "10-K/A" && fact.tag == "NetIncomeLoss").unwrap();
    let before = restated.filed.yesterday().unwrap().to_string();
    let about = |payload: &Payload| -> Vec<Value> {
        let of_period = |item: &&Value| {
            item["end"] == restated.end.to_string() && item["start"] == restated.start.unwrap().to_string()
        };
        payload.items.iter().filter(of_period).map(|item| item["value"].clone()).collect()
    };
    let then = ask(&twin, "facts", json!({"cik": "320193", "concept": INCOME, "as_of": before})).await;
    assert!(then.items.iter().all(|item| item["filed"].as_str().unwrap() <= before.as_str()));
    let now =
        ask(&twin, "facts", json!({"cik": "320193", "concept": INCOME, "as_of": restated.filed.to_string()}))
            .await;
    assert!(!about(&then).is_empty() && !about(&then).contains(&json!(restated.value)));
    assert!(about(&now).contains(&json!(restated.value)));
}

/// CAP-103: a fact without its keys, and an answer that breaks off, are errors.
#[tokio::test]
async fn cap_103_strange_facts_are_errors() {
    let twin = twin().await;
    let place = "/facts/us-gaap/NetIncomeLoss/units/USD/0";
    let put = |field: &str, value: Value| FaultAction::Put { pointer: format!("{place}/{field}"), value };
    for action in [
        FaultAction::Remove { pointer: place.into(), field: "filed".into() },
        FaultAction::Remove { pointer: String::new(), field: "facts".into() },
        put("val", json!("many")),
        put("end", json!("someday")),
        put("accn", Value::Null),
    ] {
        twin.fault(Fault::once("/api/xbrl/companyfacts/*", action.clone()));
        let payload = ask(&twin, "facts", json!({"cik": "320193"})).await;
        assert_eq!(code(&payload), Some(Code::ProviderProtocolError), "{action:?}");
    }
    twin.fault(Fault::once("/api/xbrl/companyfacts/*", FaultAction::Cut { bytes: 20_000 }));
    let cut = ask(&twin, "facts", json!({"cik": "320193"})).await;
    assert_eq!(code(&cut), Some(Code::ProviderNetworkError));
    let gone =
        ask(&twin, "facts", json!({"cik": "320193", "concept": "us-gaap:Nothing"})).await.error.unwrap();
    assert_eq!((gone.code, &gone.detail["kind"]), (Code::ProviderHttpError, &json!("not_found")));
}
