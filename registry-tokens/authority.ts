import 'reflect-metadata'; // @peculiar/x509 must be imported after this.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  X509Certificate as PeculiarCertificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { webcrypto } from 'node:crypto';
import { CLOCK_SKEW_MS, ECDSA, newKeys, newSerialNumber, pemOfKey, type KeyPair } from '../process/x509.ts';

const dayMs = 24 * 3600 * 1000;
/** Long, because the registry reads the certificate only when it starts, so only an administrator can replace it. */
const authorityValidityMs = 3650 * dayMs;
const signerValidityMs = 30 * dayMs;

/** Creates the authority that a registry trusts (`auth.token.rootcertbundle` of Distribution): P-256, valid for ten years. */
export async function createAuthority(now: Date): Promise<KeyPair> {
  const keys = await newKeys();
  const serialNumber = newSerialNumber();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    notBefore: new Date(now.getTime() - CLOCK_SKEW_MS),
    notAfter: new Date(now.getTime() + authorityValidityMs),
    name: `CN=Coppice registry tokens ${serialNumber}`,
    serialNumber,
    keys,
    signingAlgorithm: ECDSA,
    extensions: [new BasicConstraintsExtension(true, 0, true), new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true)],
  });
  return { certificate: certificate.toString('pem'), key: await pemOfKey(keys.privateKey) };
}

/**
 * Issues the certificate and key with which one process signs tokens, valid for 30 days. The authority's key must use
 * P-256.
 */
export async function issueSigner({ certificate, key }: KeyPair, now: Date): Promise<KeyPair> {
  const authority = new PeculiarCertificate(certificate);
  const signingKey = await webcrypto.subtle.importKey('pkcs8', PemConverter.decodeFirst(key), ECDSA, false, ['sign']);
  const keys = await newKeys();
  const signer = await X509CertificateGenerator.create({
    notBefore: new Date(now.getTime() - CLOCK_SKEW_MS),
    notAfter: new Date(now.getTime() + signerValidityMs),
    subject: 'CN=Coppice registry token signer',
    issuer: authority.subject,
    serialNumber: newSerialNumber(),
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: ECDSA,
    extensions: [new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true)],
  });
  return { certificate: signer.toString('pem'), key: await pemOfKey(keys.privateKey) };
}

/** Checks an authority, which an administrator may have created. Throws an Error that describes the fault. */
export function checkAuthority({ certificate, key }: KeyPair, now: Date): void {
  const parsed = new X509Certificate(certificate);
  const privateKey = createPrivateKey(key);
  if (!parsed.ca) throw new Error('the certificate is not an authority: it lacks CA:TRUE');
  if (!parsed.checkPrivateKey(privateKey)) throw new Error('the key does not belong to the certificate');
  if (privateKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Error('the key does not use the curve P-256');
  if (parsed.validToDate <= now) throw new Error('the certificate has expired');
}
