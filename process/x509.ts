import 'reflect-metadata'; // @peculiar/x509 must be imported after this.
import { PemConverter } from '@peculiar/x509';
import { randomBytes, webcrypto, X509Certificate } from 'node:crypto';

/** A certificate and its private key (PKCS #8), as PEM. */
export interface KeyPair {
  certificate: string;
  key: string;
}

export const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Tolerance for nodes whose clocks are behind, in milliseconds. */
export const CLOCK_SKEW_MS = 5 * 60 * 1000;

export function newKeys() {
  return webcrypto.subtle.generateKey(ECDSA, true, ['sign', 'verify']);
}

/** Returns a positive number, as RFC 5280 requires, in hexadecimal digits. */
export function newSerialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

/** Returns a private key as PEM (PKCS #8). */
export async function pemOfKey(key: Parameters<typeof webcrypto.subtle.exportKey>[1]): Promise<string> {
  return PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

/**
 * Returns whether two thirds of a certificate's validity have passed, or it is not valid yet because this machine's
 * clock was ahead.
 */
export function isRenewalDue(certificate: string, now: Date): boolean {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  const from = validFromDate.getTime();
  const time = now.getTime();
  return time < from || time >= from + ((validToDate.getTime() - from) * 2) / 3;
}
