import { setTimeout as delay } from 'node:timers/promises';
import type { DeviceDecision, DeviceSignIn } from '../api/types.ts';
import { Client } from '../api/client.ts';
import { CliError } from '../errors.ts';
import { note, type Io } from '../io.ts';

/** Signs in with a code that the user types in the panel, on any computer (RFC 8628). @throws CliError */
export async function deviceLogin(io: Io, url: string): Promise<string> {
  const client = new Client({ url });
  const started = await client.send<DeviceSignIn>('POST', '/api/user/device');
  const { deviceCode, userCode, verificationUri, expiresIn, interval } = started;
  note(io, `open ${verificationUri} in a browser, and enter the code ${userCode}`);
  const end = io.now() + expiresIn * 1000;
  while (io.now() < end) {
    await delay(interval * 1000);
    const body = { deviceCode };
    const { status, token } = await client.send<DeviceDecision>('POST', '/api/user/device/token', { body });
    if (status === 'denied') throw new CliError('the sign-in was denied');
    if (token !== undefined) return token;
  }
  throw new CliError('nobody approved the sign-in in time. Start it again');
}
