import 'reflect-metadata'; // @peculiar/x509 asks for it to be there first
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
import { clockSkewMs, ecdsa, newKeys, newSerialNumber, pemOfKey, type KeyPair } from '../../../process/x509.ts';

/** Mutual TLS for one builder: both sides are of the same authority, which is nobody else's. */
export interface BuilderCertificates {
  /** PEM: the authority's certificate. Its key is not kept: what it would sign later, a new authority does. */
  ca: string;
  server: KeyPair;
  client: KeyPair;
}

const validityMs = 365 * 24 * 3600 * 1000;

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
    signingAlgorithm: ecdsa,
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
      signingAlgorithm: ecdsa,
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
