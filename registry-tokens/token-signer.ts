import { createPrivateKey, randomUUID, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { CLOCK_SKEW_MS, isRenewalDue, type KeyPair } from '../process/x509.ts';
import { issueSigner } from './authority.ts';
import type { Scope } from './scope.ts';

/** `auth.token.issuer` in the registry's configuration. */
export const TOKEN_ISSUER = 'coppice';

/**
 * Validity of a token in seconds. A registry checks it when a request starts, and clients request new ones themselves.
 */
const validity = 300;

export interface Token {
  token: string;
  /** In seconds. */
  expiresIn: number;
  issuedAt: Date;
}

interface Signer {
  certificate: string;
  header: string;
  key: KeyObject;
}

/**
 * Signs tokens for a registry (CNCF Distribution, token authentication implementation): JSON Web Tokens, ES256, with
 * this process's certificate in `x5c`. Processes share only the authority.
 */
export class TokenSigner {
  readonly #authority: KeyPair;
  readonly #service: string;
  #signer: Promise<Signer> | undefined;

  /** Creates a signer. @param service `auth.token.service` in the registry's configuration */
  constructor(authority: KeyPair, service: string) {
    this.#authority = authority;
    this.#service = service;
  }

  async sign(subject: string, access: readonly Scope[], now: Date): Promise<Token> {
    const { header, key } = await this.#current(now);
    const issuedAt = Math.floor(now.getTime() / 1000);
    const claims = {
      iss: TOKEN_ISSUER,
      sub: subject,
      aud: this.#service,
      exp: issuedAt + validity,
      nbf: issuedAt - CLOCK_SKEW_MS / 1000,
      iat: issuedAt,
      jti: randomUUID(),
      access,
    };
    const text = `${header}.${encoded(claims)}`;
    // JSON Web Algorithms concatenates both numbers of a signature (RFC 7518, section 3.4).
    const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
    return { token: `${text}.${signature.toString('base64url')}`, expiresIn: validity, issuedAt: now };
  }

  async #current(now: Date): Promise<Signer> {
    const former = await this.#signer;
    if (former && !isRenewalDue(former.certificate, now)) return former;
    const next = this.#renewed(now);
    this.#signer = next;
    // A failure is retried with the next token.
    next.catch(() => (this.#signer = undefined));
    return next;
  }

  async #renewed(now: Date): Promise<Signer> {
    const { certificate, key } = await issueSigner(this.#authority, now);
    const x5c = [new X509Certificate(certificate).raw.toString('base64')];
    return { certificate, header: encoded({ typ: 'JWT', alg: 'ES256', x5c }), key: createPrivateKey(key) };
  }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
