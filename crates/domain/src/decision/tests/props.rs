//! Properties of the decision table.

use proptest::prelude::*;

use super::*;

fn pick<T: Clone + std::fmt::Debug + 'static>(all: &[T]) -> impl Strategy<Value = T> + use<T> {
    proptest::sample::select(all.to_vec())
}

prop_compose! {
    fn any_event()(
        kind in pick(EventKind::ALL),
        ids in ("[ A]{0,2}", "(C1|C2|)", proptest::option::of("1|2| ")),
        types in (proptest::option::of(pick(ConversationType::ALL)), proptest::option::of(pick(ConversationType::ALL))),
        sender in proptest::option::of(("(U1|U2|UBOT|)", pick(SenderKind::ALL))),
        mention in proptest::option::of("(UBOT|U2|@docs)"),
        words in ("(hi|)", any::<bool>(), any::<bool>(), -100_000_000i64..100_000_000),
    ) -> InboundEvent {
        let mut event = fixtures::event();
        event.kind = kind;
        event.event_id = ids.0;
        event.conversation.conversation_id = ids.1;
        event.conversation.message_id = ids.2;
        event.conversation.conversation_type = types.0;
        event.parent_type = types.1;
        event.sender = sender.map(|(external_id, kind)| Sender { external_id, display_name: None, kind });
        event.mentions = mention.map(|external_id| Mention { external_id, display_name: None }).into_iter().collect();
        event.content.text = words.0;
        event.dispatch = words.1;
        event.bare_mention = words.2;
        event.occurred_at = Some(NOW.plus_ms(words.3));
        event
    }
}

prop_compose! {
    fn any_case()(
        event in any_event(),
        on in any::<[bool; 6]>(),
        policies in (pick(TriggerPolicy::ALL), pick(DmPolicy::ALL), proptest::option::of(pick(TriggerPolicy::ALL))),
        lists in (any::<[bool; 5]>(), 0u8..3),
        membership in proptest::option::of((pick(ConversationType::ALL), any::<[bool; 3]>())),
        known in 0u8..4,
        counts in (0u32..5, 0u32..60, 0u32..25, 0u32..2_100),
    ) -> Case {
        let mut case = Case::channel();
        case.event = event;
        case.connection.enabled = on[0] || on[1];
        case.connection.archived_at = (on[2] && on[3] && on[4]).then_some(NOW);
        case.address.enabled = on[1] || on[2];
        case.agent_archived = on[3] && on[4] && on[5];
        case.address.trigger_policy = policies.0;
        case.address.dm_policy = policies.1;
        let listed = |set: bool| if set { vec!["U1".to_owned(), "C1".to_owned()] } else { vec![] };
        case.address.allow_actors = listed(lists.0[0]);
        case.address.allow_conversations = listed(lists.0[1]);
        case.address.block_actors = listed(lists.0[2] && lists.0[3]);
        case.address.allow_bots = listed(lists.0[4]);
        case.membership = membership.map(|(kind, flags)| Membership {
            enabled: flags[0],
            first_enabled_at: flags[1].then_some(Timestamp(1)),
            archived_at: (flags[2] && !flags[0]).then_some(NOW),
            trigger_policy: policies.2,
            ..fixtures::membership(kind)
        });
        case.known = match known {
            0 => Known::Event,
            1 => Known::Message { reason: R::TriggerNotMet, evidence: Evidence::default() },
            _ => Known::New,
        };
        case.counters.pending = PendingCounts { of_sender: counts.0, senders: counts.1, of_address: counts.1 };
        case.counters.sender_last_minute = counts.2;
        case.counters.open_in_conversation = counts.3;
        case.counters.bots.consecutive = counts.0;
        case
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// P-4: every input ends in exactly one decision, and the explanation's last row is that decision.
    #[test]
    fn msg_126_decisions_are_total_and_explainable(case in any_case()) {
        let judged = decide(&case.input());
        let last = judged.trace.last().unwrap();
        prop_assert_eq!(last.step, judged.step);
        prop_assert_eq!(last.result, judged.reason.as_str());
        let ends = judged.trace.iter().filter(|row| row.result.parse::<R>().is_ok()).count();
        prop_assert_eq!(ends, 1);
        let fits = match judged.decision {
            Decision::Queued => judged.reason == R::Accepted,
            Decision::Pending => judged.reason == R::AccessPending,
            Decision::Duplicate => judged.reason == R::Duplicate,
            Decision::Fact => judged.reason == R::Fact,
            Decision::Refused => !matches!(judged.reason, R::Accepted | R::AccessPending | R::Duplicate | R::Fact),
        };
        prop_assert!(fits);
        prop_assert_eq!(decide(&case.input()), judged);
    }

    /// ATK-17: whatever else holds, nobody off the lists and nobody blocked gets in.
    #[test]
    fn atk_17_lists_hold_for_every_input(case in any_case()) {
        let judged = decide(&case.input());
        if matches!(judged.decision, Decision::Queued | Decision::Pending) {
            let sender = &case.event.sender.as_ref().unwrap().external_id;
            let on = |list: &[String]| list.iter().any(|entry| entry == sender);
            prop_assert!(!sender.is_empty());
            prop_assert!(case.address.allow_actors.is_empty() || on(&case.address.allow_actors));
            prop_assert!(!on(&case.address.block_actors));
        }
    }

    /// What is accepted now passes the check at claim when nothing changed.
    #[test]
    fn accepted_items_pass_the_recheck(case in any_case()) {
        let judged = decide(&case.input());
        if judged.decision == Decision::Queued {
            prop_assert_eq!(case.recheck(), Recheck::Ok);
        }
    }
}
