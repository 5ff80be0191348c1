//! The store's contract, proven on SQLite and on PostgreSQL by the same tests.

mod admin;
mod cluster;
mod desk;
mod durability;
mod flat;
mod gates;
mod inbound;
mod integration;
mod naming;
mod pending;
mod queue;
mod schedules;
mod sends;
mod webhooks;
mod whole;
mod world;

use world::World;

/// Runs a test on SQLite, then on PostgreSQL.
#[expect(clippy::needless_pass_by_value, reason = "each test is given as a closure")]
fn both(test: impl AsyncFn(&World)) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for world in [World::sqlite(), World::postgres()] {
        runtime.block_on(async {
            world.furnish().await;
            test(&world).await;
            world.store().verify_audit().await.unwrap();
        });
    }
}
