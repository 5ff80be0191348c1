// The people's side of the Slack stories: drives the twin over /twin/… and checks what people saw.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

const DEADLINE_MS = 40_000;

export const base = (process.argv[2] ?? process.env.TWIN_BASE ?? '').replace(/\/(api\/?)?$/, '');
assert.ok(base, 'usage: node <script> http://127.0.0.1:PORT (or TWIN_BASE)');
export const api = `${base}/api/`;
export const botToken = process.env.SLACK_BOT_TOKEN ?? 'xoxb-1-twin';
export const appToken = process.env.SLACK_APP_TOKEN ?? 'xapp-1-A0001-1-twin';
export const fileBytes = Buffer.from('hello from an official client\n');

export async function see(view) {
  const answer = await fetch(`${base}/twin/${view}`);
  assert.equal(answer.status, 200, `GET /twin/${view}`);
  return answer.json();
}

export async function act(name, fields = {}) {
  const answer = await fetch(`${base}/twin/${name}`, { method: 'POST', body: JSON.stringify(fields) });
  const body = await answer.json();
  assert.equal(answer.status, 200, `POST /twin/${name}: ${JSON.stringify(body)}`);
  return body;
}

export async function until(what, look) {
  const end = Date.now() + DEADLINE_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < end, `timed out: ${what}`);
    await new Promise((wake) => setTimeout(wake, 25));
  }
}

// One story for every Node client. `client` gives {name, web, start, stop, mentions}; `mentions` fills with
// the app_mention events it received and acknowledged.
export async function story(client) {
  const started = Date.now();
  const { web, mentions } = client;
  const before = await see('counters');
  const who = await web.auth.test();
  assert.equal(who.user_id, 'U0BOT');
  await client.start();
  await until('a socket', async () => (await see('counters')).sockets_open === before.sockets_open + 1);

  const asked = await act('post', { channel: 'C0GENERAL', user: 'U0ANN', text: 'first', mention: true });
  const first = await until('the first mention', () => mentions.find((event) => event.ts === asked.ts));
  assert.equal(first.text, '<@U0BOT> first');
  await answerWithEverything(web, asked);
  await checkThread(asked);
  await throttled(web, asked);
  await reconnects(client);
  await client.stop();
  const after = await until('all acknowledged', async () => {
    const counters = await see('counters');
    return counters.unacked.length === 0 && counters.sockets_open === before.sockets_open && counters;
  });
  const acks = after.acks.slice(before.acks.length);
  assert.ok(acks.every((ack) => ack.attempt === 0), 'every event was acknowledged on its first attempt');
  console.log(JSON.stringify({
    client: client.name, ok: true, ms: Date.now() - started, acks: acks.length,
    slowestAckMs: Math.max(...acks.map((ack) => ack.latency_ms)),
    sockets: after.sockets_total - before.sockets_total, reconnectMs: client.reconnectMs,
  }));
}

async function answerWithEverything(web, asked) {
  const metadata = { event_type: 'peer', event_payload: { part: 'p1' } };
  const sent = await web.chat.postMessage({ channel: asked.channel, text: 'answer', thread_ts: asked.ts, metadata });
  assert.equal(sent.message.thread_ts, asked.ts);
  await web.reactions.add({ channel: asked.channel, timestamp: asked.ts, name: 'eyes' });
  await assert.rejects(web.reactions.add({ channel: asked.channel, timestamp: asked.ts, name: 'eyes' }), /already_reacted/);
  await web.files.uploadV2({ channel_id: asked.channel, thread_ts: asked.ts, file: fileBytes, filename: 'a.txt' });
  await assert.rejects(web.chat.postMessage({ channel: 'C0NONE', text: 'x' }), /channel_not_found/);
  const plain = await web.conversations.replies({ channel: asked.channel, ts: asked.ts });
  assert.deepEqual(plain.messages[1].metadata.event_payload, {});
  const full = await web.conversations.replies({ channel: asked.channel, ts: asked.ts, include_all_metadata: true });
  assert.deepEqual(full.messages[1].metadata, metadata);
}

async function checkThread(asked) {
  const thread = await until('the thread with the file', async () => {
    const { messages } = await see('ledger');
    const thread = messages.filter((m) => m.ts === asked.ts || m.thread_ts === asked.ts);
    return thread.length === 3 && thread;
  });
  const [root, answer, file] = thread;
  assert.deepEqual(root.reactions, [{ name: 'eyes', users: ['U0BOT'] }]);
  assert.equal(answer.text, 'answer');
  assert.ok(answer.by_app && file.by_app);
  assert.equal(file.files[0].sha256, createHash('sha256').update(fileBytes).digest('hex'));
}

async function throttled(web, asked) {
  await act('fault', { method: 'chat.postMessage', action: { kind: 'rate_limited', retry_after_secs: 1 } });
  const from = Date.now();
  const sent = await web.chat.postMessage({ channel: asked.channel, text: 'after 429', thread_ts: asked.ts });
  assert.ok(Date.now() - from >= 1000, 'the client honoured Retry-After');
  const { messages } = await see('ledger');
  assert.equal(messages.filter((m) => m.text === 'after 429' && m.thread_ts === asked.ts).length, 1);
  assert.ok(messages.some((m) => m.ts === sent.ts));
}

async function reconnects(client) {
  const { sockets_total: total } = await see('counters');
  const from = Date.now();
  await act('disconnect', { reason: 'refresh_requested' });
  await until('a new socket', async () => (await see('counters')).sockets_total > total);
  client.reconnectMs = Date.now() - from;
  const asked = await act('post', { channel: 'C0GENERAL', user: 'U0BOB', text: 'second', mention: true });
  await until('the second mention', () => client.mentions.find((event) => event.ts === asked.ts));
}
