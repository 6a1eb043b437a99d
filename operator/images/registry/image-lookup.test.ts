import { expect, test } from '@jest/globals';
import { AddressNotAllowedError } from '../../source/network/send.ts';
import { absenceOf, RegistryStatusError, type Absence } from './image-lookup.ts';

const status = (code: number) => new RegistryStatusError(code, 'app:1');
const silent = new Error('the registry docker.io did not respond', { cause: new Error('connect ECONNREFUSED') });
const refused = new Error('the registry x did not respond', { cause: new AddressNotAllowedError('private') });

test.each<[string, unknown[], Absence]>([
  ['404', [status(404)], 'absent'],
  ['401', [status(401)], 'denied'],
  ['403', [status(403)], 'denied'],
  ['429', [status(429)], 'failing'],
  ['500', [status(500)], 'failing'],
  ['no response', [silent], 'failing'],
  ['a private address', [refused], 'private'],
  ['a mirror without the image, and no response of the registry', [status(404), silent], 'absent'],
  ['a mirror without the image, and a limit of the registry', [status(404), status(429)], 'failing'],
  ['a mirror that fails, and no response of the registry', [status(500), silent], 'failing'],
])('reads %s', (_what, failures, absence) => {
  expect(absenceOf(failures)).toEqual({ absence });
});
