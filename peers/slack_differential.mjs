// One answered mention by the official Slack Node SDK, call by call what Loom does for the same mention.
import assert from 'node:assert/strict';
import { SocketModeClient } from '@slack/socket-mode';
import { WebClient } from '@slack/web-api';
import { act, api, appToken, botToken, see, until } from './slack_story.mjs';

const [, , , question, answer, filename, content] = process.argv;
assert.ok(content, 'usage: node <script> http://127.0.0.1:PORT QUESTION ANSWER FILENAME CONTENT');

const mentions = [];
const web = new WebClient(botToken, { slackApiUrl: api });
const socket = new SocketModeClient({ appToken, clientOptions: { slackApiUrl: api } });
socket.on('app_mention', async ({ ack, event }) => {
  await ack();
  mentions.push(event);
});
socket.on('message', ({ ack }) => ack());
socket.on('reaction_added', ({ ack }) => ack());
socket.on('reaction_removed', ({ ack }) => ack());

await socket.start();
await until('a socket', async () => (await see('counters')).sockets_open === 1);
await act('post', { channel: 'C0GENERAL', user: 'U0ANN', text: question, mention: true });
const { channel, ts } = await until('the mention', () => mentions[0]);
await web.reactions.add({ channel, timestamp: ts, name: 'eyes' });
await web.chat.postMessage({ channel, thread_ts: ts, text: answer });
await web.files.uploadV2({ channel_id: channel, thread_ts: ts, file: Buffer.from(content), filename });
await web.reactions.remove({ channel, timestamp: ts, name: 'eyes' });
await socket.disconnect();
process.exit(0);
