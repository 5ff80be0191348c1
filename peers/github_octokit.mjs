// The official Octokit REST client against the twin: lists along their links, what stands behind a pull request,
// GraphQL, conditional requests, and the throttling plugin at both limits.
import assert from 'node:assert/strict';
import { Octokit } from '@octokit/rest';
import { throttling } from '@octokit/plugin-throttling';

const [base, graphqlBase, expectedOpen] = process.argv.slice(2);
assert.ok(expectedOpen, 'usage: node github_octokit.mjs BASE GRAPHQL_BASE OPEN_PULLS');
const token = process.env.GITHUB_TOKEN ?? 'ghp_twin_0000000000000000000000000000';
const repo = { owner: 'acme', repo: 'tool' };
const limits = [];
const note = (kind) => (retryAfter, options) => {
  limits.push({ kind, retryAfter, url: options.url });
  return options.request.retryCount < 1;
};
const options = {
  auth: token,
  baseUrl: base,
  throttle: { onRateLimit: note('primary'), onSecondaryRateLimit: note('secondary'), fallbackSecondaryRateRetryAfter: 1 },
};
const octokit = new (Octokit.plugin(throttling))(options);

const me = await octokit.rest.users.getAuthenticated();
assert.equal(me.data.login, 'ana');

const pages = [];
const list = { ...repo, state: 'open', sort: 'created', direction: 'asc', per_page: 100 };
for await (const page of octokit.paginate.iterator(octokit.rest.pulls.list, list)) pages.push(page.data);
const pulls = pages.flat();
assert.equal(pulls.length, Number(expectedOpen));
assert.equal(new Set(pulls.map((pull) => pull.number)).size, pulls.length);

const { number, head } = pulls[0];
const one = await octokit.rest.pulls.get({ ...repo, pull_number: number });
assert.equal(one.data.head.sha, head.sha);
const reviews = await octokit.paginate(octokit.rest.pulls.listReviews, { ...repo, pull_number: number });
const files = await octokit.paginate(octokit.rest.pulls.listFiles, { ...repo, pull_number: number });
const comments = await octokit.paginate(octokit.rest.pulls.listReviewComments, { ...repo, pull_number: number });
assert.ok(files.length > 0);
// The pagination plugin unwraps {total_count, check_runs}; it refuses a shape it does not know.
const runs = await octokit.paginate(octokit.rest.checks.listForRef, { ...repo, ref: head.sha, filter: 'latest' });
const status = await octokit.rest.repos.getCombinedStatusForRef({ ...repo, ref: head.sha });
assert.equal(status.data.statuses.length, status.data.total_count);

const issue = process.env.ISSUE ? Number(process.env.ISSUE) : 1001;
const said = await octokit.paginate(octokit.rest.issues.listComments, { ...repo, issue_number: issue, per_page: 100 });
assert.equal(said.length, 1000);

const query = `query($owner: String!, $repo: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $repo) { pullRequest(number: $number) {
    reviewThreads(first: 50, after: $after) { pageInfo { hasNextPage endCursor } nodes { id isResolved } } } } }`;
const graphql = octokit.graphql.defaults({ baseUrl: graphqlBase });
const threads = await graphql(query, { ...repo, number });
assert.ok(Array.isArray(threads.repository.pullRequest.reviewThreads.nodes));
await assert.rejects(graphql(query, { ...repo, number: 99_999 }), (error) => error.errors[0].type === 'NOT_FOUND');

const etag = one.headers.etag;
const again = octokit.rest.pulls.get({ ...repo, pull_number: number, headers: { 'if-none-match': etag } });
await assert.rejects(again, (error) => error.status === 304);
const lost = octokit.rest.pulls.get({ ...repo, pull_number: 99_999 });
await assert.rejects(lost, (error) => error.status === 404 && /Not Found/.test(error.message));

const origin = new URL(base).origin;
const fault = async (path, action) => {
  const answer = await fetch(`${origin}/twin/fault`, { method: 'POST', body: JSON.stringify({ path, action }) });
  assert.equal(answer.status, 200);
};
const path = '/repos/acme/tool/issues/1';
for (const [kind, action] of [
  ['secondary', { kind: 'secondary_limit', status: 403, retry_after_secs: 1 }],
  ['secondary', { kind: 'secondary_limit', status: 429, retry_after_secs: null }],
  ['primary', { kind: 'primary_limit', status: 403, reset_secs: 1 }],
]) {
  await fault(path, action);
  const before = limits.length;
  await octokit.rest.issues.get({ ...repo, issue_number: 1 });
  assert.equal(limits.length, before + 1, `the plugin sees a ${kind} limit`);
  assert.equal(limits[before].kind, kind);
}
console.log(JSON.stringify({
  client: 'octokit', ok: true, pulls: pulls.length, pages: pages.length, reviews: reviews.length,
  comments: comments.length, runs: runs.length, limits: limits.length,
}));
