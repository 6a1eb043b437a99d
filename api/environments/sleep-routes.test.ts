import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { ENVIRONMENT, type Environment, type EnvironmentStatus } from '../../crds/environment.ts';
import { requestAnnotation } from '../../crds/requests.ts';
import { sampleActivation } from '../../crds/testing/activation.ts';
import { TestApi } from '../testing/test-api.ts';

const path = '/api/environment/acme.shop-main';
const since = '2026-01-01T00:00:00Z';
const build = { number: 1, result: 'succeeded', startedAt: since, finishedAt: since } as const;
const built: EnvironmentStatus = { state: 'built', activation: sampleActivation(), build, deployed: build };
const asleep = { asleep: true, since, reason: 'Idle' } as const;

let api: TestApi;
let token: string;

beforeEach(async () => {
  ({ api, token } = await TestApi.withShop());
});

const asAlice = (sent: request.Test) => sent.set('x-service-token', token);
const post = (action: string, body: object = {}) => asAlice(request(api.app).post(`${path}${action}`)).send(body);
const live = () => api.cluster.all<Environment>(ENVIRONMENT)[0];

describe('POST sleep and wake', () => {
  test('request it, and show it at once', async () => {
    api.addEnvironment('acme', 'shop-main', 'shop', built);
    expect((await post('/sleep').expect(202)).body).toMatchObject({ asleep: true, status: 'built' });
    expect(Object.keys(live()?.metadata.annotations ?? {})).toEqual([requestAnnotation('sleep')]);
    expect((await post('/wake').expect(202)).body).not.toHaveProperty('asleep');
  });

  test.each(['/sleep', '/wake'])('%s is refused where nothing is deployed', async (action) => {
    api.addEnvironment('acme', 'shop-main', 'shop', { ...built, deployed: undefined });
    expect((await post(action).expect(409)).body).toMatchObject({
      error: expect.stringContaining('no build') as unknown,
    });
  });
});

test('shows a sleeping environment as inactive, with the reason', async () => {
  api.addEnvironment('acme', 'shop-main', 'shop', {
    ...built,
    sleep: asleep,
    services: [{ name: 'web', ready: false }],
  });
  const answer = await asAlice(request(api.app).get(path)).expect(200);
  expect(answer.body).toMatchObject({ asleep: true, health: 'inactive', sleep: { since: 1767225600, reason: 'Idle' } });
});

describe('POST settings', () => {
  test('changes the sent settings, and null removes one', async () => {
    api.addEnvironment('acme', 'shop-main', 'shop', built);
    const workingHours = { from: '08:00', to: '18:00', timeZone: 'Europe/Berlin' };
    const answer = await post('/settings', { sleep: { afterSeconds: '600', workingHours, wakeOn: 'login' } }).expect(
      200,
    );
    const days = ['mon', 'tue', 'wed', 'thu', 'fri'];
    const sleep = { afterSeconds: 600, workingHours: { ...workingHours, days }, wakeOn: 'login' };
    expect(answer.body).toMatchObject({ settings: { sleep } });
    await post('/settings', { sleep: { workingHours: null, wakeOnCommit: true } }).expect(200);
    expect(live()?.spec.sleep).toEqual({ afterSeconds: 600, wakeOn: 'login', wakeOnCommit: true });
  });

  test.each([
    [{}],
    [{ sleep: { afterSeconds: -1 } }],
    [{ sleep: { wakeOn: 'always' } }],
    [{ sleep: { workingHours: { from: '8', to: '18:00' } } }],
    [{ sleep: { workingHours: { from: '08:00', to: '18:00', days: [] } } }],
    [{ sleep: { workingHours: { from: '08:00', to: '18:00', timeZone: 'Mars/Base' } } }],
  ])('answers %j with 422', async (body) => {
    api.addEnvironment('acme', 'shop-main', 'shop', built);
    await post('/settings', body).expect(422);
  });
});
