mod outbound;
mod outcomes;
mod reads;
mod stage;
