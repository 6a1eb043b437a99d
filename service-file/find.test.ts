import { expect, test } from '@jest/globals';
import { findServiceFile } from './find.ts';

test.each([
  [['docker-compose.yml', 'compose.yaml', 'coppice.yaml', 'Dockerfile'], 'compose coppice.yaml'],
  [['docker-compose.yml', 'compose.yaml'], 'compose compose.yaml'],
  [['docker-compose.yml', 'Dockerfile'], 'compose docker-compose.yml'],
  [['README.md', 'Dockerfile'], 'dockerfile Dockerfile'],
  [['compose.yml', 'Dockerfile'], 'misnamed'],
  [['Compose.yaml'], 'misnamed'],
  [['compose.yml', 'compose.yaml'], 'compose compose.yaml'],
  [['README.md', 'dockerfile'], 'missing'],
  [[], 'missing'],
])('finds in %j: %s', (names, expected) => {
  const found = findServiceFile(names);
  expect('name' in found ? `${found.kind} ${found.name}` : found.kind).toBe(expected);
});
