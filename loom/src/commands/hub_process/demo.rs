//! `loom demo`: a hub of its own in a temporary home, a simulated Slack, a scripted Agent, and assertions.

mod check;
mod stage;
mod steps;

use serde_json::json;

use super::Demo;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use stage::Stage;

/// Runs the script; exit 0 only if every assertion held.
pub(crate) async fn run(args: Demo, cx: &mut Context<'_, '_>) -> Outcome {
    let started = tokio::time::Instant::now();
    let mut stage = Stage::open(args.seed).await?;
    let outcome = play(&mut stage, &args, cx).await;
    let kept = stage.close(args.keep).await;
    let checks = outcome?;
    let seconds = started.elapsed().as_secs_f64();
    if let Some(home) = kept {
        cx.out.note(&format!("the demo's home is kept: {}", home.display()))?;
    }
    let failed = checks.failed();
    if cx.out.is_human() {
        cx.out.line("")?;
        cx.out.line(&format!("{} assertions, {failed} failed, {seconds:.1} s", checks.count()))?;
    } else {
        cx.out.json(&json!({"assertions": checks.count(), "failed": failed, "seconds": seconds, "steps": checks.to_json()}))?;
    }
    if failed == 0 { Ok(()) } else { Err(Failure::Exit(1)) }
}

async fn play(stage: &mut Stage, args: &Demo, cx: &mut Context<'_, '_>) -> Outcome<check::Checks> {
    let mut checks = check::Checks::default();
    for step in 1..=steps::COUNT {
        let title = steps::title(step);
        checks.begin(title);
        if cx.out.is_human() {
            cx.out.heading(title)?;
        }
        steps::run(step, stage, &mut checks).await?;
        if cx.out.is_human() {
            for line in checks.lines_of_step() {
                cx.out.line(&line)?;
            }
        }
        cx.out.flush()?;
        if args.step {
            wait_for_key(cx)?;
        }
    }
    Ok(checks)
}

fn wait_for_key(cx: &mut Context<'_, '_>) -> Outcome {
    let mut key = [0_u8; 1];
    if cx.env.stdin.is_terminal {
        cx.out.note("press Enter for the next step")?;
        let _ = std::io::Read::read(&mut cx.env.stdin.reader, &mut key)?;
    }
    Ok(())
}
