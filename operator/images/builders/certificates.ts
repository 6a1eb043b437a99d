import 'reflect-metadata'; // @peculiar/x509 must be imported after this.
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
  type Extension,
} from '@peculiar/x509';
import { CLOCK_SKEW_MS, ECDSA, newKeys, newSerialNumber, pemOfKey, type KeyPair } from '../../../process/x509.ts';

/** Certificates for mutual TLS with one builder, from an authority that no other builder uses. */
export interface BuilderCertificates {
  /** PEM of the authority's certificate. Its key is not stored; renewed certificates come from a new authority. */
  ca: string;
  server: KeyPair;
  client: KeyPair;
}

const validityMs = 365 * 24 * 3600 * 1000;

/**
 * Creates an authority, and with it certificates for a server called `serverName` (a DNS name) and for a client, valid
 * for a year.
 */
export async function issueCertificates(serverName: string, now: Date): Promise<BuilderCertificates> {
  const validity = {
    notBefore: new Date(now.getTime() - CLOCK_SKEW_MS),
    notAfter: new Date(now.getTime() + validityMs),
  };
  const authorityKeys = await newKeys();
  const serialNumber = newSerialNumber();
  const authority = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    // A unique name, because clients confuse two authorities of the same name until they verify the signature.
    name: `CN=Coppice builder authority ${serialNumber}`,
    serialNumber,
    keys: authorityKeys,
    signingAlgorithm: ECDSA,
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
      signingAlgorithm: ECDSA,
      extensions: [new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true), ...extensions],
    });
    return { certificate: certificate.toString('pem'), key: await pemOfKey(keys.privateKey) };
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
