import { mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programsFolder, repositoryRoot } from '../../cluster/paths.ts';
import { run } from '../../cluster/run.ts';
import { codeBlocks, codeOf } from '../../docs/code-blocks.ts';

/** A reader who pastes a page's blocks into a shell, in a folder next to the chart. */
export class Reader {
  readonly #pages: readonly string[];
  readonly #kubeconfig: string;
  readonly folder = mkdtempSync(join(tmpdir(), 'reader-'));

  constructor(pages: readonly string[], kubeconfig: string) {
    this.#pages = pages;
    this.#kubeconfig = kubeconfig;
    symlinkSync(join(repositoryRoot, 'charts'), join(this.folder, 'charts'));
  }

  /** Runs the block of this name; @throws CommandError if one of its commands fails. @returns its output */
  paste(block: string, variables: Record<string, string> = {}): Promise<string> {
    return run('sh', ['-eu', '-c', this.#codeOf(block)], {
      cwd: this.folder,
      env: { PATH: `${programsFolder}:${process.env['PATH'] ?? ''}`, KUBECONFIG: this.#kubeconfig, ...variables },
      deadline: 240,
    });
  }

  #codeOf(block: string): string {
    const page = this.#pages.find((one) =>
      codeBlocks(readFileSync(join(repositoryRoot, one), 'utf8')).some(({ name }) => name === block),
    );
    if (page === undefined) throw new Error(`no page has a code block of the name ${block}`);
    return codeOf(page, block);
  }

  leave(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
