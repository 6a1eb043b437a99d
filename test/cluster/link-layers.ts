import { existsSync, linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ImageStore } from './image-store.ts';
import { REGISTRY_VOLUME } from './registry.ts';
import { tryRun } from './run.ts';

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
 * Links a stored layer into a repository of the local registry, which takes no time, unlike sending hundreds of megabytes
 * to a process that hashes and writes them again. Returns false if that is not possible, as with Docker in a virtual machine or
 * on another file system.
 */
export async function linkLayer(store: ImageStore, digest: string, repository: string): Promise<boolean> {
  const folder = await registryStorage();
  if (folder === undefined) return false;
  const blob = join(folder, 'blobs/sha256', digest.slice(0, 2), digest, 'data');
  try {
    mkdirSync(dirname(blob), { recursive: true });
    linkSync(store.blob(digest), blob);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EXDEV') return false;
    if (code !== 'EEXIST') throw error;
  }
  const link = join(folder, 'repositories', repository, '_layers/sha256', digest, 'link');
  mkdirSync(dirname(link), { recursive: true });
  writeFileSync(link, `sha256:${digest}`);
  return true;
}
