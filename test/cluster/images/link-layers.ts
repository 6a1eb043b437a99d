import { existsSync, linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { copyFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ImageStore } from './image-store.ts';
import { REGISTRY_VOLUME } from '../registries/registry.ts';
import { tryRun } from '../../support/run.ts';

/** Names a folder in which Distribution keeps blobs and repositories (its storage driver "filesystem"). */
const storageFolder = 'docker/registry/v2';

let storage: Promise<string | undefined> | undefined;

/** Returns the local registry's storage on this machine; undefined where this process cannot write to Docker's volumes. */
function registryStorage(): Promise<string | undefined> {
  storage ??= tryRun('docker', ['volume', 'inspect', '--format', '{{.Mountpoint}}', REGISTRY_VOLUME]).then((folder) =>
    folder !== undefined && process.getuid?.() === 0 && existsSync(folder.trim())
      ? join(folder.trim(), storageFolder)
      : undefined,
  );
  return storage;
}

/**
 * Links a stored layer into a repository of the local registry, or copies it where the folder of Docker's volumes is another
 * mount. Both are faster than sending hundreds of megabytes to a process that hashes them again. Returns false if that is not
 * possible, as with Docker in a virtual machine.
 */
export async function linkLayer(store: ImageStore, digest: string, repository: string): Promise<boolean> {
  const folder = await registryStorage();
  if (folder === undefined) return false;
  const blob = join(folder, 'blobs/sha256', digest.slice(0, 2), digest, 'data');
  mkdirSync(dirname(blob), { recursive: true });
  await linkOrCopy(store.blob(digest), blob);
  const link = join(folder, 'repositories', repository, '_layers/sha256', digest, 'link');
  mkdirSync(dirname(link), { recursive: true });
  writeFileSync(link, `sha256:${digest}`);
  return true;
}

/** Links a file, or copies it from another mount; the copy appears with its whole content. Keeps an existing one. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    linkSync(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'EXDEV') throw error;
    await copyWhole(from, to);
  }
}

async function copyWhole(from: string, to: string): Promise<void> {
  if (existsSync(to)) return;
  const partial = `${to}.${randomBytes(4).toString('hex')}`;
  try {
    await copyFile(from, partial);
    await rename(partial, to);
  } finally {
    await rm(partial, { force: true });
  }
}
