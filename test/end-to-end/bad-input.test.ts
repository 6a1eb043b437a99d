import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RestClient } from '../client/rest-client.ts';
import { startHarness, type Harness } from './harness.ts';

let harness: Harness;
let repository: string;

beforeAll(async () => {
  harness = await startHarness('bad');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
}, 60_000);

afterAll(() => harness.remove(), 180_000);

describe('requests', () => {
  test.each([
    ['GET', () => `/api/repository/${repository}`, undefined, 400],
    ['GET', () => `/api/repository/${repository}`, 'wrong', 401],
  ])('%s without the right token', async (method, path, token, status) => {
    const stranger = new RestClient(harness.connection.apiUrl);
    stranger.token = token;
    const answer = await stranger.send(method, path());
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toEqual({ error: expect.any(String) });
  });

  test('a member of another group sees exactly what does not exist', async () => {
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
  ])('spawn of %j names what is wrong', async (body, path) => {
    const answer = await harness.client.send('POST', `/api/repository/${repository}/spawn`, body);
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.text)).toMatchObject({ details: [{ path, message: expect.any(String) }] });
  });

  test.each([
    ['a repository that is not there', 'nothing', /no Git repository at this address/],
    ['a host that does not resolve', undefined, /could not be resolved|did not answer/],
  ])(
    '%s is refused, and nothing is left behind',
    async (_what, name, words) => {
      const origin =
        name === undefined ? 'http://no-such-host.example.invalid/x.git' : `${harness.connection.gitUrl}/${name}.git`;
      const body = { name: 'gone', type: 'generic', params: { origin } };
      const answer = await harness.client.send('POST', `/api/group/${harness.group}`, body);
      // A host that may come back is not refused; the Repository says what is wrong.
      if (answer.status === 422) {
        expect(answer.text).toMatch(words);
        expect((await harness.client.send('GET', `/api/repository/${harness.group}.gone`)).status).toBe(404);
        return;
      }
      expect(answer.status).toBe(201);
      const message = ['get', 'repositories.coppice.dev', 'gone', '--namespace', `group-${harness.group}`];
      const path = '--output=jsonpath={.status.conditions[?(@.type=="Ready")].message}';
      expect(await harness.kubectl([...message, path])).toMatch(words);
      await harness.kubectl(['delete', ...message.slice(1)]);
    },
    60_000,
  );
});
