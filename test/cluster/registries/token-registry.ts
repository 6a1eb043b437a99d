import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { KeyPair } from '../../../process/x509.ts';
import { createAuthority } from '../../../registry-tokens/authority.ts';
import { TOKEN_ISSUER } from '../../../registry-tokens/token-signer.ts';
import { NODE_CONTAINER } from '../kind-cluster.ts';
import type { Kubectl } from '../kubectl.ts';
import { LOCAL_FOLDER } from '../../support/paths.ts';
import type { Detail } from '../../support/progress.ts';
import { recipeHash } from '../recipe.ts';
import { createContainer, recipeOf, withDiagnosis } from './registry-containers.ts';
import { IMAGES_ADDRESS, IMAGES_CONTAINER, IMAGES_HOST_ADDRESS } from './registry.ts';
import { run, tryRun } from '../../support/run.ts';
import { waitFor } from '../../support/wait-for.ts';

/** URL of the token server at the Ingress controller, by a name that the node, pods and containers resolve. */
export const TOKEN_URL = `http://${NODE_CONTAINER}/registry/token`;
export const AUTHORITY_SECRET_NAME = 'coppice-registry-authority';

const authorityFile = join(LOCAL_FOLDER, 'registry', 'authority.json');
const authoritySchema = z.object({ certificate: z.string(), key: z.string() });

/**
 * Returns the authority whose tokens the registry of built images accepts: the installed one, this checkout's, or a new
 * one. Without kubectl, none is installed yet.
 */
async function ensureAuthority(kubectl: Kubectl | undefined): Promise<KeyPair> {
  if (kubectl === undefined) return localAuthority();
  const at = ['--namespace', 'coppice-system', 'get', 'secret', AUTHORITY_SECRET_NAME, '--ignore-not-found'];
  const format = '{{with .data}}{{index . "tls.crt" | base64decode}}{{index . "tls.key" | base64decode}}{{end}}';
  const pem = await kubectl([...at, '--output', `go-template=${format}`]);
  const start = pem.indexOf('-----BEGIN PRIVATE KEY-----');
  if (start > 0) return keep({ certificate: pem.slice(0, start), key: pem.slice(start) });
  return localAuthority();
}

async function localAuthority(): Promise<KeyPair> {
  if (existsSync(authorityFile)) return readAuthority();
  return keep(await createAuthority(new Date()));
}

function keep(authority: KeyPair): KeyPair {
  mkdirSync(join(LOCAL_FOLDER, 'registry'), { recursive: true });
  writeFileSync(authorityFile, JSON.stringify(authority), { mode: 0o600 });
  return authority;
}

/** Reads the authority for the Secret with which Coppice signs tokens. */
export function readAuthority(): KeyPair {
  return authoritySchema.parse(JSON.parse(readFileSync(authorityFile, 'utf8')));
}

const configuration = {
  version: 0.1,
  log: { level: 'warn', accesslog: { disabled: true } },
  storage: { filesystem: { rootdirectory: '/var/lib/registry' }, delete: { enabled: true } },
  http: { addr: ':5000' },
  auth: {
    token: {
      realm: TOKEN_URL,
      service: IMAGES_ADDRESS,
      issuer: TOKEN_ISSUER,
      rootcertbundle: '/etc/distribution/authority.crt',
    },
  },
};

/**
 * Starts a second registry on the volume of the first one, for built images, which uses Coppice's token server. The
 * first one uses a password, and serves the images that are needed before Coppice runs. Without kubectl, Coppice is not
 * installed yet.
 */
export async function ensureTokenRegistry(kubectl: Kubectl | undefined, detail: Detail): Promise<void> {
  const { certificate } = await ensureAuthority(kubectl);
  const recipe = recipeHash([], [JSON.stringify(configuration), new X509Certificate(certificate).fingerprint256]);
  if ((await recipeOf(IMAGES_CONTAINER)) === recipe) {
    await run('docker', ['start', IMAGES_CONTAINER]);
  } else {
    await tryRun('docker', ['rm', '--force', IMAGES_CONTAINER]);
    // JSON is valid YAML.
    const files = { 'config.yml': JSON.stringify(configuration), 'authority.crt': certificate };
    await createContainer({ name: IMAGES_CONTAINER, hostAddress: IMAGES_HOST_ADDRESS, recipe, files }, detail);
  }
  try {
    await waitFor('the registry of built images', 60, async () => {
      const { status } = await fetch(`http://${IMAGES_HOST_ADDRESS}/v2/`, { signal: AbortSignal.timeout(3000) });
      return status === 401 ? true : undefined;
    });
  } catch (error) {
    throw await withDiagnosis(error, IMAGES_CONTAINER);
  }
}
