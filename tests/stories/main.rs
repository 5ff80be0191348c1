//! Black-box stories against the real binary, on loopback, with simulated platforms and real peers.

#[cfg(test)]
mod harness;

#[cfg(test)]
mod branch;
#[cfg(test)]
mod canary;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod codex;
#[cfg(test)]
mod connectors;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod delivery;
#[cfg(test)]
mod disk;
#[cfg(test)]
mod feishu;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod guards;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod inbound;
#[cfg(test)]
mod multi_agent;
#[cfg(test)]
mod newcomer;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod offline;
#[cfg(test)]
mod peers_codex;
#[cfg(test)]
mod peers_differential;
#[cfg(test)]
mod peers_github;
#[cfg(test)]
mod peers_slack;
#[cfg(test)]
mod report;
#[cfg(test)]
mod runtimes;
#[cfg(test)]
mod schedules;
#[cfg(test)]
mod status;
#[cfg(test)]
mod supervision;
#[cfg(test)]
mod turns;
