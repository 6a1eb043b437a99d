import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { quoted } from '../problems.ts';
import type { FileBundle, Mount } from '../schema.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { type BundledFile, isTooLarge, isTooMany } from './bundles.ts';
import { readFile } from './contents.ts';
import type { FileScope } from './file-scope.ts';
import type { MountForm } from './mount-form.ts';
import { readRepositoryPath } from '../repository-path.ts';

type BindForm = MountForm & { source: string };

/**
 * Returns the mount for a bind mount. Its source is a file or folder of the repository, whose contents are mounted
 * read-only, because there is no other folder. A bind mount of files that the service's own build copies only shows a
 * developer's changes immediately; it is ignored, because the image contains the files.
 */
export async function mountFromRepository(
  form: BindForm,
  node: YamlNode,
  context: string | undefined,
  scope: FileScope,
): Promise<Mount | undefined> {
  const { problems, files } = scope;
  if (/^[/~]/.test(form.source)) return reportAbsolute(form.source, node, scope);
  const path = readRepositoryPath(form.source, node.folder, node, problems);
  if (path === undefined) return undefined;
  const kind = files.kindOf(path);
  if (kind === 'folder' && context !== undefined && (isInside(path, context) || isInside(context, path))) {
    problems.warn(node, `ignored: the built image already contains ${quoted(form.source)}`);
    return undefined;
  }
  if (kind === undefined || (kind === 'folder' && holdsNothing(path, scope))) return ownVolume(path, form, node, scope);
  if (form.writable) problems.warn(node, 'files of the repository are mounted read-only');
  if (scope.bundles.isFull) return undefined;
  if (kind === 'folder') {
    // A folder is read and reported once, however often it is mounted.
    if (!scope.folderBundles.has(path)) scope.folderBundles.set(path, await bundleFolder(path, form, node, scope));
    const bundle = scope.folderBundles.get(path);
    return bundle && { type: 'files', bundle: bundle.name, target: form.target };
  }
  return mountFile(path, form, node, context, scope);
}

/** Mounts of the machine's time zone are common, and are ignored instead of refused. */
const timeZone = /^\/etc\/(localtime|timezone)$/;
const socket = /^(\/var)?\/run\/(docker|podman\/podman|containerd\/containerd)\.sock$/;

function reportAbsolute(source: string, node: YamlNode, { problems }: FileScope): undefined {
  if (timeZone.test(source)) {
    problems.warn(node, 'ignored: files of the machine cannot be mounted; set the variable TZ for a time zone');
    return undefined;
  }
  if (socket.test(source)) {
    return problems.error(
      node,
      'refused: there is no Docker socket, and containers cannot start other containers: remove the mount',
    );
  }
  return problems.error(
    node,
    `refused: ${quoted(source)} is a path of the machine that Compose runs on; name a file of the repository (./…) or a volume`,
  );
}

function isInside(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}

/** Returns whether a folder has no files to mount. Git stores no empty folders, so they contain placeholder files. */
function holdsNothing(folder: string, { files, folderBundles, folderVolumes }: FileScope): boolean {
  if (folderBundles.has(folder)) return false;
  if (folderVolumes.has(folder)) return true;
  return files.filesBelow(folder).every((path) => /^\.(git)?(keep|ignore)$/.test(posix.basename(path)));
}

/**
 * Returns the volume for a folder that is not in the repository: Compose creates an empty one, which is kept. A missing
 * path that looks like a file is reported.
 */
function ownVolume(path: string, form: BindForm, node: YamlNode, scope: FileScope): Mount | undefined {
  const { problems } = scope;
  const isLikelyFile = [form.source, form.target].some((name) =>
    /(^\.env|[^/]\.[a-z0-9]{1,5}$)/i.test(posix.basename(name)),
  );
  const isLikelyFolder = form.source.endsWith('/') || form.target.endsWith('.d');
  if (!form.create || (isLikelyFile && !isLikelyFolder && scope.files.kindOf(path) === undefined)) {
    return problems.error(node, `there is no ${quoted(path)} in the repository: add it`);
  }
  const name = folderVolumeName(path);
  scope.folderVolumes.set(path, { name });
  problems.warn(
    node,
    `${quoted(form.source)} is empty in the repository: it becomes a volume, which is empty at first and is kept`,
  );
  return { type: 'volume', volume: name, target: form.target, readOnly: form.readOnly };
}

function folderVolumeName(path: string): string {
  return `folder-${createHash('sha256').update(path).digest('hex').slice(0, 12)}`;
}

async function mountFile(
  path: string,
  form: BindForm,
  node: YamlNode,
  context: string | undefined,
  scope: FileScope,
): Promise<Mount | undefined> {
  const content = await readFile(path, node, scope);
  if (content === undefined) return undefined;
  if (context !== undefined && isInside(path, context) && isTooLarge(content)) {
    scope.problems.warn(node, `ignored: too large to be mounted; the image is built from ${quoted(form.source)}`);
    return undefined;
  }
  const file = { path: posix.basename(form.target), content, mode: modeOf(path, scope) };
  const bundle = scope.bundles.add([file], false, node);
  const key = bundle?.files[0]?.key;
  return bundle && { type: 'files', bundle: bundle.name, target: form.target, ...(key !== undefined && { key }) };
}

async function bundleFolder(
  path: string,
  form: BindForm,
  node: YamlNode,
  scope: FileScope,
): Promise<FileBundle | undefined> {
  const paths = scope.files.filesBelow(path);
  if (isTooMany(paths.length)) {
    return scope.problems.error(
      node,
      `${quoted(form.source)} has ${paths.length} files, too many to be mounted: copy them into an image`,
    );
  }
  await scope.files.prefetch?.(paths);
  const found: BundledFile[] = [];
  for (const each of paths) {
    if (scope.files.kindOf(each) !== 'file') {
      scope.problems.warn(node, `${quoted(each)} is left out: links and submodules are not followed`);
      continue;
    }
    const content = await readFile(each, node, scope);
    if (content === undefined) return undefined;
    found.push({ path: posix.relative(path, each), content, mode: modeOf(each, scope) });
  }
  return scope.bundles.add(found, false, node);
}

function modeOf(path: string, { files }: FileScope): number {
  return files.isExecutable(path) ? 0o755 : 0o644;
}
