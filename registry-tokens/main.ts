// Wires the token server, which reads Secrets from files, and connects to neither the Kubernetes API nor Redis.
import { Registry } from 'prom-client';
import { HealthServer } from '../process/health-server.ts';
import { createLogger } from '../process/logger.ts';
import { processMetrics } from '../process/process-metrics.ts';
import { textIn, SecretFolder, type SecretFiles } from '../process/secret-folder.ts';
import { stopOnSignal } from '../process/stop-on-signal.ts';
import { checkAuthority } from './authority.ts';
import { readConfig } from './config.ts';
import { readKeys } from './credential-keys.ts';
import { tokenMetrics } from './metrics.ts';
import { RequestBudget } from './request-budget.ts';
import { TokenServer } from './server.ts';
import { TokenEndpoint } from './token-endpoint.ts';
import { TokenSigner } from './token-signer.ts';

/** Passwords can be guessed as fast as this process answers: a limit would let anybody lock the administrator out. */
const minPassword = 20;

const config = readConfig(process.env);
const logger = createLogger(config.LOG_LEVEL);
const now = () => new Date();
const registry = new Registry();
processMetrics(registry, process.env);
const keys = new SecretFolder(
  config.KEYS_FOLDER,
  (files) => readKeys(Object.fromEntries([...files].map(([name, content]) => [name, content.toString('base64')]))),
  logger,
);
const signer = new SecretFolder(
  config.AUTHORITY_FOLDER,
  (files) => {
    const authority = { certificate: textIn(files, 'tls.crt'), key: textIn(files, 'tls.key') };
    checkAuthority(authority, now());
    return new TokenSigner(authority, config.SERVICE);
  },
  logger,
);
const administrator =
  config.ADMINISTRATOR_FOLDER === undefined
    ? undefined
    : new SecretFolder(config.ADMINISTRATOR_FOLDER, accountOf, logger);
const folders = [keys, signer, ...(administrator ? [administrator] : [])];

/** Returns the account; undefined for an empty password. */
function accountOf(files: SecretFiles) {
  const account = { username: textIn(files, 'username'), password: textIn(files, 'password') };
  if (account.password !== '' && account.password.length < minPassword) {
    const advice = `use at least ${minPassword} random characters`;
    logger.warn(`the administrator's password in registry.credentialsSecret can be guessed: ${advice}`);
  }
  return account.password === '' ? undefined : account;
}

const endpoint = new TokenEndpoint({
  path: config.TOKEN_URL.pathname,
  service: config.SERVICE,
  sharedPrefixes: config.SHARED_PREFIXES,
  keys: keys.current,
  signer: signer.current,
  administrator: () => administrator?.current(),
  budget: new RequestBudget(),
  count: tokenMetrics(registry),
  logger,
  now,
});
const server = new TokenServer(endpoint, logger);
const health = new HealthServer({
  port: config.HEALTH_PORT,
  readyz: {
    keys: () => {
      if (keys.current().length === 0)
        throw new Error('there is no key to verify credentials with. The operator creates it: check that it runs');
    },
  },
  registry,
  metricsToken: config.METRICS_TOKEN,
});
await health.start();
const port = await server.start(config.PORT);
const watching = folders.map((folder) => folder.watch());
logger.info({ port, path: config.TOKEN_URL.pathname, service: config.SERVICE }, 'listening');
stopOnSignal(async () => {
  for (const stop of watching) stop();
  await Promise.all([server.stop(), health.stop()]);
}, logger);
