import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../support/run.ts';
import { VERSIONS } from '../versions.ts';

export type DownloadedTool = 'kind' | 'kubectl' | 'helm';

/** The part of fetch that is used here. */
export type Get = (url: string) => Promise<{ ok: boolean; status: number; arrayBuffer(): Promise<ArrayBuffer> }>;

interface Download {
  url: string;
  /** URL of a file whose first word is the SHA-256 digest. */
  checksum: string;
  /** Path of the program in a gzipped tar archive; absent if the file is the program. */
  member?: string;
}

function downloadOf(tool: DownloadedTool, platform: string): Download {
  const [os = '', architecture = ''] = platform.split('/');
  const from = {
    kind: `https://github.com/kubernetes-sigs/kind/releases/download/${VERSIONS.kind}/kind-${os}-${architecture}`,
    kubectl: `https://dl.k8s.io/release/${VERSIONS.kubernetes}/bin/${platform}/kubectl`,
    helm: `https://get.helm.sh/helm-${VERSIONS.helm}-${os}-${architecture}.tar.gz`,
  };
  const url = from[tool];
  if (tool === 'kubectl') return { url, checksum: `${url}.sha256` };
  return { url, checksum: `${url}.sha256sum`, ...(tool === 'helm' && { member: `${os}-${architecture}/helm` }) };
}

/** Returns the path of the pinned release of a tool in a folder. */
export function downloadPath(tool: DownloadedTool, folder: string): string {
  return join(folder, `${tool}-${tool === 'kubectl' ? VERSIONS.kubernetes : VERSIONS[tool]}`);
}

/**
 * Downloads the pinned release of a tool from its publisher into a folder, unless it exists, and returns its path.
 * Throws if the publisher does not respond, or the file's SHA-256 digest differs from that in the publisher's checksum
 * file.
 */
export async function downloadTool(
  tool: DownloadedTool,
  folder: string,
  get: Get,
  platform = `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
): Promise<string> {
  const path = downloadPath(tool, folder);
  if (existsSync(path)) return path;
  const { url, checksum, member } = downloadOf(tool, platform);
  const [file, sum] = await Promise.all([bytesOf(url, get), bytesOf(checksum, get)]);
  const expected = sum.toString('utf8').trim().split(/\s+/)[0] ?? '';
  const actual = createHash('sha256').update(file).digest('hex');
  if (actual !== expected)
    throw new Error(`${url} has the SHA-256 digest ${actual}, but ${checksum} lists ${expected}`);
  mkdirSync(folder, { recursive: true });
  const scratch = mkdtempSync(join(folder, 'new-'));
  try {
    const downloaded = join(scratch, 'file');
    writeFileSync(downloaded, file);
    if (member !== undefined) await run('tar', ['-x', '-z', '-f', downloaded, '-C', scratch, member]);
    const program = member === undefined ? downloaded : join(scratch, member);
    chmodSync(program, 0o755);
    renameSync(program, path);
  } finally {
    rmSync(scratch, { recursive: true });
  }
  return path;
}

async function bytesOf(url: string, get: Get): Promise<Buffer> {
  const answer = await get(url);
  if (!answer.ok) throw new Error(`${url} responds with status ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}
