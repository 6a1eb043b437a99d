import { createHash, randomInt } from 'node:crypto';
import { ipKeyGenerator } from 'express-rate-limit';
import { z } from 'zod';
import { isSameHash, newToken, tokenHash, type RandomBytes } from '../../shared/tokens.ts';
import { NotFound, orUnavailable, TooManyRequests } from '../../shared/errors.ts';
import type { User } from '../../user-records/user-record.ts';

/** The Redis commands that sign-ins of the command line need. */
export interface GrantRedis {
  set(key: string, value: string, options: { expiration: { type: 'PX'; value: number } }): Promise<unknown>;
  get(key: string): Promise<string | null>;
  getDel(key: string): Promise<string | null>;
  incrBy(key: string, increment: number): Promise<number>;
  pExpire(key: string, milliseconds: number): Promise<unknown>;
}

/** Time to approve a device, in milliseconds. */
export const DEVICE_MS = 10 * 60 * 1000;
/** Time in which a program can fetch an approved grant, in milliseconds. */
const pickUpMs = 60 * 1000;
/**
 * Devices that may ask for approval in one window of DEVICE_MS, over all client addresses. The limit bounds the memory
 * that requests without a login take in Redis: an entry has some 300 bytes.
 */
const maxDevices = 5000;
/** Part of what is left that the devices of one address can take: many addresses leave some free for another one. */
const shareOfAddress = 0.1;
/** RFC 8628, 6.1: a code has only consonants, so that it forms no words, and its letters are not confused with others. */
const codeLetters = 'BCDFGHJKLMNPQRSTVWXZ';
const codeLength = 8;

/** The account that approved, a hash that detects a changed password, and the name of its login (Sessions.nameOf). */
const accountSchema = z.object({
  userName: z.string(),
  accountId: z.string(),
  password: z.string(),
  session: z.string(),
});
export type GrantedAccount = z.infer<typeof accountSchema>;

/** The user who approves, and the name of the login with which they do. */
export interface Approval {
  user: User;
  session: string;
}

const deviceSchema = z.object({
  state: z.enum(['pending', 'approved', 'denied']),
  address: z.string(),
  startedAt: z.int(),
  account: accountSchema.optional(),
});
type Device = z.infer<typeof deviceSchema>;
const codeSchema = accountSchema.extend({ challenge: z.string() });

const unknownCode = 'no device waits with this code. Start `coppice login` again, and enter the code that it shows';

export interface GrantOptions {
  redis: GrantRedis;
  now: () => number;
  randomBytes: RandomBytes;
}

/**
 * Sign-ins of programs that a user approves in the panel: a device with a code that the user types (RFC 8628), and a
 * program on the user's own computer with a redirect and PKCE (RFC 7636, RFC 8252). Secrets are stored as hashes; each
 * grant is used once.
 */
export class Grants {
  readonly #options: GrantOptions;

  constructor(options: GrantOptions) {
    this.#options = options;
  }

  /** Starts the sign-in of a device. `address`: its IP address, shown to the approving user. @throws TooManyRequests */
  async startDevice(address: string): Promise<{ deviceCode: string; userCode: string }> {
    const { now, randomBytes } = this.#options;
    await this.#countDevice(address);
    const deviceCode = newToken(randomBytes);
    const userCode = Array.from({ length: codeLength }, () => codeLetters.charAt(randomInt(codeLetters.length))).join(
      '',
    );
    const device: Device = { state: 'pending', address, startedAt: now() };
    await this.#store(deviceKey(tokenHash(deviceCode)), device, DEVICE_MS);
    await this.#store(userCodeKey(userCode), tokenHash(deviceCode), DEVICE_MS);
    return { deviceCode, userCode };
  }

