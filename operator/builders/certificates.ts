import 'reflect-metadata'; // @peculiar/x509 asks for it to be there first
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
  type Extension,
} from '@peculiar/x509';
import { randomBytes, webcrypto, X509Certificate } from 'node:crypto';

/** PEM: a certificate and its private key (PKCS #8). */
export interface KeyPair {
  certificate: string;
  key: string;
}

/** Mutual TLS for one builder: both sides are of the same authority, which is nobody else's. */
export interface BuilderCertificates {
  /** PEM: the authority's certificate. Its key is not kept: what it would sign later, a new authority does. */
  ca: string;
  server: KeyPair;
  client: KeyPair;
}

const dayMs = 24 * 3600 * 1000;
const validityMs = 365 * dayMs;
/** Nodes' clocks may be behind. */
const clockSkewMs = 5 * 60 * 1000;

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** An authority of its own, and of it a server's certificate for `serverName` (a DNS name) and a client's, for a year. */
export async function issueCertificates(serverName: string, now: Date): Promise<BuilderCertificates> {
  const validity = {
    notBefore: new Date(now.getTime() - clockSkewMs),
    notAfter: new Date(now.getTime() + validityMs),
  };
  const authorityKeys = await newKeys();
  const serialNumber = newSerialNumber();
  const authority = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    // Two authorities of one name would be taken for each other, until the signature shows it.
    name: `CN=Coppice builder authority ${serialNumber}`,
    serialNumber,
    keys: authorityKeys,
    signingAlgorithm: algorithm,
    extensions: [new BasicConstraintsExtension(true, 0, true), new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true)],
  });
  const issue = async (name: string, extensions: Extension[]): Promise<KeyPair> => {
    const keys = await newKeys();
    const certificate = await X509CertificateGenerator.create({
      ...validity,
      subject: `CN=${name}`,
      issuer: authority.subject,
      serialNumber: newSerialNumber(),
      publicKey: keys.publicKey,
      signingKey: authorityKeys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true), ...extensions],
    });
    const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
    return { certificate: certificate.toString('pem'), key: PemConverter.encode(key, 'PRIVATE KEY') };
  };
  return {
    ca: authority.toString('pem'),
    server: await issue('buildkitd', [
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([{ type: 'dns', value: serverName }]),
    ]),
    client: await issue('buildctl', [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth])]),
  };
}

/**
 * Whether two thirds of a certificate's time are over, or it has not begun, as of one that was made while this clock was
 * ahead: with the next start there are new ones.
 */
export function isRenewalDue(certificate: string, now: Date): boolean {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  const from = validFromDate.getTime();
  const time = now.getTime();
  return time < from || time >= from + ((validToDate.getTime() - from) * 2) / 3;
}

function newKeys() {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

/** Positive, as RFC 5280 wants it, in hexadecimal digits. */
function newSerialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}
