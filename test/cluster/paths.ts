import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

export const repositoryRoot = resolve(import.meta.dirname, '../..');

/** What belongs to the cluster that is up now; ignored by git, and gone after `npm run down`. */
export const localFolder = join(repositoryRoot, '.local');
export const kubeconfigFile = join(localFolder, 'kubeconfig');
export const logFile = join(localFolder, 'up.log');

/** What is worth keeping for the next cluster; only `npm run down -- --caches` empties it. */
export const cacheFolder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'coppice');
export const programsFolder = join(cacheFolder, 'bin');
