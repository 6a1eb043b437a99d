import { ensureBaseImages, registriesAreReached } from './base-images.ts';
import { missingCommandLineTools } from './command-line-tools.ts';
import { isDebianRoot } from './debian-packages.ts';
import { ensureNodeSystem, hasNodeImage, nodePrograms } from './node-image.ts';
import { buildPrograms } from './programs.ts';
import type { Progress } from './progress.ts';

/** What is built in the background; each settles when all of its part is there. */
export interface LocalBuild {
  programs: Promise<void>;
  images: Promise<void>;
  /** False where nothing is built, because it is there or can be pulled. */
  isNeeded: boolean;
}

const nothing: LocalBuild = { programs: Promise.resolve(), images: Promise.resolve(), isNeeded: false };

/**
 * Starts to build what cannot be pulled, while the caller goes on: Go compiles what the node needs first and the rest while
 * the node starts, and the images that are Debian packages alone are assembled beside it. The caller's own steps wait
 * for the parts that they need. Where images can be pulled, or a node image is there, nothing is started.
 */
export async function startLocalBuild(nodeImage: string, progress: Progress): Promise<LocalBuild> {
  if (!isDebianRoot() || (await hasNodeImage(nodeImage)) || (await registriesAreReached())) return nothing;
  const tools = await missingCommandLineTools();
  // All in one call, so that the links of the first share the processors with what is still compiled.
  const first = buildPrograms([...nodePrograms, ...tools], progress);
  const programs = first.then(() =>
    buildPrograms(['registry', 'rootlesskit', 'buildkitd', 'buildctl', 'traefik'], progress),
  );
  const images = ensureNodeSystem(progress).then(() => ensureBaseImages(['node', 'redis'], progress));
  // Whoever awaits them reports a failure; one that comes earlier must not end the process without its message.
  for (const part of [first, programs, images]) part.catch(() => undefined);
  return { programs, images, isNeeded: true };
}
