import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

export const repositoryRoot = resolve(import.meta.dirname, '../..');

/** Files of the running cluster; ignored by git, and deleted by `npm run down`. */
export const localFolder = join(repositoryRoot, '.local');
export const kubeconfigFile = join(localFolder, 'kubeconfig');
export const logFile = join(localFolder, 'up.log');

/** Files that are kept for the next cluster; deleted only by `npm run down -- --caches`. */
export const cacheFolder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'coppice');
export const programsFolder = join(cacheFolder, 'bin');
