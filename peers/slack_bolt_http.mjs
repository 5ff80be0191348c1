// Bolt for JavaScript as an HTTP receiver: its verifier judges the signatures the twin makes.
import assert from 'node:assert/strict';
import bolt from '@slack/bolt';
import { act, api, botToken, see } from './slack_story.mjs';

const { signing_secret: signingSecret, team, app: appId } = await see('world');
const app = new bolt.App({ token: botToken, signingSecret, clientOptions: { slackApiUrl: api } });
const mentions = [];
app.event('app_mention', async ({ event }) => {
  mentions.push(event.text);
});
const server = await app.start({ port: 0, host: '127.0.0.1' });
const url = `http://127.0.0.1:${server.address().port}/slack/events`;

const payload = {
  token: 'x', team_id: team, api_app_id: appId, type: 'event_callback', event_id: 'Ev1', event_time: 1,
  authorizations: [{ team_id: team, user_id: 'U0BOT', is_bot: true, is_enterprise_install: false }],
  event: { type: 'app_mention', user: 'U0ANN', text: '<@U0BOT> signed', ts: '1.000100', channel: 'C0GENERAL' },
};
const status = async (fields) => (await act('deliver', { url, payload, ...fields })).status;

const challenge = await act('deliver', { url, payload: { type: 'url_verification', challenge: 'c-1' } });
assert.deepEqual([challenge.status, JSON.parse(challenge.body).challenge], [200, 'c-1']);
assert.equal(await status({}), 200);
assert.equal(await status({ tamper: true }), 401);
assert.equal(await status({ age_secs: 400 }), 401);
assert.deepEqual(mentions, ['<@U0BOT> signed']);
await app.stop();
console.log(JSON.stringify({ client: 'slack-bolt-http', ok: true, urlVerification: 200, good: 200, tampered: 401, stale: 401 }));
process.exit(0);