  /** Counts a device for all and for its address; a refused one only for its address. @throws TooManyRequests */
  async #countDevice(address: string): Promise<void> {
    const { redis, now } = this.#options;
    const window = `coppice:device-count:${Math.floor(now() / DEVICE_MS)}`;
    const count = async (key: string) => {
      const counted = await reach(redis.incrBy(key, 1));
      if (counted === 1) await reach(redis.pExpire(key, DEVICE_MS));
      return counted;
    };
    // By network, as the rate limits: one machine can have all IPv6 addresses of a network.
    const ofAddress = await count(`${window}:${ipKeyGenerator(address)}`);
    const free = maxDevices - Number((await reach(redis.get(window))) ?? 0);
    if (ofAddress > Math.ceil(free * shareOfAddress)) {
      throw new TooManyRequests('too many devices wait for approval. Try again in 10 minutes');
    }
    await count(window);
  }

  /** Returns the pending sign-in of a device, for the user to approve. @throws NotFound */
  async pendingDevice(userCode: string): Promise<Pick<Device, 'address' | 'startedAt'>> {
    const { device } = await this.#pending(userCode, (key) => this.#options.redis.get(key));
    return device;
  }

  /** Approves or denies a device, once. @throws NotFound */
  async decideDevice(userCode: string, approval: Approval | undefined): Promise<void> {
    const { hash, device } = await this.#pending(userCode, (key) => this.#options.redis.getDel(key));
    const decided: Device = approval
      ? { ...device, state: 'approved', account: grantedBy(approval) }
      : { ...device, state: 'denied' };
    await this.#store(deviceKey(hash), decided, pickUpMs);
  }

  /** Returns the decision about a device; an account is returned once. @throws NotFound after the deadline */
  async pollDevice(deviceCode: string): Promise<'pending' | 'denied' | GrantedAccount> {
    const { redis } = this.#options;
    const key = deviceKey(tokenHash(deviceCode));
    const device = parsed(deviceSchema, await reach(redis.get(key)));
    if (device?.state === 'pending') return 'pending';
    const taken = parsed(deviceSchema, await reach(redis.getDel(key)));
    if (taken?.state === 'denied') return 'denied';
    if (!taken?.account) throw new NotFound('the code has expired or was used. Start the sign-in again');
    return taken.account;
  }

  /** Returns a code for the program that knows the verifier of the challenge (RFC 7636, S256). */
  async issueCode(approval: Approval, challenge: string): Promise<string> {
    const code = newToken(this.#options.randomBytes);
    await this.#store(authorizationKey(code), { ...grantedBy(approval), challenge }, pickUpMs);
    return code;
  }

  /** Returns the account of a code, and deletes the code even if the verifier is wrong. @throws NotFound */
  async redeemCode(code: string, verifier: string): Promise<GrantedAccount> {
    const { redis } = this.#options;
    const grant = parsed(codeSchema, await reach(redis.getDel(authorizationKey(code))));
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    if (!grant || !isSameHash(grant.challenge, challenge)) {
      throw new NotFound('the code has expired, was used, or belongs to another program. Start the sign-in again');
    }
    return grant;
  }

  async #pending(userCode: string, take: (key: string) => Promise<string | null>) {
    const { redis } = this.#options;
    const hash = parsed(z.string(), await reach(take(userCodeKey(userCode))));
    const device = hash === undefined ? undefined : parsed(deviceSchema, await reach(redis.get(deviceKey(hash))));
    if (hash === undefined || device?.state !== 'pending') throw new NotFound(unknownCode);
    return { hash, device };
  }

  #store(key: string, value: unknown, ms: number): Promise<unknown> {
    return reach(this.#options.redis.set(key, JSON.stringify(value), { expiration: { type: 'PX', value: ms } }));
  }
}

/** Returns the account with a hash of its password, which shows whether either has changed since the approval. */
export function accountOf({ name, accountId, passwordHash }: User): Omit<GrantedAccount, 'session'> {
  return { userName: name, accountId, password: tokenHash(passwordHash ?? '') };
}

function grantedBy({ user, session }: Approval): GrantedAccount {
  return { ...accountOf(user), session };
}

/** Normalizes a typed code: letters only, in upper case. */
export function typedCode(text: string): string {
  return text.toUpperCase().replace(/[^A-Z]/g, '');
}

function parsed<T>(schema: z.ZodType<T>, value: string | null): T | undefined {
  return value === null ? undefined : schema.parse(JSON.parse(value));
}

function deviceKey(hash: string): string {
  return `coppice:device:${hash}`;
}

function userCodeKey(userCode: string): string {
  return `coppice:device-code:${tokenHash(userCode)}`;
}

function authorizationKey(code: string): string {
  return `coppice:authorization:${tokenHash(code)}`;
}

function reach<T>(command: Promise<T>): Promise<T> {
  return orUnavailable(command, 'sign-ins cannot be completed, because Redis does not respond. Try again later');
}
