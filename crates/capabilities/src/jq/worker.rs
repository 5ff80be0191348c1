//! The thread that a program lives on.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use loom_domain::{Code, Error, Result};
use serde_json::Value;
use tokio::sync::oneshot;

use super::{Failure, Program};

/// Reserved, and used only as far as a program is deep.
const STACK_BYTES: usize = 64 * 1024 * 1024;

type Answer = std::result::Result<Vec<Value>, Failure>;
type Order = (Value, oneshot::Sender<Answer>);

/// Compiles on a stack that is large enough, and forgets the result.
pub(super) fn check(text: &str) -> Result<()> {
    let text = text.to_owned();
    let thread = named().spawn(move || Program::compile(&text).map(|_| ())).map_err(Error::internal)?;
    match thread.join() {
        Ok(compiled) => compiled.map_err(refused),
        Err(_) => Err(refused("the program cannot be compiled".to_owned())),
    }
}

fn named() -> Builder {
    Builder::new().name("projection".to_owned()).stack_size(STACK_BYTES)
}

fn refused(why: String) -> Error {
    Error::new(Code::InvalidInput, why)
}

/// A program that projects items, one after the other. Its thread ends with it.
#[derive(Debug)]
pub(crate) struct Projector {
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl Projector {
    /// Compiles a program.
    pub(crate) async fn start(text: &str) -> Result<Self> {
        let (orders, inbox) = channel();
        let (told, ready) = oneshot::channel();
        let text = text.to_owned();
        let thread = named().spawn(move || work(&text, told, &inbox)).map_err(Error::internal)?;
        let projector = Projector { orders: Some(orders), thread: Some(thread) };
        match ready.await {
            Ok(compiled) => compiled.map_err(refused).map(|()| projector),
            Err(_) => Err(refused("the program cannot be compiled".to_owned())),
        }
    }

    /// Every result for one item.
    pub(crate) async fn project(&self, item: Value) -> Answer {
        let (answer, answered) = oneshot::channel();
        let sent = self.orders.as_ref().is_some_and(|orders| orders.send((item, answer)).is_ok());
        if !sent {
            return Err(Failure::Failed);
        }
        answered.await.unwrap_or(Err(Failure::Failed))
    }
}

impl Drop for Projector {
    fn drop(&mut self) {
        // Without orders the thread ends; an item that it still works on has at most its 200 ms.
        self.orders = None;
        self.thread = None;
    }
}

fn work(text: &str, told: oneshot::Sender<std::result::Result<(), String>>, inbox: &Receiver<Order>) {
    let program = match Program::compile(text) {
        Ok(program) => program,
        Err(why) => {
            let _ = told.send(Err(why));
            return;
        }
    };
    let _ = told.send(Ok(()));
    while let Ok((item, answer)) = inbox.recv() {
        let _ = answer.send(program.run(&item));
    }
}
