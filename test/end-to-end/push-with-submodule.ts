import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { send } from '../client/local-http.ts';
import { run } from '../support/run.ts';

export interface PushWithSubmoduleOptions {
  url: string;
  credentials: { username: string; password: string };
  files: Record<string, string>;
  /** A commit of another repository, at a path. */
  submodule: { path: string; url: string; commit: string };
  /** Contents by path; a .gitattributes among the files must set `filter=lfs`. */
  largeFiles: Record<string, string>;
}

/** Pushes a repository with a submodule and large files to its branch main, which needs more than files. */
export async function pushWithSubmodule(push: PushWithSubmoduleOptions): Promise<void> {
  const { url, credentials, submodule, largeFiles } = push;
  const basic = `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
  const pointers: Record<string, string> = {};
  for (const [path, content] of Object.entries(largeFiles)) {
    const oid = createHash('sha256').update(content).digest('hex');
    const size = Buffer.byteLength(content);
    const answer = await send(`${url}/info/lfs/objects/${oid}`, {
      method: 'PUT',
      body: content,
      headers: { authorization: basic },
    });
    if (answer.status !== 200) throw new Error(`the large file was not taken: ${answer.status} ${answer.text}`);
    pointers[path] = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;
  }
  const modules = `[submodule "lib"]\n\tpath = ${submodule.path}\n\turl = ${submodule.url}\n`;
  const folder = await mkdtemp(join(tmpdir(), 'coppice-push-'));
  const env = {
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'Sample'],
        [`GIT_${who}_EMAIL`, 'sample@example.com'],
      ]),
    ),
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: ${basic}`,
  };
  try {
    for (const [path, text] of Object.entries({ ...push.files, ...pointers, '.gitmodules': modules })) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const git = (...args: string[]) => run('git', ['-C', folder, ...args], { env });
    await git('init', '--quiet', '--initial-branch=main');
    await git('add', '--all');
    await git('update-index', '--add', '--cacheinfo', `160000,${submodule.commit},${submodule.path}`);
    await git('commit', '--quiet', '--message', 'With a submodule and large files');
    await git('push', '--quiet', '--force', url, 'HEAD:refs/heads/main');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
