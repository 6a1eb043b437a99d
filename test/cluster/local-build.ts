import { ensureBaseImages, registriesAreReached } from './base-images.ts';
import { missingCommandLineTools } from './command-line-tools.ts';
import { isDebianRoot } from './debian-packages.ts';
import { ensureNodeSystem, hasNodeImage, NODE_PROGRAMS } from './node-image.ts';
import { buildPrograms } from './programs.ts';
import type { Progress } from './progress.ts';

/** What is built in the background; each promise settles when its part is complete. */
export interface LocalBuild {
  programs: Promise<void>;
  images: Promise<void>;
  /** False if nothing is built, because it exists or can be pulled. */
  isNeeded: boolean;
}

const nothing: LocalBuild = { programs: Promise.resolve(), images: Promise.resolve(), isNeeded: false };

/**
 * Starts to build in the background what cannot be pulled: Go compiles the node's programs first and the others while
 * the node starts, and images of Debian packages are built at the same time. The caller's steps wait for the parts that
 * they need. Starts nothing if images can be pulled, or there is a node image.
 */
export async function startLocalBuild(nodeImage: string, progress: Progress): Promise<LocalBuild> {
  if (!isDebianRoot() || (await hasNodeImage(nodeImage)) || (await registriesAreReached())) return nothing;
  const tools = await missingCommandLineTools();
  // One call, so that the links of the first programs run in parallel with the compilation of others.
  const first = buildPrograms([...NODE_PROGRAMS, ...tools], progress);
  const programs = first.then(() =>
    buildPrograms(['registry', 'rootlesskit', 'buildkitd', 'buildctl', 'traefik'], progress),
  );
  const images = ensureNodeSystem(progress).then(() => ensureBaseImages(['node', 'valkey'], progress));
  // Callers that await them report a failure; an earlier one must not end the process without a message.
  for (const part of [first, programs, images]) part.catch(() => undefined);
  return { programs, images, isNeeded: true };
}
