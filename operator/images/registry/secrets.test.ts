import { expect, test } from '@jest/globals';
import { readRegistrySecrets } from './secrets.ts';

const config = JSON.stringify({ auths: { 'registry.example': { username: 'bot', password: 'hunter2' } } });
const secrets: Record<string, { kind: string; uid: string }[]> = {
  'by-hand': [],
  own: [{ kind: 'Repository', uid: 'uid-1' }],
  others: [{ kind: 'Repository', uid: 'uid-2' }],
};
const client = {
  find: (_type: unknown, { name }: { name: string }) =>
    Promise.resolve(
      secrets[name] && {
        metadata: { name, ownerReferences: secrets[name].map((owner) => ({ ...owner, name: 'shop' })) },
        type: 'kubernetes.io/dockerconfigjson',
        data: { '.dockerconfigjson': Buffer.from(config).toString('base64') },
      },
    ),
} as never;

test.each([
  ['by-hand', []],
  ['own', []],
  ['others', ['registrySecrets: the Secret others is for the Repository shop alone, which owns it. Name another one']],
  ['gone', ['the registry Secret gone is not in group-g. Create it']],
])('reports the registry Secret %s', async (name, problems) => {
  const read = await readRegistrySecrets(client, 'group-g', [{ name, namer: { kind: 'Repository', uid: 'uid-1' } }]);
  expect(read.problems).toEqual(problems);
  expect([...read.auths.keys()]).toEqual(problems.length > 0 ? [] : ['registry.example']);
});
