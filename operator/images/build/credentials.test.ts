import { expect, it } from '@jest/globals';
import { sourceSecret, withOwnRegistry } from './credentials.ts';

const own = { username: 'coppice', password: 'own' };
const other = { username: 'robot', password: 'other' };

it('assigns the credentials to the host, because Docker knows no paths', () => {
  expect([...withOwnRegistry('ghcr.io/acme/coppice', own, new Map())]).toEqual([['ghcr.io', own]]);
});

it.each(['ghcr.io', 'ghcr.io:443'])("does not let a group's Secret for %s replace them", (host) => {
  expect([...withOwnRegistry('GHCR.io/acme', own, new Map([[host, other]]))]).toEqual([['GHCR.io', own]]);
});

it("keeps the group's credentials for other registries", () => {
  expect(withOwnRegistry('ghcr.io/acme', own, new Map([['docker.io', other]])).get('docker.io')).toEqual(other);
  expect(withOwnRegistry('ghcr.io/acme', undefined, new Map()).size).toBe(0);
});

it('keeps the files of each clone apart', () => {
  const files = (password: string) => (folder: string) => ({ gitconfig: `${folder} ${password}` });
  const { data = {} } = sourceSecret('env-x', {}, [
    { included: undefined, files: files('own') },
    { included: 'backend', files: files('other') },
  ]);
  const texts = Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]);
  expect(texts).toEqual([
    ['gitconfig', '/credentials own'],
    ['backend.gitconfig', '/credentials other'],
  ]);
});
