import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

export const REPOSITORY_ROOT = resolve(import.meta.dirname, '../..');

/** Files of the running cluster; ignored by git, and deleted by `npm run down`. */
export const LOCAL_FOLDER = join(REPOSITORY_ROOT, '.local');
export const KUBECONFIG_FILE = join(LOCAL_FOLDER, 'kubeconfig');
export const LOG_FILE = join(LOCAL_FOLDER, 'up.log');

/** Files that are kept for the next cluster; deleted only by `npm run down -- --caches`. */
export const CACHE_FOLDER = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'coppice');
export const PROGRAMS_FOLDER = join(CACHE_FOLDER, 'bin');
