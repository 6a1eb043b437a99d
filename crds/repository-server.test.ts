import { expect, test } from '@jest/globals';
import { repositoryServer } from './repository-server.ts';

const owned = { owner: 'acme', repo: 'shop' };

test.each<[Parameters<typeof repositoryServer>[0], string]>([
  [{ type: 'generic', generic: { origin: 'HTTPS://Git.example:443/a/shop.git' } }, 'https://git.example'],
  [{ type: 'generic', generic: { origin: 'http://git.example:3000/shop' } }, 'http://git.example:3000'],
  [{ type: 'generic', generic: { origin: 'git@git.example:shop' } }, 'git@git.example:shop'],
  [{ type: 'ownerhost', ownerhost: owned }, 'the configured ownerhost'],
  [{ type: 'ownerhost', ownerhost: { ...owned, instanceUrl: 'https://own.example/x' } }, 'https://own.example'],
  [
    { type: 'groupedhost', groupedhost: { group: 'a', project: 'b', instanceUrl: 'https://lab.example' } },
    'https://lab.example',
  ],
  [
    { type: 'cloudorg', cloudorg: { orgUrl: 'https://dev.azure.com/acme', project: 'p', repoName: 'r' } },
    'https://dev.azure.com',
  ],
  [{ type: 'workspacehost', workspacehost: { workspace: 'a', repository: 'b' } }, 'the configured workspacehost'],
])('returns the server of %j: %s', (spec, server) => {
  expect(repositoryServer(spec)).toBe(server);
});
