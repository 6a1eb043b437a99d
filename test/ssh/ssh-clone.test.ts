import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { useSshWorld } from './ssh-world.ts';

const ssh = useSshWorld();

describe('the clone container', () => {
  let library: string;
  beforeAll(() => void (library = ssh().bareRepository('library.git', { 'library.txt': 'from the library\n' })));

  /** Runs clone.sh with the files of the build's Secret. */
  async function clone(name: string, commit: string, trusted: boolean) {
    const { hosts, source } = ssh().world();
    const { access } = await hosts.of(ssh().repository(ssh().urlOf(name)));
    const folder = await mkdtemp(join(ssh().scratch, 'credentials-'));
    for (const [file, text] of Object.entries((await source.files(access))(folder))) {
      await writeFile(join(folder, file), text, { mode: 0o600 });
    }
    const workspace = join(folder, 'workspace');
    await mkdir(workspace);
    const settings = {
      allowedCidrs: ['127.0.0.0/8'],
      ports: [],
      sshPorts: [ssh().sshd.port],
      trusted,
      folders: ['.'],
      files: [],
    };
    const child = spawn('sh', [join(import.meta.dirname, '../../operator/images/clone/clone.sh')], {
      env: {
        PATH: process.env['PATH'],
        ORIGIN: access.origin,
        REF: 'refs/heads/main',
        COMMIT: commit,
        WORKSPACE: workspace,
        GIT_CONFIG_GLOBAL: join(folder, 'gitconfig'),
        CLONE_SETTINGS: JSON.stringify(settings),
      },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const code = await new Promise((resolve) => child.on('close', resolve));
    return { code, output, workspace };
  }

  const gitmodules = (url: string) => `[submodule "library"]\n\tpath = lib\n\turl = ${url}\n`;

  test.each(['../library.git', 'whole'])('clones the commit, and a submodule of the same server: %s', async (url) => {
    const name = `with-${url === 'whole' ? 'whole' : 'relative'}.git`;
    const files = { 'README.md': 'x\n', '.gitmodules': gitmodules(url === 'whole' ? ssh().urlOf('library.git') : url) };
    const commit = ssh().bareRepository(name, files, { lib: library });
    await ssh().letIn(ssh().repository(ssh().urlOf(name)));
    const { code, output, workspace } = await clone(name, commit, true);
    expect(output).toContain('cloned 3 files');
    expect(code).toBe(0);
    expect(readFileSync(join(workspace, 'lib/library.txt'), 'utf8')).toBe('from the library\n');
    expect(output).not.toContain('PRIVATE KEY');
  });

  test('reports that it fetches no large files', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 1\n`;
    const commit = ssh().bareRepository('large.git', { '.gitattributes': '*.bin filter=lfs\n', 'x.bin': pointer });
    await ssh().letIn(ssh().repository(ssh().urlOf('large.git')));
    const { code, output } = await clone('large.git', commit, true);
    expect(output).toContain('large files (Git LFS) cannot be fetched over SSH');
    expect(code).not.toBe(0);
  });

  test('reads no submodule with the key if others may have written the commit', async () => {
    const commit = ssh().bareRepository('fork.git', { '.gitmodules': gitmodules('../library.git') }, { lib: library });
    await ssh().letIn(ssh().repository(ssh().urlOf('fork.git')));
    const { code, output } = await clone('fork.git', commit, false);
    expect(output).toContain("the submodule lib requires the repository's SSH key");
    expect(code).not.toBe(0);
  });
});
