// Bolt for JavaScript over Socket Mode against the twin.
import bolt from '@slack/bolt';
import { api, appToken, botToken, story } from './slack_story.mjs';

const mentions = [];
const clientOptions = { slackApiUrl: api };
const receiver = new bolt.SocketModeReceiver({ appToken, installerOptions: { clientOptions } });
const app = new bolt.App({ token: botToken, receiver, clientOptions });
app.event('app_mention', async ({ event }) => {
  mentions.push(event);
});
app.message(async () => {});
app.event('reaction_added', async () => {});

await story({ name: 'slack-bolt', web: app.client, mentions, start: () => app.start(), stop: () => app.stop() });
process.exit(0);
