import { mkdtempSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programsFolder, repositoryRoot } from '../../cluster/paths.ts';
import { run } from '../../cluster/run.ts';
import { codeOf } from '../../docs/code-blocks.ts';

/** Somebody who pastes what a page says into a shell, in a folder of their own beside the chart. */
export class Reader {
  readonly #page: string;
  readonly #kubeconfig: string;
  readonly folder = mkdtempSync(join(tmpdir(), 'reader-'));

  constructor(page: string, kubeconfig: string) {
    this.#page = page;
    this.#kubeconfig = kubeconfig;
    symlinkSync(join(repositoryRoot, 'charts'), join(this.folder, 'charts'));
  }

  /** Runs the block of this name; @throws CommandError when one of its commands fails. @returns what it printed. */
  paste(block: string, variables: Record<string, string> = {}): Promise<string> {
    return run('sh', ['-eu', '-c', codeOf(this.#page, block)], {
      cwd: this.folder,
      env: { PATH: `${programsFolder}:${process.env['PATH'] ?? ''}`, KUBECONFIG: this.#kubeconfig, ...variables },
      deadline: 240,
    });
  }

  leave(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
