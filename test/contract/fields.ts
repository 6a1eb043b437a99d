import { expect } from '@jest/globals';
import type { FieldRow } from './rows.ts';
import type { Seen } from './world.ts';

const text = expect.any(String);
const branch = { name: 'main', type: 'branch' };
const now = () => Date.now() / 1000;

function lastHour(value: unknown): void {
  expect(Number.isInteger(value)).toBe(true);
  expect(value).toBeGreaterThan(now() - 3600);
  expect(value).toBeLessThan(now() + 60);
}

/** Returns the only environment of the repository, whose ID follows from its `rid`. */
const summaryOf = ({ repository, environment }: Seen) =>
  (repository['environments'] as { id: string }[]).find(({ id }) => id === environment['id']);
const settings = ({ repositorySettings }: Seen) => expect(repositorySettings);
const variable = ({ repositorySettings }: Seen) => expect((repositorySettings['variables'] as unknown[])[0]);
const reusable = ({ repository }: Seen) => expect((repository['reusableEnvironments'] as unknown[])[0]);
const apiToken = ({ user }: Seen) => expect((user['apiTokens'] as unknown[])[0]);
const environment = ({ environment }: Seen) => expect(environment);
const repository = ({ repository }: Seen) => expect(repository);

/** Cases of section 2, one for each field. */
export const FIELD_CASES: Record<FieldRow, (seen: Seen) => void> = {
  'repository: id': (seen) => repository(seen).toMatchObject({ id: `${seen.group}.seen` }),
  'repository: gid': (seen) => repository(seen).toMatchObject({ gid: seen.group }),
  'repository: name': (seen) => repository(seen).toMatchObject({ name: 'seen' }),
  'repository: url': (seen) => repository(seen).toMatchObject({ url: expect.stringMatching(/^http.*page\.git$/) }),
  'repository: type': (seen) => repository(seen).toMatchObject({ type: 'generic' }),
  'repository: size': (seen) => repository(seen).toMatchObject({ size: seen.environment['size'] }),
  'repository: details': (seen) => repository(seen).toMatchObject({ details: expect.any(Object) }),
  'repository: details.url': (seen) => repository(seen).toMatchObject({ details: { url: seen.repository['url'] } }),
  'repository: environments': (seen) => expect(summaryOf(seen)).toBeDefined(),
  'repository: reusableEnvironments': (seen) => expect(seen.repository['reusableEnvironments']).toHaveLength(1),
  'environment summary: id': (seen) => expect(summaryOf(seen)).toMatchObject({ id: seen.environment['id'] }),
  'environment summary: name': (seen) => expect(summaryOf(seen)).toMatchObject({ name: 'The page' }),
  'environment summary: gitRef': (seen) => expect(summaryOf(seen)).toMatchObject({ gitRef: branch }),
  'reusable environment: label': (seen) => reusable(seen).toMatchObject({ label: 'base' }),
  'reusable environment: buildAt': (seen) =>
    reusable(seen).toMatchObject({ buildAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/) }),
  'reusable environment: from': (seen) => reusable(seen).toMatchObject({ from: { name: text } }),
  'repository settings: variables': (seen) => expect(seen.repositorySettings['variables']).toHaveLength(1),
  'repository settings: sshPublicKey': (seen) => settings(seen).toMatchObject({ sshPublicKey: text }),
  'repository settings: environmentTTL': (seen) => settings(seen).toMatchObject({ environmentTTL: 86_400 }),
  'repository settings: scheduledRebuild.mode': (seen) =>
    settings(seen).toMatchObject({ scheduledRebuild: { mode: 'notclones' } }),
  'repository settings: scheduledRebuild.hour': (seen) =>
    settings(seen).toMatchObject({ scheduledRebuild: { hour: '03:30' } }),
  'repository settings: serviceFile.mode': (seen) => settings(seen).toMatchObject({ serviceFile: { mode: 'both' } }),
  'repository settings: serviceFile.serviceFile': (seen) =>
    settings(seen).toMatchObject({ serviceFile: { serviceFile: Buffer.from('services: {}\n').toString('base64') } }),
  'variable: name': (seen) => variable(seen).toMatchObject({ name: 'WORD' }),
  'variable: value': (seen) => variable(seen).toMatchObject({ value: 'swordfish' }),
  'variable: visibility': (seen) => variable(seen).toMatchObject({ visibility: 'buildtime' }),
  'environment: id': (seen) => environment(seen).toMatchObject({ id: expect.stringContaining(`${seen.group}.seen`) }),
  'environment: rid': (seen) => environment(seen).toMatchObject({ rid: seen.repository['id'] }),
  'environment: gitRef': (seen) => environment(seen).toMatchObject({ gitRef: branch }),
  'environment: status': (seen) => environment(seen).toMatchObject({ status: 'built' }),
  'environment: weburl': (seen) => environment(seen).toMatchObject({ weburl: expect.stringMatching(/^https?:\/\//) }),
  'environment: aliases': (seen) =>
    environment(seen).toMatchObject({ aliases: { admin: expect.stringMatching(/^https?:\/\//) } }),
  'environment: buildTime': (seen) => {
    expect(Number.isInteger(seen.environment['buildTime'])).toBe(true);
    expect(seen.environment['buildTime']).toBeLessThan(600);
  },
  'environment: createdAt': (seen) => lastHour(seen.environment['createdAt']),
  'environment: builtAt / buildAt': (seen) => {
    lastHour(seen.environment['builtAt']);
    expect(seen.environment['buildAt']).toBe(seen.environment['builtAt']);
  },
  'environment: ttl': (seen) => environment(seen).toMatchObject({ ttl: 86_400 }),
  'environment: size': (seen) => expect(seen.environment['size']).toBeGreaterThan(0),
  'environment: services': (seen) =>
    environment(seen).toMatchObject({ services: [{ id: `${seen.environment['id'] as string}.web`, name: 'web' }] }),
  'group: listing item': (seen) => expect(seen.groups).toContainEqual({ id: seen.group, name: seen.group }),
  'group: detail': (seen) => {
    expect(seen.detail).toMatchObject({ name: seen.group });
    expect(seen.detail['repositories']).toContainEqual(expect.objectContaining({ id: seen.repository['id'] }));
  },
  'group: settings': (seen) =>
    expect(seen.groupSettings).toMatchObject({
      variables: expect.arrayContaining([{ name: 'GREETING', value: 'hello', visibility: 'always' }]),
      members: expect.arrayContaining([expect.objectContaining({ id: seen.email, name: seen.email })]),
    }),
  'user: email': (seen) => expect(seen.user).toMatchObject({ email: seen.email }),
  'user: apiTokens': (seen) => expect(seen.user['apiTokens']).not.toHaveLength(0),
  'API token: Name': (seen) => apiToken(seen).toMatchObject({ Name: 'robot' }),
  'API token: ExpiresOn': (seen) =>
    apiToken(seen).toMatchObject({ ExpiresOn: expect.stringMatching(/^2100-01-02T03:04:05/) }),
  'API token: ReadOnly': (seen) => apiToken(seen).toMatchObject({ ReadOnly: 'true' }),
};
