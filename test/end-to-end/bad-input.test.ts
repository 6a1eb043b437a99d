import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RestClient } from '../client/rest-client.ts';
import { startHarness, type Harness } from './harness.ts';

let harness: Harness;
let repository: string;

beforeAll(async () => {
  harness = await startHarness('bad');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
}, 60_000);

afterAll(() => harness.remove(), 60_000);

describe('requests', () => {
  test.each([
    ['GET', () => `/api/repository/${repository}`, undefined, 400],
    ['GET', () => `/api/repository/${repository}`, 'wrong', 401],
  ])('are refused: %s without the right token', async (method, path, token, status) => {
    const stranger = new RestClient(harness.connection.apiUrl);
    stranger.token = token;
    const answer = await stranger.send(method, path());
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toEqual({ error: expect.any(String) });
  });

  test('of a member of another group are answered like those for missing resources', async () => {
    const other = await harness.newUser();
    const answers = await Promise.all(
      [repository, `${harness.group}.nothing`, 'nowhere.nothing', 'not an id'].map((id) =>
        other.send('GET', `/api/repository/${encodeURIComponent(id)}`),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
  });

  test.each([
    [{}, 'gitRef'],
    [{ gitRef: { name: 'main', type: 'commit' } }, 'gitRef.type'],
    [{ gitRef: { name: '--upload-pack=x', type: 'branch' } }, 'gitRef.name'],
    [{ gitRef: { name: 'main', type: 'branch' }, ttl: -1 }, 'ttl'],
  ])('to spawn %j name the error', async (body, path) => {
    const answer = await harness.client.send('POST', `/api/repository/${repository}/spawn`, body);
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.text)).toMatchObject({ details: [{ path, message: expect.any(String) }] });
  });

  test('for a missing repository are refused, and leave nothing behind', async () => {
    const params = { origin: `${harness.connection.gitUrl}/nothing.git` };
    const body = { name: 'gone', type: 'generic', params };
    const answer = await harness.client.send('POST', `/api/group/${harness.group}`, body);
    expect(answer.status).toBe(422);
    expect(answer.text).toMatch(/no Git repository at this address/);
    expect((await harness.client.send('GET', `/api/repository/${harness.group}.gone`)).status).toBe(404);
  }, 30_000);

  test('for a host that does not respond within 10 s report it, and leave nothing behind', async () => {
    const body = { name: 'away', type: 'generic', params: { origin: 'http://no-such-host.example.invalid/x.git' } };
    const answer = await harness.client.send('POST', `/api/group/${harness.group}`, body);
    expect(answer.status).toBe(422);
    expect(answer.text).toMatch(/could not be resolved/);
    expect((await harness.client.send('GET', `/api/repository/${harness.group}.away`)).status).toBe(404);
  }, 30_000);
});
