// The official Slack Node SDK (socket-mode and web-api) against the twin.
import { SocketModeClient } from '@slack/socket-mode';
import { WebClient } from '@slack/web-api';
import { api, appToken, botToken, story } from './slack_story.mjs';

const mentions = [];
const web = new WebClient(botToken, { slackApiUrl: api });
const socket = new SocketModeClient({ appToken, clientOptions: { slackApiUrl: api } });
socket.on('app_mention', async ({ ack, event }) => {
  await ack();
  mentions.push(event);
});
socket.on('message', ({ ack }) => ack());
socket.on('reaction_added', ({ ack }) => ack());

await story({ name: 'slack-node', web, mentions, start: () => socket.start(), stop: () => socket.disconnect() });
process.exit(0);
