// The process that runs browsers, in a separate container: a page that compromises a browser finds no secrets here.
import { lookup } from 'node:dns/promises';
import { close, listen } from '../http/server.ts';
import { Environments } from '../network/environments.ts';
import { createLogger } from '../../process/logger.ts';
import { stopOnSignal } from '../../process/stop-on-signal.ts';
import { parseBrowserConfig } from './config.ts';
import { localPageLoader } from './local-page-loader.ts';
import { createBrowserApp } from './server.ts';

const config = parseBrowserConfig(process.env);
const logger = createLogger(config.logLevel);
const loadPage = localPageLoader({
  environments: new Environments(config.environmentsUrl),
  executable: config.executable,
  maxBytes: config.maxBytes,
  addressOf: async (host) => (await lookup(host)).address,
});
const server = await listen(createBrowserApp(loadPage, logger), config.port, '127.0.0.1');
logger.info({ port: config.port }, 'listening');
stopOnSignal(() => close(server), logger);
